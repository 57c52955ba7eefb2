// registers.h for the mma family: how much ptxas 13.0 spends on addresses, loop control and fragments of kernels/mma
// (traces/calibration/ptxas/mma.csv).
#pragma once

#include "model/tile_config.h"
#include "traces/generator/registers.h"

namespace tilesim::traces::generator {

inline constexpr int kMmaAddressRegisters = 20;

[[nodiscard]] LoopOverhead mma_loop_overhead(const model::TileConfig& config);
[[nodiscard]] int mma_prologue_integers(const model::TileConfig& config);
/// All that the accumulators and addresses leave; at least a row block of A beside a K-step's B.
[[nodiscard]] int mma_fragment_budget(const model::TileConfig& config);

}  // namespace tilesim::traces::generator
