#include "model/waves.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "model/roofline.h"

namespace tilesim::model {
namespace {

constexpr std::int64_t kMaxGrid = 2147483647;  // gridDim.x
constexpr std::int64_t kMaxSms = 4096;         // as the spec's range
constexpr std::int64_t kMaxCtasPerSm = 64;
constexpr std::int64_t kWavesLookedAt = 64;  // later waves repeat the pattern; the rest is scaled

Result<void> validate_tile(const TileExtents& tile, std::int64_t sm_count, std::int64_t ctas_per_sm) {
  const std::int64_t least = std::min({tile.bm, tile.bn, tile.bk});
  const std::int64_t most = std::max({tile.bm, tile.bn, tile.bk});
  if (least < 1 || most > kMaxProblemExtent) {
    return fail(ErrorKind::kUsage, fmt::format("A tile of {}x{}x{} is not possible.", tile.bm, tile.bn, tile.bk),
                "Pass --bm, --bn and --bk of at least 1.");
  }
  if (sm_count < 1 || ctas_per_sm < 1 || sm_count > kMaxSms || ctas_per_sm > kMaxCtasPerSm) {
    return fail(ErrorKind::kUsage,
                fmt::format("{} SMs with {} resident CTAs each is not possible.", sm_count, ctas_per_sm),
                fmt::format("Use 1 to {} SMs, and a kernel of which 1 to {} CTAs fit one.", kMaxSms, kMaxCtasPerSm));
  }
  return {};
}

Result<std::int64_t> count_ctas(const Problem& problem, std::int64_t tiles_m, std::int64_t tiles_n) {
  std::int64_t ctas = 1;
  bool overflow = false;
  for (const std::int64_t factor : {tiles_m, tiles_n, problem.split_k, problem.batch}) {
    overflow = overflow || __builtin_mul_overflow(ctas, factor, &ctas);
  }
  if (!overflow && ctas <= kMaxGrid) return ctas;
  return fail(ErrorKind::kUsage,
              fmt::format("{} x {} tiles, split_k {} and batch {} make a grid of over {} CTAs.", tiles_m, tiles_n,
                          problem.split_k, problem.batch, kMaxGrid),
              "Choose larger tiles (--bm, --bn), or a smaller problem.");
}

void add_boundary(Waves& waves, const Problem& problem, const TileExtents& tile) {
  waves.padded_m = waves.tiles_m * tile.bm;
  waves.padded_n = waves.tiles_n * tile.bn;
  waves.padded_k = waves.k_steps * tile.bk * problem.split_k;
  const double useful = (static_cast<double>(problem.m) / static_cast<double>(waves.padded_m)) *
                        (static_cast<double>(problem.n) / static_cast<double>(waves.padded_n)) *
                        (static_cast<double>(problem.k) / static_cast<double>(waves.padded_k));
  waves.wasted_work_percent = 100.0 * (1.0 - useful);
  const std::int64_t full_m = problem.m / tile.bm;
  const std::int64_t full_n = problem.n / tile.bn;
  const double inner = static_cast<double>(full_m) / static_cast<double>(waves.tiles_m) *
                       (static_cast<double>(full_n) / static_cast<double>(waves.tiles_n));
  waves.boundary_cta_percent = 100.0 * (1.0 - inner);
}

}  // namespace

Result<Waves> count_waves(const Problem& problem, const TileExtents& tile, std::int64_t sm_count,
                          std::int64_t ctas_per_sm) {
  if (auto ok = validate_problem(problem); !ok) return tl::unexpected(ok.error());
  if (auto ok = validate_tile(tile, sm_count, ctas_per_sm); !ok) return tl::unexpected(ok.error());
  Waves waves;
  waves.tiles_m = ceil_div(problem.m, tile.bm);
  waves.tiles_n = ceil_div(problem.n, tile.bn);
  const auto ctas = count_ctas(problem, waves.tiles_m, waves.tiles_n);
  if (!ctas) return tl::unexpected(ctas.error());
  waves.ctas = *ctas;
  waves.k_steps = ceil_div(ceil_div(problem.k, problem.split_k), tile.bk);
  waves.concurrent = sm_count * ctas_per_sm;
  waves.whole_waves = ceil_div(waves.ctas, waves.concurrent);
  waves.waves = static_cast<double>(waves.ctas) / static_cast<double>(waves.concurrent);
  waves.efficiency = waves.waves / static_cast<double>(waves.whole_waves);
  waves.ctas_per_sm = static_cast<double>(waves.ctas) / static_cast<double>(sm_count);
  waves.busiest_sm_ctas = ceil_div(waves.ctas, sm_count);
  waves.balance = waves.ctas_per_sm / static_cast<double>(waves.busiest_sm_ctas);
  waves.working_sms = std::min(waves.ctas, sm_count);
  add_boundary(waves, problem, tile);
  return waves;
}

TilePosition tile_of_rank(const Raster& raster, std::int64_t rank, std::int64_t tiles_m, std::int64_t tiles_n) {
  switch (raster.kind) {
    case RasterKind::kAlongN:
      return {rank / tiles_n, rank % tiles_n};
    case RasterKind::kAlongM:
      return {rank % tiles_m, rank / tiles_m};
    case RasterKind::kGroup:
      break;
  }
  const std::int64_t group = std::clamp<std::int64_t>(raster.group, 1, tiles_m);
  const std::int64_t per_group = group * tiles_n;
  const std::int64_t first_row = rank / per_group * group;
  const std::int64_t height = std::min(group, tiles_m - first_row);
  const std::int64_t inside = rank % per_group;
  return {first_row + inside % height, inside / height};
}

UniqueLoads unique_tile_loads(const Raster& raster, std::int64_t tiles_m, std::int64_t tiles_n, std::int64_t first,
                              std::int64_t count) {
  std::unordered_set<std::int64_t> rows;
  std::unordered_set<std::int64_t> columns;
  const std::int64_t end = std::min(first + count, tiles_m * tiles_n);
  for (std::int64_t rank = first; rank < end; ++rank) {
    const TilePosition tile = tile_of_rank(raster, rank, tiles_m, tiles_n);
    rows.insert(tile.row);
    columns.insert(tile.column);
  }
  return {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns.size())};
}

