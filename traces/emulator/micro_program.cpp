#include "traces/emulator/micro_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/emulator/memory_compiler.h"
#include "traces/emulator/memory_effect.h"
#include "traces/emulator/operation_compiler.h"
#include "traces/sass/dependences.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

constexpr std::uint32_t kInstructionBytes = 16;

class Compiler {
 public:
  Compiler(const DecodedKernel& kernel, const LaunchParameters& launch, Selection selection)
      : state_(kernel, launch), selection_(selection), operations_(state_), memory_(state_) {
    state_.program.abi = abi_of(kernel.architecture);
  }

  Result<MicroProgram> run();

 private:
  Action add(std::size_t index, bool needed);
  Action add_barrier(const SassInstruction& in);
  Action add_branch(const SassInstruction& in, Action action);
  [[nodiscard]] Result<void> check_parameters(std::size_t index) const;
  [[nodiscard]] tl::unexpected<Error> failure(std::size_t index, const std::string& why) const;
  void link_slices();

  CompileState state_;
  Selection selection_;
  OperationCompiler operations_;
  MemoryCompiler memory_;
};

tl::unexpected<Error> Compiler::failure(std::size_t index, const std::string& why) const {
  return fail(ErrorKind::kUsage, fmt::format("'{}' cannot be emulated: {}.", state_.kernel.text[index], why),
              "Report the instruction to have it added.", state_.kernel.where(index));
}

// Every constant that the code reads, needed or not, must lie inside what the launch passes.
Result<void> Compiler::check_parameters(std::size_t index) const {
  const SassInstruction& in = state_.kernel.instructions[index];
  for (const Operand& operand : in.operands) {
    if (operand.kind != OperandKind::kConstant || operand.bank != 0) {
      continue;
    }
    const bool load = in.opcode == Opcode::kLdc || in.opcode == Opcode::kUldc;
    const std::int64_t first = state_.program.abi.parameter_offset;
    const bool indexed = operand.index != kRegisterRz;
    const std::int64_t end = operand.value + (load ? access_bytes(in) : in.opcode == Opcode::kImadWide ? 8 : 4);
    const auto passed = static_cast<std::int64_t>(state_.launch.arguments.block.size());
    if (!indexed && end > first + passed && operand.value >= first) {
      return fail(ErrorKind::kUsage,
                  fmt::format("'{}' reads parameter bytes {} to {}, but the arguments end after {} bytes.",
                              state_.kernel.text[index], operand.value - first, end - first - 1, passed),
                  "Pass every argument of the kernel, in order, with its type.", state_.kernel.where(index));
    }
  }
  return {};
}

Action Compiler::add_branch(const SassInstruction& in, Action action) {
  BranchOperation out;
  const Operand& target = in.operand(Role::kB);
  if (action == Action::kBranch) {
    out.target = static_cast<std::uint32_t>(target.value) / kInstructionBytes;
  } else if (action == Action::kJump) {
    out.base = target.value;
    out.row = state_.resolver.row(target.index);
  } else if (action == Action::kEnlist || action == Action::kMeet) {
    out.barrier = in.operand(Role::kA).index;
  } else if (action == Action::kMeetLanes && in.operand(Role::kImmediate).kind == OperandKind::kImmediate) {
    out.lanes = static_cast<std::uint32_t>(in.operand(Role::kImmediate).value);
  }
  out.condition = predicate_source(in.operand(Role::kPredicateIn));
  state_.program.operand_index.push_back(static_cast<std::uint32_t>(state_.program.branches.size()));
  state_.program.branches.push_back(out);
  return action;
}

Action Compiler::add_barrier(const SassInstruction& in) {
  BarrierOperation out;
  const auto read = [this](const Operand& operand, std::uint16_t& row, std::uint32_t& value) {
    if (operand.kind == OperandKind::kRegister) {
      row = state_.resolver.row(operand.index);
    } else {
      value = static_cast<std::uint32_t>(operand.value);
    }
  };
  read(in.operand(Role::kImmediate), out.number_row, out.number);
  read(in.operand(Role::kImmediate2), out.threads_row, out.threads);
  out.arrives_only = in.modifier(Modifier::kBarrierMode) == kBarrierArrives;
  state_.program.operand_index.push_back(static_cast<std::uint32_t>(state_.program.barriers.size()));
  state_.program.barriers.push_back(out);
  return Action::kBarrier;
}

// Instructions that move control, by opcode: not all have a ControlOp of the machine's.
std::optional<Action> control_action(const SassInstruction& in) {
  switch (in.opcode) {
    case Opcode::kBra:
    case Opcode::kCall:
      return Action::kBranch;
    case Opcode::kBrx:
    case Opcode::kRet:
      return Action::kJump;
    case Opcode::kExit:
      return Action::kExit;
    case Opcode::kBssy:
      return Action::kEnlist;
    case Opcode::kBsync:
      return Action::kMeet;
    case Opcode::kWarpsync:
      return Action::kMeetLanes;
    default:
      return std::nullopt;
  }
}

