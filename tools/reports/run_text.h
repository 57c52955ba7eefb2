// The text report of `tilesim run`.
#pragma once

#include <string>

#include "tools/cli/colour.h"
#include "tools/lib/run.h"

namespace tilesim::reports {

/// One screen of 80 x 40: verdict, problem, code, time, occupancy, traffic, waits, where the time goes, what to try,
/// how far to trust it.
[[nodiscard]] std::string run_text(const app::RunResult& result, bool problem_assumed, const cli::Palette& palette);

/// What follows with --all: the whole sheet (items 1 to 15), every part of the gap (16), every row of the
/// troubleshooting table that applies (17), warp states and access sites.
[[nodiscard]] std::string run_sheet_text(const app::RunResult& result, const cli::Palette& palette);

/// The verdict in one sentence; also part of the JSON.
[[nodiscard]] std::string run_verdict(const app::RunResult& result);

}  // namespace tilesim::reports
