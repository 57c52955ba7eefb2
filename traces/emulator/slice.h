// The backward slice of a kernel: the instructions that addresses, guards, branches and exits depend on. Timing
// emulation executes these only; a GEMM's arithmetic stays outside.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/result.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// `contains[i]` tells whether instruction i must be executed for its result.
struct Slice {
  std::vector<bool> contains;
};

/// Demand analysis, backwards over the control flow graph until nothing changes. Demanded at an instruction: its guard;
/// the address registers of a memory access; the condition of a branch or exit; and all sources of an instruction that
/// writes something demanded later. A write under a guard keeps the old value demanded. Flow-sensitive, so a register
/// that holds an address here and an accumulator there does not pull arithmetic in. Local memory is followed word by
/// word where the stack pointer addresses it, so that spilled addresses are known and spilled sums are not. Error
/// (kUsage, "FILE:LINE" in `where`): a demanded value is loaded from global or shared memory.
[[nodiscard]] Result<Slice> backward_slice(const DecodedKernel& kernel);

/// What repeating a loop without looking at its accesses takes: the instructions of the body, in order, that the values
/// demanded at the loop's head and behind it and the loop's condition depend on. The branch itself is left out. Nullopt
/// if the body of backward branch `branch` holds another branch or an exit.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> loop_carried_slice(const DecodedKernel& kernel,
                                                                           std::uint32_t branch);

}  // namespace tilesim::traces
