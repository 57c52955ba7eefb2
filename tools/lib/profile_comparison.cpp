#include "tools/lib/profile_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "model/occupancy.h"

namespace tilesim::app {

namespace {

constexpr std::array<std::string_view, 4> kTimes{"gpu__time_duration.sum", "sm__cycles_elapsed.max",
                                                 "gpc__cycles_elapsed.max", "sm__cycles_active.avg"};

/// Times in their order, all else behind them.
std::size_t place_of(const std::string& name) {
  return static_cast<std::size_t>(std::find(kTimes.begin(), kTimes.end(), name) - kTimes.begin());
}

bool same(const isa::Dim3& a, const isa::Dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

std::string text_of(const isa::Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

void warn_of_launch(const char* what, const isa::Dim3& predicted, const std::optional<isa::Dim3>& measured,
                    std::vector<std::string>& warnings) {
  if (measured && !same(predicted, *measured)) {
    warnings.push_back(fmt::format("the prediction is for a {} of {}, the profile for one of {}", what,
                                   text_of(predicted), text_of(*measured)));
  }
}

/// None for a relative error of a measured zero. A count is right if it prints as the profile does (32,768 byte
/// as 32.77 Kbyte).
std::optional<double> error_of(double predicted, const traces::ProfileMetric& metric, ErrorScale scale) {
  if (scale == ErrorScale::kRelative && metric.value == 0.0) {
    return std::nullopt;
  }
  const bool as_printed = scale == ErrorScale::kCount && std::abs(predicted - metric.value) <= metric.half_digit;
  return as_printed ? 0.0 : error_on(scale, predicted, metric.value);
}

}  // namespace

ProfileComparison compare_with_profile(const KernelResult& result, const traces::ProfiledLaunch& launch) {
  ProfileComparison comparison;
  const Counters predicted = predicted_counters(result);
  Counters measured;
  for (const auto& [name, metric] : launch.metrics) {
    const auto found = predicted.find(name);
    if (!metric.unit_known && found != predicted.end()) {
      comparison.warnings.push_back(fmt::format("{} is in '{}', which is not a unit known here", name, metric.unit));
    }
    const bool unlimited =
        found != predicted.end() && found->second >= static_cast<double>(model::Occupancy::kUnlimited);
    if (found == predicted.end() || !metric.unit_known || unlimited) {
      comparison.not_predicted.push_back(name);
      continue;
    }
    measured[name] = metric.value;
    const ErrorScale scale = scale_of(name);
    comparison.metrics.push_back(
        {name, metric.unit, found->second, metric.value, scale, error_of(found->second, metric, scale)});
  }
  std::stable_sort(comparison.metrics.begin(), comparison.metrics.end(),
                   [](const auto& a, const auto& b) { return place_of(a.name) < place_of(b.name); });
  comparison.largest_wait_measured = largest_wait(waiting_shares(measured));
  comparison.largest_wait_predicted =
      comparison.largest_wait_measured.empty() ? std::string() : largest_wait(waiting_shares(predicted));
  warn_of_launch("grid", result.launch.grid, launch.grid, comparison.warnings);
  warn_of_launch("block", result.launch.block, launch.block, comparison.warnings);
  return comparison;
}

}  // namespace tilesim::app
