// One warp under emulation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/isa/stream.h"
#include "traces/emulator/memory_access.h"
#include "traces/emulator/micro_program.h"
#include "traces/emulator/warp_registers.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

class FunctionalMemory;

/// Skips trips of a loop: once a warp has executed branch `branch` taken `after` times (at least 1), it passes through
/// `trips` further executions of that branch without reporting anything, then goes on; if the loop ends first, so does
/// the skip.
struct TripSkip {
  std::uint32_t branch = 0;  ///< instruction index of the loop's backward branch
  std::uint64_t after = 1;
  std::uint64_t trips = 0;
};

/// What the warps of a kernel share.
struct WarpContext {
  const DecodedKernel* kernel = nullptr;
  const LaunchParameters* launch = nullptr;
  const MicroProgram* program = nullptr;
  std::optional<TripSkip> skip;
  std::optional<std::vector<std::uint32_t>> skip_body;  ///< loop_carried_slice() of the skipped loop
};

/// A branch as it was executed.
struct BranchEvent {
  std::uint32_t index = 0;
  bool taken = false;
};

class WarpEmulator final : public isa::WarpStream {
 public:
  /// Puts the warp at the kernel's first instruction. `rows` are zeroed registers; `live` its existing lanes. `memory`
  /// is null in timing mode.
  void start(const WarpContext& context, const WarpPosition& position, LaneRow* rows, std::uint32_t live,
             FunctionalMemory* memory);

  [[nodiscard]] bool step(isa::DynamicInstruction& out) override;
  [[nodiscard]] bool step_to_global(const isa::Program& program, isa::DynamicInstruction& out) override;
  [[nodiscard]] const Error& error() const override { return error_; }

  /// Executes up to and including the next branch, without looking at memory accesses. At the warp's end exited() holds
  /// and `out.taken` is false. Does not apply the trip skip. False as for step().
  [[nodiscard]] bool run_to_branch(BranchEvent& out);

 private:
  [[nodiscard]] std::uint32_t guarded(const Step& step) const {
    return step.always() ? active_ : active_ & registers_.holds(step.guard_uniform, step.guard, step.guard_negated);
  }
  [[nodiscard]] const MemoryOperation& memory_operation(std::uint32_t index) const {
    return context_->program->memory[context_->program->operand_index[index]];
  }
  bool act(Action action, isa::DynamicInstruction& out);
  void compute(std::uint32_t index, std::uint32_t mask);
  bool place_shared(const SharedAddress& address, isa::DynamicInstruction& out);
  bool access_shared(isa::DynamicInstruction& out);
  bool load_matrices(const MemoryOperation& operation, isa::DynamicInstruction& out);
  bool multiply(const isa::DynamicInstruction& out);
  bool access_global(isa::DynamicInstruction& out);
  bool copy_async(isa::DynamicInstruction& out);
  bool access_local(isa::DynamicInstruction& out, bool with_data);
  void move_local(const MemoryOperation& operation, const LaneAddresses& addresses, std::uint32_t mask);
  bool execute_plain(std::uint32_t index, std::uint32_t mask);
  bool branch(std::uint32_t index, std::uint32_t mask, bool& taken);
  bool exit(std::uint32_t index, std::uint32_t mask, bool& jumped);
  void diverge(std::uint32_t index, std::uint32_t mask);
  bool converge(std::uint32_t index, bool& jumped);
  bool next_path(std::uint32_t index);
  bool inside_allocation(const isa::DynamicInstruction& out, unsigned bytes, std::uint32_t mask);
  bool skip_trips();
  bool skip_straight_trips(const std::vector<std::uint32_t>& body);
  bool refuse(std::uint32_t index, const std::string& why, const char* remedy);

  const WarpContext* context_ = nullptr;
  WarpRegisters registers_;
  WarpPosition position_;
  /// Lanes that take another way than the active ones, and where they go on.
  struct Path {
    std::uint32_t mask = 0;
    std::uint32_t index = 0;
  };
  /// BSSY and BSYNC: who takes part, who waits, and behind which instruction they go on.
  struct Convergence {
    std::uint32_t members = 0;
    std::uint32_t waiting = 0;
    std::uint32_t index = 0;
  };

  std::uint32_t live_ = 0;    ///< lanes that have not exited
  std::uint32_t active_ = 0;  ///< lanes that execute now; all live ones unless the warp has diverged
  std::vector<Path> paths_;   ///< run after the present one, last first
  std::array<Convergence, 16> convergence_{};
  std::size_t last_allocation_ = 0;
  std::uint64_t trips_taken_ = 0;
  FunctionalMemory* memory_ = nullptr;
  std::vector<LaneRow> local_;  ///< words of local memory, lowest address first; empty until the first use
  Error error_;
};

}  // namespace tilesim::traces
