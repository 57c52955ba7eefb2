#include "tools/lib/kernel_result.h"

#include <fmt/format.h>

namespace tilesim::app {

std::array<double, sim::kWarpStateCount> waiting_shares(const KernelResult& r) {
  std::array<double, sim::kWarpStateCount> shares{};
  double whole = 0.0;
  for (std::size_t s = 0; s < shares.size(); ++s) {
    shares[s] = sim::is_waiting(static_cast<sim::WarpState>(s)) ? r.state_per_issue[s] : 0.0;
    whole += shares[s];
  }
  for (double& share : shares) {
    share = whole > 0.0 ? share / whole : 0.0;
  }
  return shares;
}

double flops_per_second(const KernelResult& r) { return r.seconds > 0.0 ? r.flops / r.seconds : 0.0; }

double percent_of_peak(const KernelResult& r) {
  return r.peak_flops_per_second > 0.0 ? 100.0 * flops_per_second(r) / r.peak_flops_per_second : 0.0;
}

std::string pipe_name(model::DataType math) {
  return math == model::DataType::kF32 ? "FP32" : fmt::format("{} tensor", model::to_string(math));
}

double metric_value(const KernelResult& r, const std::string& name) {
  const auto found = r.metrics.find(name);
  return found == r.metrics.end() ? 0.0 : found->second.value;
}

}  // namespace tilesim::app
