#include "traces/emulator/warp_emulator.h"

#include <fmt/format.h>

#include "traces/emulator/executor.h"
#include "traces/emulator/functional_memory.h"

namespace tilesim::traces {
namespace {

constexpr const char* kLaunchRemedy =
    "Check the sizes in the arguments, the grid, the block and the shared memory against what the kernel expects.";
constexpr const char* kUniformRemedy = "Kernels whose warps branch as one are supported; this one does not.";

}  // namespace

void WarpEmulator::start(const WarpContext& context, const WarpPosition& position, LaneRow* rows, std::uint32_t live,
                         FunctionalMemory* memory) {
  context_ = &context;
  registers_.reset();
  registers_.rows = rows;
  position_ = position;
  live_ = live;
  memory_ = memory;
  trips_taken_ = 0;
  next_index_ = 0;
  exited_ = false;
}

bool WarpEmulator::refuse(std::uint32_t index, const std::string& why, const char* remedy) {
  const DecodedKernel& kernel = *context_->kernel;
  error_ = {
      ErrorKind::kUsage,
      fmt::format("'{}' (warp {} of CTA {}, {}, {}): {}.", kernel.text[index], position_.first_thread / isa::kWarpSize,
                  position_.cta[0], position_.cta[1], position_.cta[2], why),
      remedy, kernel.where(index)};
  return false;
}

bool WarpEmulator::step(isa::DynamicInstruction& out) {
  const Step step = context_->program->steps[next_index_];
  out.index = next_index_;
  out.active_mask = guarded(step);
  out.branch_taken = false;
  if (step.action == Action::kNothing) {
    ++next_index_;
    return true;
  }
  return act(step.action, out);
}

bool WarpEmulator::act(Action action, isa::DynamicInstruction& out) {
  switch (action) {
    case Action::kCompute:
      compute(out.index, out.active_mask);
      break;
    case Action::kShared:
      if (!access_shared(out)) {
        return false;
      }
      break;
    case Action::kGlobal:
      if (!access_global(out)) {
        return false;
      }
      break;
    case Action::kCopy:
      if (!copy_async(out)) {
        return false;
      }
      break;
    case Action::kBranch:
      if (!branch(out.index, out.active_mask, out.branch_taken)) {
        return false;
      }
      if (out.branch_taken && context_->skip && context_->skip->branch == out.index &&
          ++trips_taken_ == context_->skip->after) {
        return skip_trips();
      }
      return true;
    case Action::kExit:
      return exit(out.index, out.active_mask);
    case Action::kEnd:
      return refuse(out.index - 1, "the warp runs past the end of the code", "Pass the whole function's listing.");
    case Action::kNothing:
      break;
  }
  ++next_index_;
  return true;
}

void WarpEmulator::compute(std::uint32_t index, std::uint32_t mask) {
  const MicroProgram& program = *context_->program;
  execute(program.operations[program.operand_index[index]], mask, program, position_, registers_);
}

bool WarpEmulator::place_shared(const SharedAddress& address, isa::DynamicInstruction& out) {
  const std::uint64_t shared_bytes = context_->launch->shared_bytes;
  return shared_addresses(address, registers_, out.active_mask, shared_bytes, out.addresses) ||
         refuse(out.index, explain_shared(out.addresses, out.active_mask, address.bytes, shared_bytes), kLaunchRemedy);
}

bool WarpEmulator::access_shared(isa::DynamicInstruction& out) {
  const MemoryOperation& operation = memory_operation(out.index);
  if (!place_shared(shared_address(operation, registers_), out)) {
    return false;
  }
  if (memory_ != nullptr) {
    memory_->access(true, operation, out.addresses, out.active_mask, registers_.rows);
  }
  return true;
}

bool WarpEmulator::inside_allocation(const isa::DynamicInstruction& out, unsigned bytes) {
  const KernelArguments& arguments = context_->launch->arguments;
  for (std::size_t tried = 0; tried < arguments.allocations.size(); ++tried) {
    const Allocation& allocation = arguments.allocations[last_allocation_];
    if (all_inside(out.addresses, out.active_mask, bytes, allocation.address, allocation.bytes)) {
      return true;
    }
    last_allocation_ = last_allocation_ + 1 < arguments.allocations.size() ? last_allocation_ + 1 : 0;
  }
  // Lanes in different allocations, or a bad access.
  const std::string why = explain_global(out.addresses, out.active_mask, bytes, arguments);
  return why.empty() || refuse(out.index, why, kLaunchRemedy);
}

bool WarpEmulator::access_global(isa::DynamicInstruction& out) {
  const MemoryOperation& operation = memory_operation(out.index);
  global_addresses(operation, registers_, out.addresses);
  if (!inside_allocation(out, operation.bytes)) {
    return false;
  }
  if (memory_ != nullptr) {
    memory_->access(false, operation, out.addresses, out.active_mask, registers_.rows);
  }
  return true;
}

bool WarpEmulator::copy_async(isa::DynamicInstruction& out) {
  const MemoryOperation& operation = memory_operation(out.index);
  if (!place_shared(copy_destination(operation), out)) {
    return false;
  }
  global_addresses(operation, registers_, out.addresses);
  return inside_allocation(out, operation.bytes);
}

bool WarpEmulator::branch(std::uint32_t index, std::uint32_t mask, bool& taken) {
  const MicroProgram& program = *context_->program;
  const BranchOperation& operation = program.branches[program.operand_index[index]];
  const std::uint32_t taking = mask & registers_.holds(false, operation.condition.index, operation.condition.negated);
  if (taking != 0 && taking != live_) {
    return refuse(index, "divergent branch not supported yet", kUniformRemedy);
  }
  taken = taking != 0;
  if (taken && operation.target == index) {
    return refuse(index, "the warp branches to itself for ever", kLaunchRemedy);
  }
  next_index_ = taken ? operation.target : index + 1;
  return true;
}

bool WarpEmulator::exit(std::uint32_t index, std::uint32_t mask) {
  const MicroProgram& program = *context_->program;
  const BranchOperation& operation = program.branches[program.operand_index[index]];
  const std::uint32_t leaving = mask & registers_.holds(false, operation.condition.index, operation.condition.negated);
  if (leaving != 0 && leaving != live_) {
    return refuse(index, "exit of a part of the warp not supported yet", kUniformRemedy);
  }
  exited_ = leaving != 0;
  next_index_ = index + (exited_ ? 0 : 1);
  return true;
}

bool WarpEmulator::run_to_branch(BranchEvent& out) {
  const MicroProgram& program = *context_->program;
  out.taken = false;
  while (!exited_) {
    next_index_ = program.next_slice[next_index_];
    const std::uint32_t index = next_index_;
    const Step step = program.steps[index];
    const std::uint32_t mask = guarded(step);
    if (step.action == Action::kBranch) {
      out.index = index;
      return branch(index, mask, out.taken);
    }
    if (step.action == Action::kExit) {
      if (!exit(index, mask)) {
        return false;
      }
    } else if (step.action == Action::kEnd) {
      return refuse(index - 1, "the warp runs past the end of the code", "Pass the whole function's listing.");
    } else {
      compute(index, mask);
      ++next_index_;
    }
  }
  return true;
}

bool WarpEmulator::skip_straight_trips(const std::vector<std::uint32_t>& body) {
  const TripSkip& skip = *context_->skip;
  const MicroProgram& program = *context_->program;
  bool taken = true;
  for (std::uint64_t passed = 0; passed < skip.trips && taken; ++passed) {
    for (const std::uint32_t index : body) {
      compute(index, guarded(program.steps[index]));
    }
    if (!branch(skip.branch, guarded(program.steps[skip.branch]), taken)) {
      return false;
    }
  }
  return true;
}

bool WarpEmulator::skip_trips() {
  const TripSkip& skip = *context_->skip;
  if (context_->skip_body) {
    return skip_straight_trips(*context_->skip_body);
  }
  std::uint64_t passed = 0;
  BranchEvent event;
  while (passed < skip.trips && !exited_) {
    if (!run_to_branch(event)) {
      return false;
    }
    if (event.index == skip.branch) {
      ++passed;
      if (!event.taken) {
        break;
      }
    }
  }
  return true;
}

bool WarpEmulator::step_to_global(const isa::Program& /*program*/, isa::DynamicInstruction& out) {
  while (!exited_) {
    next_index_ = context_->program->next_global[next_index_];
    const Action action = context_->program->steps[next_index_].action;
    if (!step(out)) {
      return false;
    }
    if ((action == Action::kGlobal || action == Action::kCopy) && out.active_mask != 0) {
      return true;
    }
  }
  out.active_mask = 0;
  return true;
}

}  // namespace tilesim::traces
