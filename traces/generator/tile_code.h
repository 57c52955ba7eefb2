// The code of a tile kernel: what ptxas is expected to make of kernels/simt or kernels/mma for a configuration.
#pragma once

#include <cstdint>
#include <vector>

#include "model/tile_config.h"
#include "sim/isa/program.h"
#include "traces/generator/tile_accesses.h"

namespace tilesim::traces::generator {

/// A memory operation of the program: which access, and of which K-slice.
struct MemoryReference {
  int access = -1;         ///< -1: none
  std::int64_t slice = 0;  ///< relative to the trip in the loop, else to the first slice; in the tail to the last one
};

struct TileCode {
  isa::Program program;
  std::vector<MemoryReference> references;  ///< by instruction
  std::uint32_t loop_begin = 0;             ///< first instruction of the main loop
  std::uint32_t loop_end = 0;               ///< one past its backward branch
  std::int64_t peeled = 0;                  ///< K-slices that are computed after the loop
  int registers = 0;
  std::int64_t spilled_bytes = 0;
};

/// Writes the code; fills `accesses` with what it touches.
[[nodiscard]] TileCode make_tile_code(const model::TileConfig& config, TileAccesses& accesses);

}  // namespace tilesim::traces::generator
