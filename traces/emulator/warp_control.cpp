// Where a warp's lanes go: branches, jumps, exits, barriers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "traces/emulator/cta_barriers.h"
#include "traces/emulator/warp_emulator.h"

namespace tilesim::traces {
namespace {

constexpr std::uint64_t kInstructionBytes = 16;

}  // namespace

bool WarpEmulator::act_on_control(Action action, isa::DynamicInstruction& out) {
  const std::uint32_t index = out.index;
  switch (action) {
    case Action::kBranch:
      if (!branch(index, out.active_mask, out.branch_taken)) {
        return false;
      }
      if (out.branch_taken && context_->skip && context_->skip->branch == index &&
          ++trips_taken_ == context_->skip->after) {
        return skip_trips();
      }
      return true;
    case Action::kJump:
      return jump(index, out.active_mask, out.branch_taken);
    case Action::kMeetLanes:
      if (out.active_mask == 0) {
        ++next_index_;
        return true;
      }
      return go_on(index, convergence_.meet_lanes(branch_operation(index).lanes, index + 1), out.branch_taken);
    case Action::kMeet:
      return go_on(index, convergence_.meet(branch_operation(index).barrier, index + 1), out.branch_taken);
    case Action::kExit:
      return exit(index, out.active_mask, out.branch_taken);
    default:
      return refuse(index - 1, "the warp runs past the end of the code", "Pass the whole function.");
  }
}

// A backward branch is taken. False if the loop has read the same for too long.
bool WarpEmulator::note_trip(std::uint32_t index) {
  if (loads_ == 0) {
    return true;
  }
  loops_.resize(context_->program->steps.size());
  Trip& trip = loops_[index];
  const std::uint64_t read = loads_ - trip.sum;
  constexpr std::uint32_t kOtherTrip = 64;  // what a trip that reads something else takes back
  trip.repeats = read == trip.read && read != 0 ? trip.repeats + 1 : trip.repeats - std::min(trip.repeats, kOtherTrip);
  trip.read = read;
  trip.sum = loads_;
  repeats_ = trip.repeats;
  return trip.repeats <= kMostRepeats ||
         refuse(
             index, fmt::format("{} trips of the loop read the same from memory: nobody changes it", kMostRepeats),
             "Check the initial contents of flags and semaphores, and that all CTAs that wait for each other fit the "
             "GPU at once.");
}

bool WarpEmulator::branch(std::uint32_t index, std::uint32_t mask, bool& taken) {
  const BranchOperation& operation = branch_operation(index);
  const std::uint32_t taking = mask & registers_.holds(false, operation.condition.index, operation.condition.negated);
  taken = taking != 0 && taking == convergence_.active();
  next_index_ = index + 1;
  if (taking == 0) {
    return true;
  }
  if (operation.target == index) {
    return refuse(index, "the warp branches to itself for ever", kLaunchRemedy);
  }
  if (operation.target < index && !note_trip(index)) {
    return false;
  }
  if (taken) {
    next_index_ = operation.target < index ? convergence_.jump_back(operation.target) : operation.target;
  } else {
    convergence_.put_off(taking, operation.target);  // those that go straight on do so first
  }
  return true;
}

// BRX, RET: lanes that go elsewhere than the first do so later.
bool WarpEmulator::jump(std::uint32_t index, std::uint32_t mask, bool& jumped) {
  const BranchOperation& operation = branch_operation(index);
  std::uint32_t left =
      mask & registers_.holds(operation.condition.uniform, operation.condition.index, operation.condition.negated);
  if (left == 0) {
    ++next_index_;
    return true;
  }
  if (left != convergence_.active()) {
    convergence_.put_off(convergence_.active() & ~left, index + 1);
  }
  const auto target_of = [&](std::uint32_t lanes) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
    const std::uint32_t word = operation.row == kNoDestination ? 0 : registers_.rows[operation.row].lane[lane];
    return static_cast<std::uint64_t>(operation.base + static_cast<std::int32_t>(word));
  };
  const std::uint64_t first = target_of(left);
  while (left != 0) {
    const std::uint64_t target = target_of(left);
    if (target % kInstructionBytes != 0 || target / kInstructionBytes >= context_->kernel->instructions.size()) {
      return refuse(index, fmt::format("it jumps to 0x{:x}, where no instruction is", target), kLaunchRemedy);
    }
    std::uint32_t same = 0;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      same |= target_of(rest) == target ? rest & (0U - rest) : 0U;
    }
    if (target != first) {
      convergence_.put_off(same, static_cast<std::uint32_t>(target / kInstructionBytes));
    }
    left &= ~same;
  }
  jumped = true;
  next_index_ = static_cast<std::uint32_t>(first / kInstructionBytes);
  return true;
}

// Continues where the convergence of lanes says.
bool WarpEmulator::go_on(std::uint32_t index, std::optional<std::uint32_t> next, bool& jumped) {
  if (!next) {
    return refuse(index, "lanes wait for others that never come",
                  "Check that every lane of the warp reaches the instructions that bring the lanes together.");
  }
  jumped = *next != index + 1;
  next_index_ = *next;
  return true;
}

bool WarpEmulator::exit(std::uint32_t index, std::uint32_t mask, bool& jumped) {
  const BranchOperation& operation = branch_operation(index);
  const std::uint32_t leaving = mask & registers_.holds(false, operation.condition.index, operation.condition.negated);
  if (leaving != 0 && convergence_.are_last(leaving)) {
    exited_ = true;
    next_index_ = index;
    return true;
  }
  return go_on(index, leaving == 0 ? index + 1 : convergence_.end(leaving, index + 1), jumped);
}

bool WarpEmulator::barrier(isa::DynamicInstruction& out) {
  const MicroProgram& program = *context_->program;
  const BarrierOperation& operation = program.barriers[program.operand_index[out.index]];
  if (out.active_mask == 0) {
    return true;
  }
  if (out.active_mask != convergence_.live()) {
    return refuse(out.index, "a barrier that only a part of the warp reaches", kUniformRemedy);
  }
  const auto lane = static_cast<std::size_t>(std::countr_zero(out.active_mask));
  const auto read = [&](std::uint16_t row, std::uint32_t value) {
    return row == kNoDestination ? value : registers_.rows[row].lane[lane];
  };
  const std::uint32_t number = read(operation.number_row, operation.number);
  const std::uint32_t threads = read(operation.threads_row, operation.threads);
  if (number >= isa::kBarriersPerCta || threads % isa::kWarpSize != 0 || threads > position_.block.count()) {
    return refuse(out.index,
                  fmt::format("barrier {} of {} threads: a CTA has barriers 0 to {}, for whole warps of its {} threads",
                              number, threads, isa::kBarriersPerCta - 1, position_.block.count()),
                  "Check the block size against what the kernel expects.");
  }
  isa::BarrierCall{number, threads / isa::kWarpSize, operation.arrives_only}.report(out);
  return true;
}

}  // namespace tilesim::traces
