// Gives the operations of a block an order, as ptxas does it on sm_90 (seen in the code it makes of tiled kernels):
//   - products keep their order;
//   - with FMAs, a load is placed as late as the latency that ptxas assumes for it still allows, so that few registers
//     are taken early; with HMMAs as early as there are registers for it, those first whose products come first;
//   - a load may not be placed while more registers would be live than the budget, unless nothing else can go on;
//   - memory operations are at least four cycles apart when nothing stands between them, HMMAs of a warp six.
// Then stall counts (fixed latencies) and scoreboards (loads, reads of sources) follow from the order.
#pragma once

#include <vector>

#include "traces/generator/block.h"

namespace tilesim::traces::generator {

struct ScheduleOptions {
  int register_budget = 255;  ///< for values that do not live outside the block
  bool early_loads = false;   ///< loads as early as registers allow
};

struct Schedule {
  std::vector<int> order;  ///< operation numbers
  int pressure = 0;        ///< most registers of values that do not live outside the block
};

[[nodiscard]] Schedule schedule(const Block& block, const ScheduleOptions& options);

/// Sets stall counts, scoreboards and wait masks of the operations, which must be in final order.
void set_control(std::vector<Operation>& operations);

}  // namespace tilesim::traces::generator
