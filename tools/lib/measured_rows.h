// What the microbenchmarks print: rows  name,param,value,unit,spread  with the median of the repeats and
// smallest..largest of them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu_spec.h"
#include "model/result.h"

namespace tilesim::app {

struct MeasuredRow {
  std::string name;
  std::string param;
  std::string unit;
  double value = 0.0;
  std::optional<model::Spread> spread;  ///< holds `value`
  std::size_t line = 0;                 ///< of the file, from 1 on
};

/// Its spread; the value alone if it has none.
[[nodiscard]] model::Spread spread_of(const MeasuredRow& row);

/// The rows of one run, each name and param once.
struct MeasuredRun {
  std::string file;
  std::vector<MeasuredRow> rows;
  std::vector<std::string> contradictions;  ///< repeats of a row whose spreads do not all overlap, one sentence each
};

/// Reads a file, which may be compressed; rows that repeat a name and a param become one, the median and all of the
/// spread; that they contradict each other is told. A spread without ".." is a note and not read. Errors (kUsage) with
/// file and line: another heading, too few or too many fields, an empty name, a value that is no number, a spread that
/// is not around it, one row with two units.
[[nodiscard]] Result<MeasuredRun> read_measured_rows(const std::filesystem::path& path);

/// The same from text; `file` is for messages.
[[nodiscard]] Result<MeasuredRun> parse_measured_rows(std::string_view text, const std::string& file);

/// The middle one; the mean of the middle two where there are two. `values` is not empty.
[[nodiscard]] double median_of(std::vector<double> values);

}  // namespace tilesim::app
