// Which rows of the microbenchmarks make which numbers of a GPU spec: kernels/microbench/spec_rows.csv, and in
// not_remade.csv the measured numbers that no row makes, with the reason.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace tilesim::app {

/// How the rows that fit become one number.
enum class Reduction {
  kValue,      ///< one row: its value
  kMedian,     ///< of the values
  kMean,       ///< of the values
  kLeast,      ///< of the values
  kMost,       ///< of the values
  kHalfRange,  ///< half of the largest less the smallest value
  kSlope,      ///< of the line through the values over the first number in the param
  kIntercept,  ///< of that line, at zero
};

struct SpecRule {
  std::string key;        ///< "section.name" of the spec
  std::string row_name;   ///< whole
  std::string row_param;  ///< may hold *, ? and sets as [12]
  Reduction reduction = Reduction::kValue;
  double scale = 1.0;  ///< from the unit of the rows to that of the spec
};

struct CalibrationTable {
  std::vector<SpecRule> rules;                    ///< in order of their keys
  std::map<std::string, std::string> not_remade;  ///< reasons by key
};

/// Reads spec_rows.csv and not_remade.csv of a folder. Errors (kUsage) with file and line: another heading, fields that
/// miss, an unknown key or reduction with the nearest, a key that stands twice or out of order. (kAbsent): no such
/// files.
[[nodiscard]] Result<CalibrationTable> read_calibration_table(const std::filesystem::path& folder);

/// The same from the two texts; `folder` is for messages.
[[nodiscard]] Result<CalibrationTable> parse_calibration_table(std::string_view spec_rows, std::string_view not_remade,
                                                               const std::filesystem::path& folder);

}  // namespace tilesim::app
