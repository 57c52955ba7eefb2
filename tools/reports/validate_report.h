// What `tilesim validate` has found, and its forms: text, JSON, CSV, a scatter plot. Of locked runs only totals are
// shown.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/colour.h"
#include "tools/lib/validation.h"
#include "tools/lib/validation_summary.h"

namespace tilesim::reports {

struct ValidationReport {
  model::GpuSpec gpu;
  std::string recorded;                  ///< where the recordings come from, in words
  std::string recorded_gpu;              ///< the card they were made on
  std::string metric;                    ///< the time that rows, ranks and gates are about
  bool brief = false;                    ///< shortest runs
  std::vector<app::ValidationRow> rows;  ///< of app::shown_rows()
  std::vector<app::PartSummary> summaries;
  bool gated = false;
  std::vector<std::string> failed_gates;
};

/// Totals by kind of code and part, ranks, counters; development rows: the worst few, or `all` of them.
[[nodiscard]] std::string validate_text(const ValidationReport& report, bool all, const cli::Palette& palette);

[[nodiscard]] std::string validate_json(const ValidationReport& report);

/// One line per development run, kind of code and metric that is on both sides.
[[nodiscard]] std::string validate_csv(const ValidationReport& report);

/// A page that needs nothing but itself: predicted over measured, both logarithmic, development runs only.
[[nodiscard]] std::string validate_html(const ValidationReport& report);

}  // namespace tilesim::reports
