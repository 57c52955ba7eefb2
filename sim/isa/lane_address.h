// The form in which lane addresses of asynchronous copies and of local memory travel in DynamicInstruction, whose one
// address per lane is enough for plain global and shared accesses only.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/isa/stream.h"

namespace tilesim::isa {

/// LDGSTS: bits 0-47 the global address (0 = the lane reads nothing and writes zeros), bit 0 set if the copy bypasses
/// the L1 (copies are aligned to 4 bytes), bits 48-63 the shared address in units of 4 bytes.
struct CopyLane {
  static constexpr unsigned kSharedShift = 48;
  static constexpr std::uint64_t kGlobalLimit = std::uint64_t{1} << kSharedShift;

  std::uint64_t global = 0;
  std::uint32_t shared = 0;
  bool bypass = false;

  [[nodiscard]] static constexpr CopyLane of(std::uint64_t packed) {
    return {packed & (kGlobalLimit - 1) & ~std::uint64_t{3}, static_cast<std::uint32_t>(packed >> kSharedShift) * 4,
            (packed & 1) != 0};
  }
  [[nodiscard]] constexpr std::uint64_t packed() const {
    return global | (bypass ? 1U : 0U) | std::uint64_t{shared} / 4 << kSharedShift;
  }
};

/// LDL, STL: local memory lies above every global address. A warp's words of 32 bits are 128-byte lines, one word per
/// lane; a lane's further words of a wide access are in the lines that follow.
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{1} << 62;
[[nodiscard]] constexpr std::uint64_t local_address(std::uint64_t line, unsigned lane, unsigned byte) {
  return kLocalWindow + line * 128 + lane * 4 + byte;
}
/// True for an access to local memory; needs an active lane.
[[nodiscard]] inline bool is_local(const DynamicInstruction& dynamic) {
  return dynamic.addresses[static_cast<std::size_t>(std::countr_zero(dynamic.active_mask))] >= kLocalWindow;
}

}  // namespace tilesim::isa
