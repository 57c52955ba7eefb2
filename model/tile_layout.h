// Where the elements of a tile lie in global and in shared memory, and which thread touches them: the layout of the
// project's own kernels (kernels/simt), used by the analytic counts (tile_access.h) and by the tile generator.
#pragma once

#include <cstdint>

#include "model/tile_config.h"

namespace tilesim::model {

/// Byte offset of element (row, column) in a tile of shared memory. The swizzle XORs the number of the row (of the
/// 128-byte bank row, where rows are shorter) into the number of the 16-byte chunk.
[[nodiscard]] std::uint32_t shared_offset(const SharedTile& tile, std::int64_t swizzle, std::int64_t row,
                                          std::int64_t column);

/// The tile as global memory holds it: `rows` rows of `columns` consecutive elements, `leading` elements apart.
struct GlobalTile {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading = 0;
};
[[nodiscard]] GlobalTile global_tile(const TileConfig& config, bool is_b, std::int64_t leading);

/// True if rows of the matrix in global memory run along K.
[[nodiscard]] bool k_contiguous(const TileConfig& config, bool is_b);

/// True if a copy to shared memory transposes, one element at a time: SIMT tiles are K-major.
[[nodiscard]] bool copy_transposes(const TileConfig& config, bool is_b);

/// Copies of `vec` elements that each thread makes of an operand tile per K-step.
[[nodiscard]] std::int64_t copies_per_thread(const TileConfig& config, bool is_b);

/// Elements of one shared load of a SIMT fragment: the widest that stays aligned for all threads.
[[nodiscard]] std::int64_t fragment_width(const TileConfig& config, bool is_b);

}  // namespace tilesim::model
