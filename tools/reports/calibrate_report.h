// What `tilesim calibrate` has found, and its forms: text, JSON, CSV.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/colour.h"
#include "tools/lib/calibration.h"

namespace tilesim::reports {

/// Rows measured before that were measured again.
struct BesideRows {
  std::string file;
  std::size_t rows = 0;      ///< of the file
  app::Agreement agreement;  ///< of the file and all runs together
};

struct CalibrationReport {
  model::GpuSpec shipped;
  app::Calibration calibration;
  std::optional<app::Agreement> agreement;  ///< of several runs
  std::vector<BesideRows> beside;
  std::vector<std::string> runs;   ///< files of rows, as given
  std::vector<std::string> notes;  ///< what could not be measured, and how to get it
};

/// The measured numbers beside the shipped ones, what was kept and why, how far runs agree; with `all` every kept
/// number and every row in which runs differ.
[[nodiscard]] std::string calibrate_text(const CalibrationReport& report, bool all, const cli::Palette& palette);

[[nodiscard]] std::string calibrate_json(const CalibrationReport& report);

/// One line per number of the spec.
[[nodiscard]] std::string calibrate_csv(const CalibrationReport& report);

}  // namespace tilesim::reports
