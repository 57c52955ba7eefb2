// Registers of the generated code, and the parts of it that do not follow from the algorithm but from how ptxas works:
// how much it spends on addresses and loop control.
#pragma once

#include <vector>

#include "model/tile_config.h"
#include "traces/generator/block.h"

namespace tilesim::traces::generator {

/// Operations of a trip of the main loop that are neither products nor accesses, synchronisation or the branch.
struct LoopOverhead {
  int integers = 0;
  int uniform = 0;
  int wide = 0;  ///< IMAD.WIDE: 64-bit addresses
};
/// `in_bounds`: the tiles cover the matrices. Only direct loads cost more where they do not: the copies of a slice are
/// few.
[[nodiscard]] LoopOverhead loop_overhead(const model::TileConfig& config, bool in_bounds);

/// Integer operations of one step of K behind the main loop (direct: K is no multiple of BK), the branch back included.
inline constexpr int kRemainderIntegers = 17;

/// Integer operations in front of the main loop, for indices and addresses.
[[nodiscard]] int prologue_integers(const model::TileConfig& config);

/// Registers for fragments and staged slices that the scheduler may have live.
[[nodiscard]] int fragment_budget(const model::TileConfig& config);

/// Registers that hold addresses, indices and counters all through the main loop.
[[nodiscard]] int address_registers(const model::TileConfig& config);

/// Gives the operations their registers (reads of products with banks and reuse flags) and returns how many a thread
/// needs. SIMT accumulators lie so that each is in the other bank than the element of B that it is multiplied with.
[[nodiscard]] int assign_registers(const model::TileConfig& config, const std::vector<Value>& values,
                                   std::vector<Operation>& operations);

}  // namespace tilesim::traces::generator
