// JSON of `tilesim check`.
#pragma once

#include <string>

#include "model/gpu_spec.h"
#include "model/occupancy.h"
#include "model/tile_sheet.h"
#include "tools/reports/json_document.h"

namespace tilesim::reports {

[[nodiscard]] std::string check_json(const model::TileSheet& sheet, const model::GpuSpec& gpu, bool problem_assumed);

/// The configuration, the problem and the entries of a sheet as metrics by name, for other documents.
[[nodiscard]] Json config_json(const model::TileConfig& config);
[[nodiscard]] Json problem_json(const model::TileSheet& sheet, bool problem_assumed);
[[nodiscard]] Json sheet_metrics(const model::TileSheet& sheet);

/// For `--threads --regs --smem`, and for `--cubin` with the kernel's name.
[[nodiscard]] std::string occupancy_json(const model::Occupancy& occupancy, const model::OccupancyInput& input,
                                         const std::string& kernel, const model::GpuSpec& gpu);

}  // namespace tilesim::reports
