// Which allocations a kernel's global accesses can touch, from where their addresses come.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/emulator/control_flow.h"
#include "traces/emulator/launch.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// A set of allocations: bit i stands for the i-th of the launch's, the last bit for all that have no other.
using Allocations = std::uint64_t;
inline constexpr std::size_t kOtherAllocation = 63;
inline constexpr Allocations kOtherAllocations = Allocations{1} << kOtherAllocation;
[[nodiscard]] constexpr Allocations allocation_bit(std::size_t index) {
  return Allocations{1} << (index < kOtherAllocation ? index : kOtherAllocation);
}
/// True if the sets can share memory: an unknown address can be anywhere.
[[nodiscard]] constexpr bool may_overlap(Allocations a, Allocations b) {
  return (a & b) != 0 || (a != 0 && b != 0 && ((a | b) & kOtherAllocations) != 0);
}

/// By instruction: the allocations that its global access can touch, nothing for other instructions. An address belongs
/// to the allocations that pointers in the parameter block name and that reach it through whatever arithmetic; a
/// pointer that is itself loaded from memory (8 bytes and more at once) can point anywhere, and so can an address that
/// no pointer reaches. Followed forwards over the control flow, local memory as a whole.
[[nodiscard]] std::vector<Allocations> accessed_allocations(const DecodedKernel& kernel, const ControlFlow& flow,
                                                            const LaunchParameters& launch);

}  // namespace tilesim::traces
