#include "model/tile_layout.h"

namespace tilesim::model {

namespace {

constexpr std::int64_t kChunkBytes = 16;
constexpr std::int64_t kBankRowBytes = 128;
constexpr std::int64_t kWarpSize = 32;

/// First row of A (column of B) of the thread's warp tile.
std::int64_t warp_origin(const TileConfig& config, bool is_b, std::int64_t thread) {
  const std::int64_t columns = config.bn / config.wn;
  const std::int64_t warp = thread / kWarpSize;
  return is_b ? warp % columns * config.wn : warp / columns * config.wm;
}

}  // namespace

std::uint32_t shared_offset(const SharedTile& tile, std::int64_t swizzle, std::int64_t row, std::int64_t column) {
  std::int64_t offset = column * tile.element_bytes;
  if (swizzle > 0) {
    const std::int64_t pitch = tile.pitch_bytes();
    const std::int64_t bank_row = pitch >= kBankRowBytes ? row : row * pitch / kBankRowBytes;
    const std::int64_t mask = (std::int64_t{1} << swizzle) - 1;
    offset = ((offset / kChunkBytes) ^ (bank_row & mask)) * kChunkBytes + offset % kChunkBytes;
  }
  return static_cast<std::uint32_t>(row * tile.pitch_bytes() + offset);
}

bool k_contiguous(const TileConfig& config, bool is_b) {
  return is_b ? b_transposed(config.layout) : !a_transposed(config.layout);
}

bool copy_transposes(const TileConfig& config, bool is_b) {
  return config.family == Family::kSimt && k_contiguous(config, is_b);
}

GlobalTile global_tile(const TileConfig& config, bool is_b, std::int64_t leading) {
  const std::int64_t extent = is_b ? config.bn : config.bm;
  return k_contiguous(config, is_b) ? GlobalTile{extent, config.bk, leading} : GlobalTile{config.bk, extent, leading};
}

std::int64_t copies_per_thread(const TileConfig& config, bool is_b) {
  const std::int64_t elements = (is_b ? config.bn : config.bm) * config.bk;
  return ceil_div(elements, threads_per_cta(config) * config.vec);
}

bool fragments_by_word(const TileConfig& config, bool is_b) {
  return element_bytes(config.dtype) == 4 && !k_contiguous(config, is_b);
}

TileElement mma_fragment_element(const TileConfig& config, bool is_b, std::int64_t thread, std::int64_t k,
                                 std::int64_t first, std::int64_t matrices) {
  const std::int64_t lane = thread % kWarpSize;
  const std::int64_t extent = warp_origin(config, is_b, thread) + first;
  if (matrices == 0) {
    return {k + lane % 4, extent + lane / 4};
  }
  // Matrices 0 and 1 differ in the rows of A, but in the depth of B; with 2 and 3 it is the other way round.
  const std::int64_t matrix = lane / 8 % matrices;
  const std::int64_t further = (is_b ? matrix / 2 : matrix % 2) * 8;
  const std::int64_t deeper = is_b ? matrix % 2 : matrix / 2;
  if (k_contiguous(config, is_b)) {
    return {extent + further + lane % 8, k + deeper * (kChunkBytes / element_bytes(config.dtype))};
  }
  return {k + deeper * 8 + lane % 8, extent + further};
}

TileElement mma_sum_element(const TileConfig& config, std::int64_t thread) {
  const std::int64_t lane = thread % kWarpSize;
  return {warp_origin(config, false, thread) + lane / 4, warp_origin(config, true, thread) + lane % 4 * 2};
}

TileElement simt_sum_element(const TileConfig& config, std::int64_t thread) {
  if (has_warp_tiles(config)) {
    const std::int64_t lane = thread % kWarpSize;
    const std::int64_t columns = config.wn / config.tn;
    return {warp_origin(config, false, thread) + lane / columns * config.tm,
            warp_origin(config, true, thread) + lane % columns * config.tn};
  }
  const std::int64_t columns = config.bn / config.tn;
  return {thread / columns * config.tm, thread % columns * config.tn};
}

TileElement direct_element(const TileConfig& config, bool is_b, std::int64_t thread, std::int64_t k,
                           std::int64_t part) {
  const TileElement sums = simt_sum_element(config, thread);
  const std::int64_t extent = (is_b ? sums.column : sums.row) + part;
  return k_contiguous(config, is_b) ? TileElement{extent, k} : TileElement{k, extent};
}

std::int64_t fragment_width(const TileConfig& config, bool is_b) {
  const SharedTile tile = is_b ? shared_tile_b(config) : shared_tile_a(config);
  const std::int64_t count = is_b ? config.tn : config.tm;
  std::int64_t width = kChunkBytes / tile.element_bytes;
  while (count % width != 0 || tile.pitch_bytes() % (width * tile.element_bytes) != 0) {
    width /= 2;
  }
  return width;
}

}  // namespace tilesim::model
