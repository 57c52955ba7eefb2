// The backward slice of a kernel: the instructions that addresses, guards, branches and exits depend on. Timing
// emulation executes these only; a GEMM's arithmetic stays outside.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/emulator/launch.h"
#include "traces/emulator/pointer_analysis.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// Memory whose contents decide something.
struct DemandedMemory {
  Allocations global = 0;  ///< allocations that are read for an address, a branch or a guard
  bool shared = false;
  bool global_written = false;  ///< an instruction of the slice writes to one of them
  [[nodiscard]] bool any() const { return global != 0 || shared; }
};

/// `contains[i]` tells whether instruction i must be executed for its result: its registers, or what it stores.
struct Slice {
  std::vector<bool> contains;
  DemandedMemory memory;
};

/// Demand analysis, backwards over the control flow graph until nothing changes. Demanded at an instruction: its guard;
/// the address registers of a memory access; what a branch, exit or barrier reads; and all sources of an instruction
/// that writes something demanded later. A write under a guard keeps the old value demanded. Flow-sensitive, so a
/// register that holds an address here and an accumulator there does not pull arithmetic in. Local memory is followed
/// word by word where the stack pointer addresses it, so that spilled addresses are known and spilled sums are not. A
/// demanded value that comes from global or shared memory makes that memory demanded: shared memory as a whole, global
/// memory by allocation (pointer_analysis.h); then all that may be stored there is demanded too.
[[nodiscard]] Slice backward_slice(const DecodedKernel& kernel, const LaunchParameters& launch);

/// What repeating a loop without looking at its accesses takes: the instructions of the body, in order, that the values
/// demanded at the loop's head and behind it and the loop's condition depend on. The branch itself is left out. Nullopt
/// if the body of backward branch `branch` holds another branch or an exit, or memory is demanded.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> loop_carried_slice(const DecodedKernel& kernel,
                                                                           const LaunchParameters& launch,
                                                                           std::uint32_t branch);

}  // namespace tilesim::traces
