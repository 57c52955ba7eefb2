// The text report of a replay: one screen.
#pragma once

#include <string>

#include "tools/cli/colour.h"
#include "tools/lib/replay.h"

namespace tilesim::reports {

/// Verdict, speed, occupancy, warp states, access sites, traffic, barriers, what was simulated, notes.
[[nodiscard]] std::string replay_text(const app::ReplayResult& result, const cli::Palette& palette);

/// The verdict in one sentence; also part of the JSON.
[[nodiscard]] std::string replay_verdict(const app::ReplayResult& result);

/// What was simulated and what was extrapolated, in one sentence.
[[nodiscard]] std::string replay_coverage(const app::ReplayResult& result);

/// Share of a waiting state in all waiting (selected and not_selected left out), 0 to 1, by state number.
[[nodiscard]] std::array<double, sim::kWarpStateCount> waiting_shares(const app::ReplayResult& result);

}  // namespace tilesim::reports
