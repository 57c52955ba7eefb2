// Inside legality: the rules as one function over plain limits, for the report and for the search of the nearest
// choice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/legality.h"
#include "model/tile_config.h"

namespace tilesim::model::detail {

/// What the rules need to know about a GPU.
struct LegalityLimits {
  std::string gpu;
  std::int64_t shared_bytes_per_cta = 0;
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t shared_reserved_per_cta = 0;
  std::int64_t warps_per_sm = 64;
  std::int64_t ctas_per_sm = 32;
  std::int64_t registers_per_sm = 65536;
  bool has_async_copy = true;  ///< compute capability 8.0 and later
};

/// All findings of a configuration; `problem` may be null (then the rules about alignment and grid are skipped).
/// With `illegal_only` it stops at the first illegal finding and gives no warnings.
[[nodiscard]] std::vector<Finding> find_problems(const TileConfig& config, const Problem* problem,
                                                 const LegalityLimits& limits, bool illegal_only);

/// True if no rule is broken.
[[nodiscard]] bool is_legal(const TileConfig& config, const Problem* problem, const LegalityLimits& limits);

/// The nearest legal configuration by doublings and halvings of extents, changes of stages, vector width, padding,
/// swizzle and copy path being cheaper than changes of the tile.
[[nodiscard]] std::optional<TileConfig> nearest_legal(const TileConfig& config, const Problem* problem,
                                                      const LegalityLimits& limits);

/// Needed and available shared memory of a configuration whose extents are in range.
[[nodiscard]] SharedFit shared_fit(const TileConfig& config, const LegalityLimits& limits);

}  // namespace tilesim::model::detail
