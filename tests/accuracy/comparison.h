// Errors of simulated cycles over a set of kernels.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "tests/support/catch.h"
#include "tools/lib/simulate_kernel.h"

namespace tilesim::test {

struct Errors {
  double sum = 0.0, worst = 0.0;
  int count = 0;
  double add(double value, double truth) {
    const double error = value / truth - 1.0;
    sum += std::abs(error);
    worst = std::max(worst, std::abs(error));
    ++count;
    return 100.0 * error;
  }
  [[nodiscard]] double mape() const { return sum / count; }
  void print(const char* title) const {
    fmt::print("{}: {} configurations, MAPE {:.1f} %, worst {:.1f} %\n", title, count, 100.0 * mape(), 100.0 * worst);
  }
};

/// sm__cycles_active.avg of a short simulation, at the clock that the spec has for the kernel unless another is given.
inline double brief_cycles(const model::GpuSpec& gpu, const app::KernelSource& source, std::int64_t registers,
                           std::int64_t shared_bytes, std::optional<double> clock_mhz = std::nullopt) {
  app::KernelLaunch launch;
  launch.registers = static_cast<int>(registers);
  launch.shared_bytes = shared_bytes;
  const auto result = app::simulate_kernel(gpu, source, launch, clock_mhz, app::Effort{false, true, 2});
  if (!result) {
    FAIL(result.error().message);
  }
  return result->cycles_active_avg;
}

}  // namespace tilesim::test
