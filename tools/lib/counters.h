// Counters by Nsight Compute's names: what a simulation predicts of them, and how far off it is.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/lib/kernel_result.h"

namespace tilesim::app {

using Counters = std::map<std::string, double>;

/// The metrics of a result, and those that follow from them under other names: sums and rates that Nsight Compute's
/// sections print instead (dram__bytes.sum, smsp__issue_active.avg.per_cycle_active, ...).
[[nodiscard]] Counters predicted_counters(const KernelResult& result);

/// Relative error of what is called exact: instruction counts have to be.
inline constexpr double kExact = 0.001;

/// What errors of a counter are counted in.
enum class ErrorScale {
  kRelative,  ///< fraction of the measured number
  kPoints,    ///< the difference, for what is a percentage itself
  kCount,     ///< the difference, for small whole numbers
};

/// The scale on which a metric is compared: percentages in points, launch facts by their difference.
[[nodiscard]] ErrorScale scale_of(const std::string& metric);

/// One pair on its scale.
[[nodiscard]] double error_on(ErrorScale scale, double predicted, double measured);

struct CounterPair {
  Counters predicted;
  Counters measured;
};

/// Errors of one counter over the runs that have it.
struct CounterScore {
  std::string counter;  ///< Nsight Compute's name, or a sum of two
  ErrorScale scale = ErrorScale::kRelative;
  std::size_t count = 0;
  std::size_t exact = 0;  ///< runs with an error of at most kExact, or none at all for small whole numbers
  double mean = 0.0;      ///< of the absolute errors
  double bias = 0.0;      ///< of the errors
  double worst = 0.0;     ///< the largest in size, with its sign
  std::string condition;  ///< which runs count, in words; empty = all
};

/// The fixed list of counters that a validation reports, those that no run has left out. Bank conflicts count where
/// they are at least 1 % of the instructions, DRAM bytes (read and written) over 50 MB.
[[nodiscard]] std::vector<CounterScore> counter_scores(std::span<const CounterPair> pairs);

/// How well the reasons for waiting are told.
struct WaitingScore {
  std::size_t count = 0;
  std::size_t largest_right = 0;  ///< runs whose largest waiting state is the measured one
  double worst_points = 0.0;      ///< largest distance of a state's share of all waiting, in points
  double mean_points = 0.0;       ///< mean over the runs of that largest distance
};
[[nodiscard]] std::optional<WaitingScore> waiting_score(std::span<const CounterPair> pairs);

/// Share of each waiting state in all waiting (selected and not_selected left out), 0 to 1, by Nsight Compute's names
/// of the states; empty without any.
[[nodiscard]] Counters waiting_shares(const Counters& counters);

/// The state with the largest of such shares; of equal ones the first by name, empty without any.
[[nodiscard]] std::string largest_wait(const Counters& shares);

}  // namespace tilesim::app
