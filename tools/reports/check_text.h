// Text reports of `tilesim check`.
#pragma once

#include <string>

#include "model/occupancy.h"
#include "model/tile_sheet.h"
#include "tools/cli/colour.h"

namespace tilesim::reports {

/// At most one screen: verdict, tile, occupancy, roofline, waves, overlap, barriers, shared and global accesses, order.
[[nodiscard]] std::string check_text(const model::TileSheet& sheet, bool problem_assumed, const cli::Palette& palette);

/// The whole sheet: every entry by item, layouts, orders, and where the pencil sketch slips.
[[nodiscard]] std::string check_sheet_text(const model::TileSheet& sheet, const cli::Palette& palette);

/// The verdict in one sentence.
[[nodiscard]] std::string check_verdict(const model::TileSheet& sheet);

/// For `--threads --regs --smem`, and for `--cubin` with the kernel's name.
[[nodiscard]] std::string occupancy_text(const model::Occupancy& occupancy, const model::OccupancyInput& input,
                                         const std::string& kernel, const std::string& gpu,
                                         const cli::Palette& palette);

}  // namespace tilesim::reports
