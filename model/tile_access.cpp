#include "model/tile_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <span>

#include "model/global_access_rules.h"
#include "model/legality.h"
#include "model/shared_memory_rules.h"
#include "model/tile_layout.h"

namespace tilesim::model {
namespace {

constexpr std::int64_t kLanes = 32;
constexpr std::uint32_t kAllLanes = 0xffffffffU;
constexpr std::int64_t kChunkBytes = 16;

using SharedLanes = std::array<std::uint32_t, 32>;

void add(SharedAccessCost& cost, const Wavefronts& wavefronts, std::int64_t times = 1) {
  cost.instructions += times;
  cost.wavefronts += times * wavefronts.wavefronts;
  cost.ideal += times * wavefronts.phases;
}

// Calls visit(first element of each of the 32 lanes) for each copy instruction of each warp.
using Elements = std::array<std::int64_t, 32>;
void for_each_copy(const TileConfig& config, const GlobalTile& tile,
                   const std::function<void(const Elements&)>& visit) {
  // Load i of thread t starts at (t + i*threads)*vec: over all warps and i, the warps walk the tile without gaps.
  const std::int64_t elements = tile.rows * tile.columns;
  for (std::int64_t first = 0; first * config.vec < elements; first += kLanes) {
    Elements lanes{};
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[static_cast<std::size_t>(lane)] = (first + lane) * config.vec;
    }
    visit(lanes);
  }
}

std::string_view width_suffix(std::int64_t bytes) {
  switch (bytes) {
    case 16:
      return "128";
    case 8:
      return "64";
    case 4:
      return "32";
    default:
      return "16";
  }
}

/// Copies of single words wait for the sectors that the first of them asks for.
Wavefronts async_wavefronts(const SharedLanes& addresses, const std::array<std::uint64_t, kLanes>& lines, int bytes) {
  if (bytes >= 16) {
    return copy_wavefronts(addresses, kAllLanes, bytes).total();
  }
  return word_copy_wavefronts(addresses, lines, kAllLanes, bytes).by_fours;
}

SharedAccessCost store_cost(const TileConfig& config, bool is_b) {
  const GlobalTile global = global_tile(config, is_b, 0);
  const SharedTile tile = is_b ? shared_tile_b(config) : shared_tile_a(config);
  const bool transposing = copy_transposes(config, is_b);
  const std::int64_t pieces = transposing ? config.vec : 1;
  const std::int64_t bytes = tile.element_bytes * config.vec / pieces;
  SharedAccessCost cost;
  cost.confirmed = config.copy != CopyPath::kAsync;
  cost.name = is_b ? "store B" : "store A";
  cost.instruction = fmt::format("{}.{}", config.copy == CopyPath::kAsync ? "LDGSTS" : "STS", width_suffix(bytes));
  for_each_copy(config, global, [&](const Elements& elements) {
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      SharedLanes addresses{};
      std::array<std::uint64_t, kLanes> lines{};
      for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
        const std::int64_t row = elements[lane] / global.columns;
        const std::int64_t column = elements[lane] % global.columns + piece;
        addresses[lane] = transposing ? shared_offset(tile, config.swizzle, column, row)
                                      : shared_offset(tile, config.swizzle, row, column);
        lines[lane] = static_cast<std::uint64_t>(row) << 32 |
                      static_cast<std::uint64_t>(column * tile.element_bytes / kLineBytes);
      }
      add(cost, config.copy == CopyPath::kAsync
                    ? async_wavefronts(addresses, lines, static_cast<int>(bytes))
                    : shared_store_wavefronts(addresses, kAllLanes, static_cast<int>(bytes)));
    }
  });
  return cost;
}

