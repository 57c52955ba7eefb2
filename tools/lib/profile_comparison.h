// A prediction beside a profile that a user exported from Nsight Compute, joined by the names of the metrics.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/lib/counters.h"
#include "tools/lib/kernel_result.h"
#include "traces/profile/ncu_profile.h"

namespace tilesim::app {

struct ComparedMetric {
  std::string name;
  std::string unit;  ///< of the profile, base units
  double predicted = 0.0;
  double measured = 0.0;
  ErrorScale scale = ErrorScale::kRelative;
  std::optional<double> error;  ///< none for a relative error of a measured zero
};

struct ProfileComparison {
  std::vector<ComparedMetric> metrics;     ///< times first, then by name
  std::vector<std::string> not_predicted;  ///< of the profile, by name
  std::vector<std::string> warnings;       ///< launches that differ, units that are not known
  std::string largest_wait_predicted;      ///< empty if the profile has no waiting states
  std::string largest_wait_measured;
};

[[nodiscard]] ProfileComparison compare_with_profile(const KernelResult& predicted,
                                                     const traces::ProfiledLaunch& measured);

}  // namespace tilesim::app
