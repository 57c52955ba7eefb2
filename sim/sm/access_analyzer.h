// Turns the lane addresses of a memory instruction into what the hardware pays for: wavefronts in shared memory, lines
// and sectors in global memory. Remembers the last pattern of each instruction by relative lane addresses, since the
// lanes of a tiled kernel keep their distances while the base moves.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/global_access_rules.h"
#include "model/shared_memory_rules.h"
#include "sim/isa/program.h"
#include "sim/isa/stream.h"
#include "sim/result.h"

namespace tilesim::sim {

/// Lane addresses of an asynchronous copy hold both sides: bits 0-47 the global address (0 = the lane reads nothing and
/// writes zeros), bit 0 set if the copy bypasses the L1, bits 48-63 the shared address in units of 4 bytes.
struct CopyLane {
  std::uint64_t global = 0;
  std::uint32_t shared = 0;
  bool bypass = false;
  [[nodiscard]] static constexpr CopyLane of(std::uint64_t packed) {
    constexpr std::uint64_t kGlobalMask = (std::uint64_t{1} << 48) - 1;
    return {packed & kGlobalMask & ~std::uint64_t{3}, static_cast<std::uint32_t>(packed >> 48) * 4, (packed & 1) != 0};
  }
};

/// Addresses from here on are local memory: a warp's words of 32 bits are 128-byte lines, one word per lane; a lane's
/// further words of a wide access are in the lines that follow.
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{1} << 62;

/// True for an access to local memory; needs an active lane.
[[nodiscard]] inline bool is_local(const isa::DynamicInstruction& dynamic) {
  return dynamic.addresses[static_cast<std::size_t>(std::countr_zero(dynamic.active_mask))] >= kLocalWindow;
}

class AccessAnalyzer {
 public:
  explicit AccessAnalyzer(const isa::Program& program) : program_(program), memory_(program.instructions.size()) {}

  /// Wavefronts of a shared-memory access with at least one active lane; adds to the site's counters. Copies: their
  /// shared side, by the rule of stores (documented; tile_access.h says where the H200 counts more).
  int shared(const isa::DynamicInstruction& dynamic, AccessSite& site);

  /// Lines and sectors of a global or local access with at least one active lane; adds to the site's counters. None for
  /// a copy that only writes zeros.
  void global(const isa::DynamicInstruction& dynamic, AccessSite& site, model::GlobalFootprint& footprint) const;

 private:
  struct Pattern {
    std::array<std::uint32_t, isa::kWarpSize> relative{};
    std::uint32_t mask = 0;
    model::Wavefronts wavefronts{};
  };
  const isa::Program& program_;
  std::vector<Pattern> memory_;
};

}  // namespace tilesim::sim