// Instructions that change neither registers nor memory.
bool is_passed_over(Opcode opcode) {
  switch (opcode) {
    case Opcode::kNop:
    case Opcode::kYield:
    case Opcode::kMembar:
    case Opcode::kErrbar:
    case Opcode::kCctl:
    case Opcode::kLdgdepbar:
    case Opcode::kDepbar:
    case Opcode::kNanosleep:
      return true;
    default:
      return false;
  }
}

Action Compiler::add(std::size_t index, bool needed) {
  const SassInstruction& in = state_.kernel.instructions[index];
  if (in.row->memory != isa::MemoryOp::kNone && !is_atomic(in.opcode)) {
    return memory_.add_memory(in, needed);
  }
  if (is_atomic(in.opcode)) {
    return memory_.add_atomic(in, needed);
  }
  if (const auto control = control_action(in)) {
    return add_branch(in, *control);
  }
  if (in.opcode == Opcode::kBar) {
    return add_barrier(in);
  }
  if (!needed || is_passed_over(in.opcode)) {
    state_.program.operand_index.push_back(0);
    return Action::kNothing;
  }
  if (in.opcode == Opcode::kHmma) {
    return memory_.add_matrix(in);
  }
  state_.program.operand_index.push_back(static_cast<std::uint32_t>(state_.program.operations.size()));
  state_.program.operations.push_back(operations_.operation(in));
  return Action::kCompute;
}

void Compiler::link_slices() {
  const std::size_t count = state_.program.steps.size();
  state_.program.next_slice.resize(count);
  state_.program.next_global.resize(count);
  auto slice = static_cast<std::uint32_t>(count - 1);
  std::uint32_t global = slice;
  for (std::size_t i = count; i-- > 0;) {
    const Action action = state_.program.steps[i].action;
    const bool moves = (action == Action::kShared || action == Action::kGlobal || action == Action::kCopy ||
                        action == Action::kAtomic) &&
                       state_.program.memory[state_.program.operand_index[i]].moves;
    const bool computes = moves || action == Action::kCompute || action == Action::kSpill ||
                          action == Action::kMatrix || action >= Action::kEnlist;
    slice = computes ? static_cast<std::uint32_t>(i) : slice;
    const bool stops = computes || action == Action::kGlobal || action == Action::kCopy;
    global = stops ? static_cast<std::uint32_t>(i) : global;
    state_.program.next_slice[i] = slice;
    state_.program.next_global[i] = global;
  }
}

// Local memory per thread: what the code takes off the stack pointer; all that a thread can have if that is not plain.
std::uint32_t local_bytes(const DecodedKernel& kernel) {
  std::int64_t taken = 0;
  bool accessed = false;
  for (const SassInstruction& in : kernel.instructions) {
    accessed = accessed || in.row->local;
    const Operand& destination = in.operand(Role::kDestination);
    if (destination.kind == OperandKind::kRegister && destination.index == kStackPointer &&
        in.operand(Role::kA).index == kStackPointer && in.operand(Role::kB).kind == OperandKind::kImmediate) {
      taken -= static_cast<std::int32_t>(in.operand(Role::kB).value);
    }
  }
  if (!accessed) {
    return 0;
  }
  return taken > 0 && taken <= kMaximumLocalBytes ? static_cast<std::uint32_t>(taken) / 16 * 16 + 16
                                                  : kMaximumLocalBytes;
}

Result<MicroProgram> Compiler::run() {
  Slice slice;
  if (selection_ == Selection::kSlice) {
    slice = backward_slice(state_.kernel, state_.launch);
  } else {
    slice.contains.assign(state_.kernel.instructions.size(), true);
    slice.memory = {~Allocations{0}, true, true};
  }
  state_.program.demanded = slice.memory;
  for (std::size_t i = 0; i < state_.kernel.instructions.size(); ++i) {
    if (auto checked = check_parameters(i); !checked) {
      return tl::unexpected<Error>(checked.error());
    }
    const Guard& guard = state_.kernel.instructions[i].guard;
    const Action action = add(i, slice.contains[i]);
    state_.program.steps.push_back({action, guard.predicate, guard.negated, guard.uniform});
    const auto unresolved = state_.resolver.take_problem();
    if (state_.problem || unresolved) {
      return failure(i, state_.problem ? *state_.problem : *unresolved);
    }
  }
  state_.program.steps.push_back({Action::kEnd, kPredicatePt, false, false});
  state_.program.operand_index.push_back(0);
  state_.program.local_bytes = local_bytes(state_.kernel);
  state_.program.row_count = state_.resolver.row_count();
  state_.program.constants = state_.resolver.take_constants();
  link_slices();
  return std::move(state_.program);
}

}  // namespace

Result<MicroProgram> compile(const DecodedKernel& kernel, const LaunchParameters& launch, Selection selection) {
  return Compiler(kernel, launch, selection).run();
}

}  // namespace tilesim::traces
