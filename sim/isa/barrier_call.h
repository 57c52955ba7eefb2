// What a BAR instruction asks for.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "model/result.h"
#include "sim/isa/stream.h"

namespace tilesim::isa {

inline constexpr std::uint32_t kBarriersPerCta = 16;

struct BarrierCall {
  std::uint32_t barrier = 0;
  std::uint32_t warps = 0;  ///< that take part; 0: all of the CTA that have not exited
  bool arrives_only = false;

  /// What an executed BAR with an active lane asks for: from the instruction, or, where that takes its operands from
  /// registers, from what report() left in the active lanes' addresses.
  [[nodiscard]] static BarrierCall of(const Instruction& bar, const DynamicInstruction& executed) {
    if (!bar.barrier_from_registers) {
      return {bar.barrier_id, bar.barrier_warps, bar.barrier_arrives};
    }
    const std::uint64_t packed = executed.addresses[static_cast<std::size_t>(std::countr_zero(executed.active_mask))];
    return {static_cast<std::uint32_t>(packed & 0xff), static_cast<std::uint32_t>(packed >> 8 & 0xff),
            bar.barrier_arrives};
  }
  void report(DynamicInstruction& executed) const { executed.addresses.fill(std::uint64_t{warps} << 8 | barrier); }
  /// False for what no CTA of so many warps can ask for.
  [[nodiscard]] bool possible(std::uint32_t cta_warps) const { return barrier < kBarriersPerCta && warps <= cta_warps; }
};

/// What ends a run in which warps wait at barriers for ever; `where`: the file or kernel.
[[nodiscard]] inline tl::unexpected<Error> barriers_never_fill(std::string where) {
  return fail(ErrorKind::kUsage, "The warps of a CTA wait at barriers that never fill.",
              "Check the block size, and the numbers of threads that the kernel gives its barriers.", std::move(where));
}

/// True for a BAR that is not simply a meeting of all warps of the CTA.
[[nodiscard]] constexpr bool is_partial_barrier(const Instruction& instruction) {
  return instruction.barrier_from_registers || instruction.barrier_arrives || instruction.barrier_warps != 0;
}

/// True if executions of the instruction with an active lane carry addresses.
[[nodiscard]] constexpr bool carries_addresses(const Instruction& instruction) {
  return instruction.memory != MemoryOp::kNone || instruction.barrier_from_registers;
}

}  // namespace tilesim::isa
