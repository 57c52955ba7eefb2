// The occupancy table.
#pragma once

#include <string>

#include "model/occupancy.h"
#include "tools/cli/colour.h"

namespace tilesim::reports {

/// Resident CTAs and the limit of each resource, the limiter marked. One line per resource.
[[nodiscard]] std::string occupancy_table(const model::Occupancy& occupancy, const cli::Palette& palette);

/// "2 CTAs per SM (25.0 % of its warps), limited by registers".
[[nodiscard]] std::string occupancy_sentence(const model::Occupancy& occupancy);

}  // namespace tilesim::reports
