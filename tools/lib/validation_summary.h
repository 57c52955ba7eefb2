// What the rows of a validation add up to. Development rows keep their names; of locked ones only totals leave here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/lib/statistics.h"
#include "tools/lib/validation.h"

namespace tilesim::app {

/// A time that is compared, and what it is.
struct TimeMetric {
  const char* name;   ///< as the counters have it
  const char* label;  ///< in words
};
/// sm__cycles_elapsed.max (the default), sm__cycles_active.avg, and the event median with flushed caches.
[[nodiscard]] const std::vector<TimeMetric>& time_metrics();

/// Fewest configurations of one shape, type and family that are ranked.
inline constexpr std::size_t kFewestRanked = 12;

/// Errors of one time over a group of rows.
struct GroupScore {
  std::string group;   ///< "all", or family and type: "simt f32"
  std::string metric;  ///< of time_metrics()
  ErrorStatistics errors;
};

/// Order of the configurations of one shape, type and family; in how many parts K is cut is part of a configuration.
struct RankScore {
  std::string group;  ///< "simt f32 4096x4096x4096"
  std::size_t count = 0;
  std::optional<double> tau;  ///< none if all are measured within 2 %
  Regret regret;
};

/// All of one part and kind of code.
struct PartSummary {
  traces::Part part = traces::Part::kDevelopment;
  CodeKind code = CodeKind::kCompiled;
  std::size_t runs = 0;
  std::size_t failed = 0;  ///< runs that could not be simulated
  std::vector<GroupScore> scores;
  std::vector<RankScore> ranks;  ///< by the chosen metric
  std::vector<CounterScore> counters;
  std::optional<WaitingScore> waiting;
};

/// "4096x4096x4096", with " split-K 4" where K is split.
[[nodiscard]] std::string shape_text(const ValidationRow& row);

/// The row as a sample of a time, under its name and shape; none if there is no positive number on both sides.
[[nodiscard]] std::optional<Sample> sample_of(const ValidationRow& row, const std::string& metric);

/// What reports may show: development rows as they are, and of the locked ones those that could not be simulated, with
/// part, kind of code and message alone. Words of the message that hold the name are left out.
[[nodiscard]] std::vector<ValidationRow> shown_rows(const std::vector<ValidationRow>& rows);

/// One summary per kind of code and part that `rows` has, in the order estimated, compiled; development, locked. Ranks
/// are by `metric`. Names stay empty in locked ones.
[[nodiscard]] std::vector<PartSummary> summarise(const std::vector<ValidationRow>& rows, const std::string& metric);

/// Largest values that pass; tau is the smallest.
struct Gates {
  std::optional<double> max_mape;  ///< fractions
  std::optional<double> max_worst;
  std::optional<double> max_regret;
  std::optional<double> min_tau;
  [[nodiscard]] bool any() const { return max_mape || max_worst || max_regret || min_tau; }
};

/// What does not pass, one sentence each: MAPE and worst error of `metric` over the whole part, regret and tau of each
/// ranked group. Judged are the locked parts, or development where no locked run was simulated. What cannot be judged
/// (no group of kFewestRanked, runs that failed) does not pass; a group without a tau, all of which is measured within
/// 2 %, has no order to miss and passes min_tau.
[[nodiscard]] std::vector<std::string> failed_gates(const std::vector<PartSummary>& summaries, const Gates& gates,
                                                    const std::string& metric);

}  // namespace tilesim::app
