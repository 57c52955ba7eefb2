// The form in which lane addresses of asynchronous copies and of local memory travel in isa::DynamicInstruction, whose
// one address per lane is enough for plain global and shared accesses only. sim/sm/access_analyzer.h reads this form;
// a test holds the two together.
#pragma once

#include <cstdint>

namespace tilesim::traces {

/// LDGSTS: bits 0-47 the global address (0 = the lane reads nothing and writes zeros), bit 0 set with .BYPASS (copies
/// are aligned to 4 bytes), bits 48-63 the shared address in units of 4 bytes.
inline constexpr unsigned kCopySharedShift = 48;
inline constexpr std::uint64_t kCopyGlobalLimit = std::uint64_t{1} << kCopySharedShift;
[[nodiscard]] constexpr std::uint64_t pack_copy(std::uint64_t global, std::uint64_t shared, bool bypass) {
  return global | (bypass ? 1U : 0U) | shared / 4 << kCopySharedShift;
}
[[nodiscard]] constexpr std::uint64_t copy_global(std::uint64_t packed) {
  return packed & (kCopyGlobalLimit - 1) & ~std::uint64_t{3};
}

/// LDL, STL: local memory lies above every global address. A warp's words of 32 bits are 128-byte lines, one word per
/// lane; a lane's further words of a wide access are in the lines that follow.
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{1} << 62;
[[nodiscard]] constexpr std::uint64_t local_address(std::uint64_t line, unsigned lane, unsigned byte) {
  return kLocalWindow + line * 128 + lane * 4 + byte;
}

}  // namespace tilesim::traces
