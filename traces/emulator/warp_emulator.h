// One warp under emulation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/isa/stream.h"
#include "traces/emulator/convergence.h"
#include "traces/emulator/memory_access.h"
#include "traces/emulator/memory_contents.h"
#include "traces/emulator/micro_program.h"
#include "traces/emulator/warp_registers.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

class CtaMemory;

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
  std::optional<TripSkip> skip{};
  std::optional<std::vector<std::uint32_t>> skip_body{};  ///< loop_carried_slice() of the skipped loop
  DeviceMemory* memory = nullptr;                         ///< null if no instruction needs data from memory
};

/// A branch as it was executed.
struct BranchEvent {
  std::uint32_t index = 0;
  bool taken = false;
};

class WarpEmulator final : public isa::WarpStream {
 public:
  /// Puts the warp at the kernel's first instruction. `rows` are zeroed registers; `live` its existing lanes. `memory`
  /// is null where no data are needed.
  void start(const WarpContext& context, const WarpPosition& position, LaneRow* rows, std::uint32_t live,
             CtaMemory* memory);

  [[nodiscard]] bool step(isa::DynamicInstruction& out) override;
  [[nodiscard]] bool step_to_global(const isa::Program& program, isa::DynamicInstruction& out) override;
  [[nodiscard]] const Error& error() const override { return error_; }

  /// Executes up to and including the next branch, without looking at memory accesses. At the warp's end exited() holds
  /// and `out.taken` is false. Does not apply the trip skip. False as for step().
  [[nodiscard]] bool run_to_branch(BranchEvent& out);

  [[nodiscard]] bool waits() const override { return repeats_ >= kFewRepeats; }
  /// After so many trips that read the same the stream ends with an error: a simulated wait of 0.1 s at 500 ns a trip.
  static constexpr std::uint32_t kMostRepeats = 200000;

 private:
  [[nodiscard]] std::uint32_t guarded(const Step& step) const {
    return step.always() ? convergence_.active()
                         : convergence_.active() & registers_.holds(step.guard_uniform, step.guard, step.guard_negated);
  }
  [[nodiscard]] const MemoryOperation& memory_operation(std::uint32_t index) const {
    return context_->program->memory[context_->program->operand_index[index]];
  }
  [[nodiscard]] const BranchOperation& branch_operation(std::uint32_t index) const {
    return context_->program->branches[context_->program->operand_index[index]];
  }
  bool act(Action action, isa::DynamicInstruction& out);
  bool act_on_control(Action action, isa::DynamicInstruction& out);
  bool compute(std::uint32_t index, std::uint32_t mask);
  bool place_shared(const SharedAddress& address, isa::DynamicInstruction& out);
  bool access_shared(isa::DynamicInstruction& out);
  bool load_matrices(const MemoryOperation& operation, isa::DynamicInstruction& out);
  bool multiply(const isa::DynamicInstruction& out);
  bool access_global(isa::DynamicInstruction& out);
  bool update(isa::DynamicInstruction& out);
  bool jump(std::uint32_t index, std::uint32_t mask, bool& jumped);
  bool copy_async(isa::DynamicInstruction& out);
  bool access_local(isa::DynamicInstruction& out, bool with_data);
  void move_local(const MemoryOperation& operation, const LaneAddresses& addresses, std::uint32_t mask);
  void remember_loads(const MemoryOperation& operation, const isa::DynamicInstruction& out);
  bool perform(std::uint32_t index);
  bool branch(std::uint32_t index, std::uint32_t mask, bool& taken);
  bool note_trip(std::uint32_t index);
  bool exit(std::uint32_t index, std::uint32_t mask, bool& jumped);
  bool go_on(std::uint32_t index, std::optional<std::uint32_t> next, bool& jumped);
  bool barrier(isa::DynamicInstruction& out);
  bool inside_allocation(const isa::DynamicInstruction& out, unsigned bytes, std::uint32_t mask);
  bool skip_trips();
  bool skip_straight_trips(const std::vector<std::uint32_t>& body);
  bool refuse(std::uint32_t index, const std::string& why, const char* remedy);
  static constexpr const char* kLaunchRemedy =
      "Check the sizes in the arguments, the grid, the block and the shared memory against what the kernel expects.";
  static constexpr const char* kStrays = "a load that decides what is executed leaves the allocation of its pointer";
  static constexpr const char* kStraysRemedy =
      "Check the offsets in the arguments, or give the pointer all that it reaches.";
  static constexpr const char* kUniformRemedy =
      "Such instructions are emulated where all lanes of the warp that are left execute them together.";

  const WarpContext* context_ = nullptr;
  WarpRegisters registers_;
  WarpPosition position_;
  Convergence convergence_;
  std::size_t last_allocation_ = 0;
  std::uint64_t trips_taken_ = 0;
  CtaMemory* memory_ = nullptr;
  std::vector<LaneRow> local_;  ///< words of local memory, lowest address first; empty until the first use
  /// What the last trip of a loop read: by backward branch, the sum of all that was read until it was last taken, and
  /// how much that was more than the time before.
  struct Trip {
    std::uint64_t sum = 0;
    std::uint64_t read = 0;
    std::uint32_t repeats = 0;
  };
  static constexpr std::uint32_t kFewRepeats = 8;
  std::vector<Trip> loops_;  ///< by instruction; empty until the first load of data
  std::uint64_t loads_ = 0;
  std::uint32_t repeats_ = 0;
  Error error_;
};

}  // namespace tilesim::traces
