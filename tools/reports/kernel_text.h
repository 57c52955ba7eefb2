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

/// "X takes T on the G: R, P of the FP32 (or tensor) peak", without a full stop.
[[nodiscard]] std::string kernel_headline(const app::KernelResult& result);

/// "short_scoreboard (61.9 % of all waiting), ...": the `count` largest waiting states.
[[nodiscard]] std::string largest_waits(const app::KernelResult& result, std::size_t count);

/// The sections on warp states and on access sites, each with its heading.
[[nodiscard]] std::string kernel_states(const app::KernelResult& result, const cli::Palette& palette);
[[nodiscard]] std::string kernel_sites(const app::KernelResult& result, const cli::Palette& palette);

/// What was simulated and what was extrapolated, in one sentence.
[[nodiscard]] std::string kernel_coverage(const app::KernelResult& result);

}  // namespace tilesim::reports