Result<RasterTraffic> raster_traffic(const Problem& problem, const TileConfig& config, const Waves& waves,
                                     std::int64_t l2_bytes) {
  const auto bytes = gemm_bytes(problem);
  if (!bytes) return tl::unexpected(bytes.error());
  // One slice of K of one batch at a time: the tiles of all slices follow each other in launch order.
  const std::int64_t tiles = waves.tiles_m * waves.tiles_n;
  const auto slices = static_cast<double>(problem.split_k * problem.batch);
  const std::int64_t whole = ceil_div(tiles, waves.concurrent);
  const std::int64_t looked_at = std::min(whole, kWavesLookedAt);
  double rows = 0.0;
  double columns = 0.0;
  for (std::int64_t wave = 0; wave < looked_at; ++wave) {
    const UniqueLoads unique =
        unique_tile_loads(config.raster, waves.tiles_m, waves.tiles_n, wave * waves.concurrent, waves.concurrent);
    rows += static_cast<double>(unique.rows);
    columns += static_cast<double>(unique.columns);
  }
  const double scale = static_cast<double>(whole) / static_cast<double>(looked_at) * slices;
  const double per_extent =
      static_cast<double>(ceil_div(problem.k, problem.split_k)) * static_cast<double>(element_bytes(problem.dtype));
  // Rows past the edge of the matrix are not read.
  const double row_bytes = per_extent * static_cast<double>(problem.m) / static_cast<double>(waves.tiles_m);
  const double column_bytes = per_extent * static_cast<double>(problem.n) / static_cast<double>(waves.tiles_n);
  RasterTraffic traffic;
  traffic.requested_bytes = static_cast<double>(tiles) * slices * (row_bytes + column_bytes);
  traffic.compulsory_bytes = static_cast<double>(bytes->total());
  traffic.fits_l2 = bytes->a <= l2_bytes && bytes->b <= l2_bytes - bytes->a;
  const auto compulsory_reads = static_cast<double>(bytes->a) + static_cast<double>(bytes->b);
  traffic.dram_read_bytes = traffic.fits_l2
                                ? compulsory_reads
                                : std::max(compulsory_reads, scale * (rows * row_bytes + columns * column_bytes));
  traffic.requested_bytes = std::max(traffic.requested_bytes, traffic.dram_read_bytes);
  traffic.dram_bytes = traffic.dram_read_bytes + static_cast<double>(bytes->c);
  traffic.over_compulsory = traffic.dram_bytes / traffic.compulsory_bytes;
  traffic.l2_hit_percent = 100.0 * (1.0 - traffic.dram_read_bytes / traffic.requested_bytes);
  return traffic;
}

}  // namespace tilesim::model
