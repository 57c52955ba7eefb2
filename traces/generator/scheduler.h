// Gives the operations of a block an order, as ptxas does it on sm_90 (seen in the code it makes of tiled kernels):
//   - FMAs keep their order; a load is placed as late as the latency that ptxas assumes for it still allows, so that
//   few
//     registers are taken early;
//   - a load may not be placed while more registers would be live than the budget, unless nothing else can go on;
//   - memory operations are at least four cycles apart when nothing stands between them.
// Then stall counts (fixed latencies) and scoreboards (loads, reads of sources) follow from the order.
#pragma once

#include <vector>

#include "traces/generator/block.h"

namespace tilesim::traces::generator {

struct ScheduleOptions {
  int register_budget = 255;  ///< for values that do not live outside the block
};

struct Schedule {
  std::vector<int> order;  ///< operation numbers
  int pressure = 0;        ///< most registers of values that do not live outside the block
};

[[nodiscard]] Schedule schedule(const Block& block, const ScheduleOptions& options);

/// Sets stall counts, scoreboards and wait masks of the operations, which must be in final order.
void set_control(std::vector<Operation>& operations);

}  // namespace tilesim::traces::generator
