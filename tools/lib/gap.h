// Where the time goes: from the peak to the simulated time in named parts that add up.
//
// The first parts are arithmetic. The others come from short simulations of the same kernel in which every mechanism
// costs nothing (numbers of the GPU spec that make it free, or IdealSource); then one mechanism after the other becomes
// real, in a fixed order, and the time that each adds is its part. The order matters: what two mechanisms cost together
// is booked on the later one. The last part is what the short runs do not show of the whole one.
#pragma once

#include <string>
#include <vector>

#include "model/result.h"
#include "model/tile_sheet.h"
#include "tools/lib/kernel_result.h"
#include "tools/lib/kernel_source.h"

namespace tilesim::app {

struct GapPart {
  std::string key;   ///< stable, snake_case
  std::string name;  ///< for people
  std::string what;  ///< the mechanism in a sentence, without a full stop
  double seconds = 0.0;
  bool simulated = false;  ///< else arithmetic
};

/// Parts in order; their sum is the simulated time up to rounding. The first is the time at the peak.
struct Gap {
  std::vector<GapPart> parts;
  double seconds = 0.0;  ///< the simulated time
};

/// Splits the time of `kernel`, which is `source` run whole on its GPU under the launch of its result, on `threads`
/// host threads. A part is negative where the machine gets faster when a mechanism becomes real: see gap_sign_note().
/// Errors: the source's and the simulator's.
[[nodiscard]] Result<Gap> split_gap(const KernelResult& kernel, const KernelSource& source,
                                    const model::TileSheet& sheet, int threads);

/// Why a part can be negative, as a sentence.
[[nodiscard]] std::string gap_sign_note();

}  // namespace tilesim::app
