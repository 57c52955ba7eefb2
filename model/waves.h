// How the tiles of C spread over the SMs: CTAs, waves, tail, padded work, order, and what neighbours share.
// Rule R6: tiles = ceil(M/BM)*ceil(N/BN)*splits; waves = ceil(tiles / (SMs * CTAs per SM)); efficiency = tiles / (waves
// * SMs * CTAs per SM).
#pragma once

#include <cstdint>

#include "model/result.h"
#include "model/tile_config.h"

namespace tilesim::model {

/// Extents of a CTA tile, for questions that need no whole configuration.
struct TileExtents {
  std::int64_t bm = 1;
  std::int64_t bn = 1;
  std::int64_t bk = 1;
};
[[nodiscard]] constexpr TileExtents extents(const TileConfig& config) { return {config.bm, config.bn, config.bk}; }

struct Waves {
  std::int64_t tiles_m = 0;
  std::int64_t tiles_n = 0;
  std::int64_t ctas = 0;        ///< tiles_m * tiles_n * split_k * batch
  std::int64_t k_steps = 0;     ///< of one CTA
  std::int64_t concurrent = 0;  ///< CTAs that the GPU holds at once
  std::int64_t whole_waves = 0;
  double waves = 0.0;  ///< ctas / concurrent
  double efficiency = 0.0;
  double ctas_per_sm = 0.0;          ///< mean over all SMs
  std::int64_t busiest_sm_ctas = 0;  ///< ceil(ctas / SMs)
  double balance = 0.0;              ///< mean over busiest: what an even spread of equal CTAs reaches
  std::int64_t working_sms = 0;      ///< SMs that get a CTA at all
  std::int64_t padded_m = 0;         ///< M rounded up to whole tiles
  std::int64_t padded_n = 0;
  std::int64_t padded_k = 0;
  double wasted_work_percent = 0.0;   ///< multiply-adds on padding, of all that are issued
  double boundary_cta_percent = 0.0;  ///< CTAs whose tile sticks out of C, so that predicates diverge
};

/// Counts for a problem on `sm_count` SMs that each hold `ctas_per_sm` CTAs. Refuses an invalid problem, tile extents
/// under 1, and a grid of more than 2^31-1 CTAs.
[[nodiscard]] Result<Waves> count_waves(const Problem& problem, const TileExtents& tile, std::int64_t sm_count,
                                        std::int64_t ctas_per_sm);

/// Position of a tile in C, in tiles.
struct TilePosition {
  std::int64_t row = 0;     ///< along M
  std::int64_t column = 0;  ///< along N
  friend bool operator==(const TilePosition&, const TilePosition&) = default;
};

/// The tile that the CTA of launch rank `rank` computes, 0 <= rank < tiles_m * tiles_n. A bijection for every raster.
/// group:G walks G tile rows column by column, then the next G (as the Triton matmul tutorial and CUTLASS' swizzle).
[[nodiscard]] TilePosition tile_of_rank(const Raster& raster, std::int64_t rank, std::int64_t tiles_m,
                                        std::int64_t tiles_n);

/// Distinct tiles of A and B that `count` CTAs from rank `first` on read if they go through K together.
struct UniqueLoads {
  std::int64_t rows = 0;     ///< distinct tile rows of A
  std::int64_t columns = 0;  ///< distinct tile columns of B
  /// Tile loads over `k_steps` K-steps.
  [[nodiscard]] constexpr std::int64_t tile_loads(std::int64_t k_steps) const { return (rows + columns) * k_steps; }
};
[[nodiscard]] UniqueLoads unique_tile_loads(const Raster& raster, std::int64_t tiles_m, std::int64_t tiles_n,
                                            std::int64_t first, std::int64_t count);

/// DRAM traffic by the order of CTAs, from the sketch that the CTAs of a wave walk K in step and share every line
/// through the L2, and that nothing survives from wave to wave (unless A and B fit the L2 as a whole). Optimistic when
/// CTAs drift apart. DRAM reads that an H200 measured at 4096^3, over this figure: 1.00 (128x128x16, one CTA per
/// SM), 1.00 and 1.54 (128x128x8, two), 2.6 (64x64x16), 7.1 (32x32x32). Take it as a floor, and simulate for a figure.
struct RasterTraffic {
  double requested_bytes = 0.0;   ///< what all CTAs ask of the L2 for A and B
  double dram_read_bytes = 0.0;   ///< A and B
  double dram_bytes = 0.0;        ///< with C, written once
  double compulsory_bytes = 0.0;  ///< A, B and C once
  double over_compulsory = 0.0;   ///< dram_bytes / compulsory_bytes
  double l2_hit_percent = 0.0;    ///< of the requested bytes
  bool fits_l2 = false;           ///< A and B fit the L2
};
[[nodiscard]] Result<RasterTraffic> raster_traffic(const Problem& problem, const TileConfig& config, const Waves& waves,
                                                   std::int64_t l2_bytes);

}  // namespace tilesim::model
