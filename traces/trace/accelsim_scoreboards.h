// Scoreboards for code that came without them.
#pragma once

#include <vector>

#include "traces/generator/block.h"

namespace tilesim::traces::accelsim {

/// The scoreboard on which groups of asynchronous copies are counted, as nvcc does it.
inline constexpr std::uint8_t kGroupScoreboard = 0;

/// Sets scoreboards and wait masks of a kernel's operations, which stand in address order with their stall counts and
/// branch targets; values are registers. By what ptxas does in the calibration kernels:
///   - a shared load whose first user also needs a later one gets none, since shared memory answers in order;
///   - nor do the sources of a memory operation that are overwritten after those of a later one have been read;
///   - results share a scoreboard where nobody waits for one of them while another is long in coming: the sum of such
///     waits along the code, every loop passed twice, is made small, one scoreboard after the other;
///   - an instruction waits for what it reads or overwrites, and for nothing else.
void set_scoreboards(std::vector<generator::Operation>& operations);

}  // namespace tilesim::traces::accelsim
