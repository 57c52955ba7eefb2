#include "tools/lib/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace tilesim::app {

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

std::optional<double> pearson_of_logarithms(std::span<const Sample> samples) {
  constexpr std::size_t kFewest = 3;  // two points always lie on a line
  if (samples.size() < kFewest) {
    return std::nullopt;
  }
  const auto count = static_cast<double>(samples.size());
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (const Sample& s : samples) {
    mean_x += std::log(s.measured) / count;
    mean_y += std::log(s.predicted) / count;
  }
  double xx = 0.0;
  double yy = 0.0;
  double xy = 0.0;
  for (const Sample& s : samples) {
    const double x = std::log(s.measured) - mean_x;
    const double y = std::log(s.predicted) - mean_y;
    xx += x * x;
    yy += y * y;
    xy += x * y;
  }
  constexpr double kNoSpread = 1e-24;  // of squared logarithms: below what rounding leaves of equal numbers
  return xx > kNoSpread && yy > kNoSpread ? std::optional(xy / std::sqrt(xx * yy)) : std::nullopt;
}

}  // namespace

double relative_error(double predicted, double measured) { return predicted / measured - 1.0; }

std::optional<ErrorStatistics> error_statistics(std::span<const Sample> samples) {
  if (samples.empty()) {
    return std::nullopt;
  }
  ErrorStatistics result;
  result.count = samples.size();
  std::vector<double> sizes;
  for (const Sample& sample : samples) {
    const double error = relative_error(sample.predicted, sample.measured);
    sizes.push_back(std::abs(error));
    result.bias += error / static_cast<double>(samples.size());
    result.mape += std::abs(error) / static_cast<double>(samples.size());
    if (result.worst_name.empty() || std::abs(error) > std::abs(result.worst)) {
      result.worst = error;
      result.worst_name = sample.name;
    }
  }
  result.median = median(std::move(sizes));
  result.pearson = pearson_of_logarithms(samples);
  return result;
}

std::optional<double> kendall_tau(std::span<const Sample> samples, double tie) {
  std::int64_t pairs = 0;
  std::int64_t balance = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t j = i + 1; j < samples.size(); ++j) {
      const Sample& a = samples[i];
      const Sample& b = samples[j];
      if (std::max(a.measured, b.measured) <= (1.0 + tie) * std::min(a.measured, b.measured)) {
        continue;
      }
      ++pairs;
      if (a.predicted != b.predicted) {
        balance += (a.predicted < b.predicted) == (a.measured < b.measured) ? 1 : -1;
      }
    }
  }
  return pairs > 0 ? std::optional(static_cast<double>(balance) / static_cast<double>(pairs)) : std::nullopt;
}

std::optional<Regret> top1_regret(std::span<const Sample> samples) {
  if (samples.empty()) {
    return std::nullopt;
  }
  const Sample* pick = &samples.front();
  const Sample* best = pick;
  for (const Sample& sample : samples) {
    if (sample.predicted < pick->predicted ||
        (sample.predicted == pick->predicted && sample.measured > pick->measured)) {
      pick = &sample;
    }
    if (sample.measured < best->measured) {
      best = &sample;
    }
  }
  return Regret{pick->measured / best->measured - 1.0, pick->name, best->name};
}

}  // namespace tilesim::app