// SIMT: each thread reads TM (or TN) consecutive elements of each of the BK rows, in the widest loads that stay
// aligned.
SharedAccessCost simt_load_cost(const TileConfig& config, bool is_b) {
  const SharedTile tile = is_b ? shared_tile_b(config) : shared_tile_a(config);
  const std::int64_t count = is_b ? config.tn : config.tm;
  const std::int64_t width = fragment_width(config, is_b);
  const std::int64_t bytes = width * tile.element_bytes;
  SharedAccessCost cost;
  cost.name = is_b ? "load B" : "load A";
  cost.instruction = fmt::format("LDS.{}", width_suffix(bytes));
  const std::int64_t rows_looked_at = config.swizzle > 0 ? config.bk : 1;  // without a swizzle all rows are alike
  for (std::int64_t first = 0; first < threads_per_cta(config); first += kLanes) {
    for (std::int64_t row = 0; row < rows_looked_at; ++row) {
      for (std::int64_t part = 0; part < count; part += width) {
        SharedLanes addresses{};
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
          const TileElement sums = simt_sum_element(config, first + lane);
          const std::int64_t own = is_b ? sums.column : sums.row;
          addresses[static_cast<std::size_t>(lane)] = shared_offset(tile, config.swizzle, row, own + part);
        }
        add(cost, shared_load_wavefronts(addresses, kAllLanes, static_cast<int>(bytes)), config.bk / rows_looked_at);
      }
    }
  }
  return cost;
}

// The part of a tile that one warp reads: rows and columns of the shared tile, in elements.
struct Region {
  std::int64_t row = 0;
  std::int64_t rows = 0;
  std::int64_t column = 0;
  std::int64_t columns = 0;
};

// LDSM: up to 16 rows x 32 bytes (four 8x8 matrices) per instruction.
void add_matrix_loads(SharedAccessCost& cost, const TileConfig& config, const SharedTile& tile, const Region& region) {
  const std::int64_t chunk = kChunkBytes / tile.element_bytes;
  const std::int64_t row_end = region.row + region.rows;
  const std::int64_t column_end = region.column + region.columns;
  for (std::int64_t row = region.row; row < row_end; row += 16) {
    for (std::int64_t column = region.column; column < column_end; column += 2 * chunk) {
      SharedLanes addresses{};
      std::size_t used = 0;
      for (std::int64_t c = column; c < std::min(column + 2 * chunk, column_end); c += chunk) {
        for (std::int64_t r = row; r < std::min(row + 16, row_end); ++r) {
          addresses[used++] = shared_offset(tile, config.swizzle, r, c);
        }
      }
      add(cost, matrix_load_wavefronts(std::span(addresses).first(used), static_cast<int>(used / 8)));
    }
  }
}

// TF32 K-major: LDS.32, lane l reads row l%4 (K) and column l/4.
void add_word_loads(SharedAccessCost& cost, const TileConfig& config, const SharedTile& tile, const Region& region) {
  for (std::int64_t row = region.row; row < region.row + region.rows; row += 4) {
    for (std::int64_t column = region.column; column < region.column + region.columns; column += 8) {
      SharedLanes addresses{};
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        addresses[static_cast<std::size_t>(lane)] =
            shared_offset(tile, config.swizzle, row + lane % 4, column + lane / 4);
      }
      add(cost, shared_load_wavefronts(addresses, kAllLanes, 4));
    }
  }
}

SharedAccessCost mma_load_cost(const TileConfig& config, bool is_b) {
  const SharedTile tile = is_b ? shared_tile_b(config) : shared_tile_a(config);
  const bool k_major = is_b ? !b_transposed(config.layout) : a_transposed(config.layout);
  const bool words = k_major && tile.element_bytes == 4;
  const std::int64_t own = is_b ? config.wn : config.wm;
  const std::int64_t columns = config.bn / config.wn;
  SharedAccessCost cost;
  cost.name = is_b ? "load B" : "load A";
  cost.instruction = words ? "LDS.32" : k_major ? "LDSM.T" : "LDSM";
  for (std::int64_t warp = 0; warp < threads_per_cta(config) / kLanes; ++warp) {
    const std::int64_t first = (is_b ? warp % columns : warp / columns) * own;
    const Region region = k_major ? Region{0, config.bk, first, own} : Region{first, own, 0, config.bk};
    if (words) {
      add_word_loads(cost, config, tile, region);
    } else {
      add_matrix_loads(cost, config, tile, region);
    }
  }
  return cost;
}

// Direct: each element of a thread's fragment is a load of its own.
void for_each_direct_load(const TileConfig& config, bool is_b, const GlobalTile& tile,
                          const std::function<void(const Elements&)>& visit) {
  const std::int64_t count = is_b ? config.tn : config.tm;
  for (std::int64_t first = 0; first < threads_per_cta(config); first += kLanes) {
    for (std::int64_t k = 0; k < config.bk; ++k) {
      for (std::int64_t part = 0; part < count; ++part) {
        Elements lanes{};
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
          const TileElement element = direct_element(config, is_b, first + lane, k, part);
          lanes[static_cast<std::size_t>(lane)] = element.row * tile.columns + element.column;
        }
        visit(lanes);
      }
    }
  }
}

