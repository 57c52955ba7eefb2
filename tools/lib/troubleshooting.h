// Symptom, likely cause, the metric that confirms it, what to try: a table over named numbers of a result.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilesim::app {

struct RunResult;

/// Numbers by name: the kernel's metrics, the sheet's entries ("tilesim__KEY"), the parts of the gap in percent of the
/// time ("tilesim__gap_KEY.pct"), shares of warp states, and what the table needs besides.
using NamedMetrics = std::map<std::string, double, std::less<>>;
[[nodiscard]] NamedMetrics named_metrics(const RunResult& result);

enum class Relation { kAtLeast, kBelow };

struct Condition {
  std::string_view metric;
  Relation relation = Relation::kAtLeast;
  double threshold = 0.0;
  std::string_view unit;  ///< of metric and threshold
};

/// A row applies if all its conditions hold; the first one's metric is what confirms it. Texts may hold numbers of the
/// result as {METRIC}.
struct TroubleRow {
  std::string_view key;  ///< stable
  std::string_view symptom;
  std::vector<Condition> when;
  std::string_view cause;
  std::string_view confirm;  ///< the metric by the name under which Nsight Compute or this report shows it
  std::string_view remedy;
  std::string_view weight;  ///< the metric by which rows are ordered: how much of the time this concerns, in percent
  /// In tensor-core kernels instead of `remedy`; empty: the same; kDoesNotApply: the row does not apply.
  std::string_view tensor_remedy = {};
  /// In kernels without shared memory (--copy direct), by the same rules.
  std::string_view direct_remedy = {};
};
inline constexpr std::string_view kDoesNotApply = "-";
[[nodiscard]] std::span<const TroubleRow> troubleshooting_table();

/// A row that applies, with this result's numbers.
struct Trouble {
  std::string key;
  std::string symptom;
  std::string metric;  ///< name of the number that confirms it
  double value = 0.0;
  double threshold = 0.0;
  std::string unit;
  std::string cause;
  std::string confirm;
  std::string remedy;
  double weight = 0.0;  ///< percent
};
/// The heaviest first.
[[nodiscard]] std::vector<Trouble> find_trouble(const NamedMetrics& metrics);

/// `text` with every {METRIC} replaced by its number, in four digits or as a whole number, and every {METRIC|THING} by
/// the number of such things ("1 CTA", "2 CTAs"); an unknown name stays.
[[nodiscard]] std::string fill_in(std::string_view text, const NamedMetrics& metrics);

}  // namespace tilesim::app
