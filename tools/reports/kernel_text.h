// The text report of a simulated kernel: one screen.
#pragma once

#include <string>

#include "tools/cli/colour.h"
#include "tools/lib/kernel_result.h"

namespace tilesim::reports {

/// Verdict, speed, occupancy, warp states, access sites, traffic, barriers, what was simulated, notes.
[[nodiscard]] std::string kernel_text(const app::KernelResult& result, const cli::Palette& palette);

/// The verdict in one sentence; also part of the JSON.
[[nodiscard]] std::string kernel_verdict(const app::KernelResult& result);

/// What was simulated and what was extrapolated, in one sentence.
[[nodiscard]] std::string kernel_coverage(const app::KernelResult& result);

/// Share of a waiting state in all waiting (selected and not_selected left out), 0 to 1, by state number.
[[nodiscard]] std::array<double, sim::kWarpStateCount> waiting_shares(const app::KernelResult& result);

}  // namespace tilesim::reports
