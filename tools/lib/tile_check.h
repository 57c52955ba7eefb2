// The analytic answer to a tile configuration, or the reasons why it is illegal.
#pragma once

#include <optional>
#include <string>

#include "model/gpu_spec.h"
#include "model/result.h"
#include "model/tile_sheet.h"

namespace tilesim::app {

/// The sheet of a legal configuration; `clock_mhz` none takes the spec's clock of the pipe, `carveout_kb` none the
/// largest. Error (kUsage) for an illegal one: every finding with its remedy, and the nearest legal configuration.
[[nodiscard]] Result<model::TileSheet> check_tile(const model::TileConfig& config, const model::Problem& problem,
                                                  const model::GpuSpec& gpu, std::optional<double> clock_mhz,
                                                  std::optional<int> carveout_kb);

/// "128x128x8 tile with 8x8 per thread".
[[nodiscard]] std::string tile_name(const model::TileConfig& config);

}  // namespace tilesim::app
