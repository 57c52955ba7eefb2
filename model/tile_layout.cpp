#include "model/tile_layout.h"

namespace tilesim::model {

namespace {

constexpr std::int64_t kChunkBytes = 16;
constexpr std::int64_t kBankRowBytes = 128;

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