GlobalAccessCost global_load_cost(const TileConfig& config, bool is_b, std::int64_t leading) {
  const GlobalTile tile = global_tile(config, is_b, leading);
  const std::int64_t bytes = element_bytes(config.dtype);
  GlobalAccessCost cost;
  cost.name = is_b ? "load B" : "load A";
  cost.instruction =
      fmt::format("{}.{}", config.copy == CopyPath::kAsync ? "LDGSTS" : "LDG", width_suffix(bytes * config.vec));
  cost.row_alignment_bytes = row_alignment(leading, bytes);
  GlobalFootprint footprint;
  const auto count = [&](const Elements& elements) {
    std::array<std::uint64_t, 32> addresses{};
    for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
      const std::int64_t element = elements[lane] / tile.columns * tile.leading + elements[lane] % tile.columns;
      addresses[lane] = static_cast<std::uint64_t>(element * bytes);
    }
    global_footprint(addresses, kAllLanes, static_cast<int>(bytes * config.vec), footprint);
    ++cost.requests;
    cost.sectors += footprint.sector_count;
    cost.lines += footprint.line_count;
    // Lanes that read the same element share it.
    const std::set<std::int64_t> distinct(elements.begin(), elements.end());
    cost.useful_bytes += static_cast<std::int64_t>(distinct.size()) * bytes * config.vec;
  };
  if (uses_shared_memory(config)) {
    for_each_copy(config, tile, count);
  } else {
    for_each_direct_load(config, is_b, tile, count);
  }
  return cost;
}

bool layout_fits(const TileConfig& config, const SharedTile& tile) {
  if (config.swizzle == 0) return config.family == Family::kSimt || tile.pitch_bytes() % kChunkBytes == 0;
  return tile.pad == 0 && tile.pitch_bytes() % (kChunkBytes << config.swizzle) == 0;
}

}  // namespace

std::vector<SharedAccessCost> shared_access_costs(const TileConfig& config) {
  if (!uses_shared_memory(config)) return {};
  const bool simt = config.family == Family::kSimt;
  return {store_cost(config, false), store_cost(config, true),
          simt ? simt_load_cost(config, false) : mma_load_cost(config, false),
          simt ? simt_load_cost(config, true) : mma_load_cost(config, true)};
}

std::vector<LayoutAlternative> layout_alternatives(const TileConfig& config) {
  if (!uses_shared_memory(config)) return {};
  const std::int64_t pad = config.family == Family::kSimt ? 4 : kChunkBytes / element_bytes(config.dtype);
  std::vector<LayoutAlternative> result{{config.pad_a, config.pad_b, config.swizzle},
                                        {0, 0, 0},
                                        {pad, 0, 0},
                                        {pad, pad, 0},
                                        {2 * pad, 0, 0},
                                        {2 * pad, 2 * pad, 0},
                                        {0, 0, 1},
                                        {0, 0, 2},
                                        {0, 0, 3}};
  std::vector<LayoutAlternative> fitting;
  for (LayoutAlternative& alternative : result) {
    TileConfig other = config;
    other.pad_a = alternative.pad_a;
    other.pad_b = alternative.pad_b;
    other.swizzle = alternative.swizzle;
    if (!layout_fits(other, shared_tile_a(other)) || !layout_fits(other, shared_tile_b(other))) continue;
    for (const SharedAccessCost& cost : shared_access_costs(other)) {
      alternative.conflicts += cost.conflicts();
      alternative.wavefronts += cost.wavefronts;
    }
    alternative.shared_bytes = shared_bytes(other);
    fitting.push_back(alternative);
  }
  return fitting;
}

std::array<GlobalAccessCost, 2> global_load_costs(const TileConfig& config, const Problem& problem) {
  const LeadingDimensions leading = leading_dimensions(problem, config.layout);
  return {global_load_cost(config, false, leading.a), global_load_cost(config, true, leading.b)};
}

}  // namespace tilesim::model
