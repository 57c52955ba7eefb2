// The dynamic half of an instruction stream. The machine pulls one instruction at a time, when it issues it, so streams
// are execution-driven and never materialised; loops stay loops.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "model/result.h"
#include "sim/isa/program.h"

namespace tilesim::isa {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// What one executed instruction did. `addresses` is valid for memory operations: byte addresses of each active
/// lane, global (64-bit virtual) or shared (offset in the CTA's shared window), inactive lanes unspecified. LDSM: the
/// active lanes are those whose addresses name a row of a matrix, the first 8, 16 or 32. It is also valid for barriers
/// that take their operands from registers, see BarrierCall.
struct DynamicInstruction {
  std::uint32_t index = 0;        ///< into Program::instructions
  std::uint32_t active_mask = 0;  ///< lanes that executed it, guard applied
  bool branch_taken = false;
  std::array<std::uint64_t, kWarpSize> addresses{};
};

/// One warp's instructions in program order.
class WarpStream {
 public:
  virtual ~WarpStream() = default;
  /// Index of the instruction that step() executes next. Meaningless once exited() holds.
  [[nodiscard]] std::uint32_t next_index() const { return next_index_; }
  /// True once the whole warp has executed EXIT.
  [[nodiscard]] bool exited() const { return exited_; }
  /// Warp instructions until exited() holds, those of loop trips that the stream passes over without reporting them
  /// included. Meaningless before.
  [[nodiscard]] std::uint64_t executed() const { return executed_; }
  /// Executes the next instruction and describes it in `out`. False when it cannot be executed (unknown behaviour, an
  /// access outside its allocation): then error() says why and the simulation ends.
  [[nodiscard]] virtual bool step(DynamicInstruction& out) = 0;
  [[nodiscard]] virtual const Error& error() const = 0;
  /// True while the warp reads the same from memory, trip after trip of a loop: it waits for what others store.
  [[nodiscard]] virtual bool waits() const { return false; }
  /// Executes up to and including the next access to global memory; `out.active_mask` is 0 when the warp exited first.
  /// Serves the SMs that are present as request generators only. False as for step().
  [[nodiscard]] virtual bool step_to_global(const Program& program, DynamicInstruction& out) {
    while (!exited_) {
      const MemoryOp op = program.instructions[next_index_].memory;
      if (!step(out)) {
        return false;
      }
      if (is_global(op) && out.active_mask != 0) {
        return true;
      }
    }
    out.active_mask = 0;
    return true;
  }

 protected:
  std::uint32_t next_index_ = 0;
  bool exited_ = false;
  std::uint64_t executed_ = 0;
};

/// The warps of one CTA; owns their state.
class CtaStream {
 public:
  virtual ~CtaStream() = default;
  [[nodiscard]] virtual int warp_count() const = 0;
  [[nodiscard]] virtual WarpStream& warp(int index) = 0;
};

/// A kernel launch as a source of instruction streams. open() may be called from several threads at once.
class KernelStream {
 public:
  virtual ~KernelStream() = default;
  [[nodiscard]] virtual const Program& program() const = 0;
  [[nodiscard]] virtual Dim3 grid() const = 0;
  [[nodiscard]] virtual Dim3 block() const = 0;
  /// True if streams depend on what other warps of the launch have stored (semaphores, counters, flags): then every
  /// warp must be stepped instruction by instruction, at the time it issues, by one thread.
  [[nodiscard]] virtual bool ordered() const { return false; }
  /// Starts CTA number `linear_id` (x fastest). `recycled` may hold a finished CTA's storage to use again, or be null.
  [[nodiscard]] virtual std::unique_ptr<CtaStream> open(std::uint64_t linear_id,
                                                        std::unique_ptr<CtaStream> recycled) const = 0;
};

}  // namespace tilesim::isa
