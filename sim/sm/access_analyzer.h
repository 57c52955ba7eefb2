// Turns the lane addresses of a memory instruction into what the hardware pays for: wavefronts in shared memory, lines
// and sectors in global memory. Remembers the last pattern of each instruction by relative lane addresses, since the
// lanes of a tiled kernel keep their distances while the base moves.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/global_access_rules.h"
#include "model/shared_memory_rules.h"
#include "sim/isa/lane_address.h"
#include "sim/isa/program.h"
#include "sim/isa/stream.h"
#include "sim/result.h"

namespace tilesim::sim {

class AccessAnalyzer {
 public:
  explicit AccessAnalyzer(const isa::Program& program) : program_(program), memory_(program.instructions.size()) {}

  /// Wavefronts of a shared-memory access with at least one active lane.
  struct SharedCost {
    model::Wavefronts now;
    model::Wavefronts waiting;  ///< copies: if they wait for data
  };
  /// Adds to the site's counters. Copies: their shared side.
  SharedCost shared(const isa::DynamicInstruction& dynamic, AccessSite& site);

  /// Lines and sectors of a global or local access with at least one active lane; adds to the site's counters. None for
  /// a copy that only writes zeros; a line is in there once for each request of a copy for it. A copy's shared side
  /// must have been looked at before. Returns the sectors that are looked up in the L1, which for copies of 16 bytes
  /// are those of each wavefront.
  int global(const isa::DynamicInstruction& dynamic, AccessSite& site, model::GlobalFootprint& footprint) const;

 private:
  struct Pattern {
    std::array<std::uint32_t, isa::kWarpSize> relative{};
    std::uint32_t mask = 0;
    SharedCost cost;
    model::CopyWavefronts copy{};                       ///< for copies of 16 bytes
    std::array<std::uint64_t, isa::kWarpSize> lines{};  ///< for other copies, less that of the first active lane
  };
  void look_at(const isa::DynamicInstruction& dynamic, const std::array<std::uint32_t, isa::kWarpSize>& addresses,
               Pattern& pattern) const;
  const isa::Program& program_;
  std::vector<Pattern> memory_;
};

}  // namespace tilesim::sim
