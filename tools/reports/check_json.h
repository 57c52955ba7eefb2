// JSON of `tilesim check`.
#pragma once

#include <string>

#include "model/gpu_spec.h"
#include "model/occupancy.h"
#include "model/tile_sheet.h"

namespace tilesim::reports {

[[nodiscard]] std::string check_json(const model::TileSheet& sheet, const model::GpuSpec& gpu, bool problem_assumed);

/// For `--threads --regs --smem`.
[[nodiscard]] std::string occupancy_json(const model::Occupancy& occupancy, const model::OccupancyInput& input,
                                         const model::GpuSpec& gpu);

}  // namespace tilesim::reports
