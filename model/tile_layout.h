// Where the elements of a tile lie in global and in shared memory, and which thread touches them: the layout of the
// project's own kernels (kernels/simt, kernels/mma), used by the analytic counts (tile_access.h) and by the tile
// generator.
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

/// One mma.sync multiplies 16 rows of A with 8 columns of B, 32 bytes deep: m16n8k16, TF32 m16n8k8.
inline constexpr std::int64_t kMmaRows = 16;
inline constexpr std::int64_t kMmaColumns = 8;
[[nodiscard]] constexpr std::int64_t mma_depth(DataType dtype) { return 32 / element_bytes(dtype); }

/// True if an mma kernel loads its fragments word by word: ldmatrix cannot transpose 4-byte elements.
[[nodiscard]] bool fragments_by_word(const TileConfig& config, bool is_b);

/// An element of a tile in shared memory.
struct TileElement {
  std::int64_t row = 0;
  std::int64_t column = 0;
};
/// Where lane `thread % 32` of an mma kernel's warp points when it loads the part of a fragment that begins `first`
/// rows (of A; columns of B) into the warp tile, `k` elements into the K-step: the row of an 8 x 8 matrix it names
/// for ldmatrix (`matrices` 2 or 4), or the word it loads (`matrices` 0).
[[nodiscard]] TileElement mma_fragment_element(const TileConfig& config, bool is_b, std::int64_t thread, std::int64_t k,
                                               std::int64_t first, std::int64_t matrices);
/// Row and column, in the tile of C, of the first sum that `thread` holds of a 16 x 8 block at the warp tile's corner.
[[nodiscard]] TileElement mma_sum_element(const TileConfig& config, std::int64_t thread);

/// Row and column, in the tile of C, of the first sum that `thread` of a SIMT kernel holds: TM x TN blocks lie along N
/// first over the tile of the CTA, or, with warp tiles, over that of the thread's warp, and these so over the CTA's.
[[nodiscard]] TileElement simt_sum_element(const TileConfig& config, std::int64_t thread);

/// Direct: row and column, in the tile as global memory holds it, of the element that `thread` multiplies its row
/// `part` of C with (B: its column), `k` elements into the K-step.
[[nodiscard]] TileElement direct_element(const TileConfig& config, bool is_b, std::int64_t thread, std::int64_t k,
                                         std::int64_t part);

/// Elements of one shared load of a SIMT fragment: the widest that stays aligned for all threads.
[[nodiscard]] std::int64_t fragment_width(const TileConfig& config, bool is_b);

}  // namespace tilesim::model
