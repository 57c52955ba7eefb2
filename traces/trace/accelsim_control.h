// Control fields for code that came without them.
#pragma once

#include <vector>

#include "traces/generator/block.h"

namespace tilesim::traces::accelsim {

/// Sets stall counts, yield and reuse flags, scoreboards and wait masks of a kernel's operations, which stand in
/// address order with their branch targets; values are registers. Stall counts are the generator's, with room between
/// instructions of one pipe; flags as ptxas sets them in the calibration kernels; scoreboards by
/// accelsim_scoreboards.h.
void set_control(std::vector<generator::Operation>& operations);

}  // namespace tilesim::traces::accelsim
