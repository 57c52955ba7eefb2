#include "traces/emulator/micro_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/emulator/executor.h"
#include "traces/emulator/operand_resolver.h"
#include "traces/emulator/supported.h"
#include "traces/sass/dependences.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

constexpr std::uint32_t kInstructionBytes = 16;
using Arithmetic = OperandResolver::Arithmetic;

PredicateSource predicate_source(const Operand& operand) {
  if (operand.kind == OperandKind::kNone) {
    return {};
  }
  return {operand.index, operand.negated, operand.kind == OperandKind::kUniformPredicate};
}

class Compiler {
 public:
  Compiler(const DecodedKernel& kernel, const LaunchParameters& launch, Selection selection)
      : kernel_(kernel), launch_(launch), selection_(selection), resolver_(launch) {}

  Result<MicroProgram> run();

 private:
  Action add(std::size_t index, bool needed);
  Action add_memory(const SassInstruction& in, bool needed);
  Action add_local(const SassInstruction& in, MemoryOperation out, bool needed);
  Action add_matrix(const SassInstruction& in);
  template <std::size_t N>
  void add_rows(const Operand& operand, std::size_t count, std::array<std::uint16_t, N>& out);
  void add_copy(const SassInstruction& in, MemoryOperation& out);
  Action add_branch(const SassInstruction& in, Action action);
  Operation operation(const SassInstruction& in);
  void specialise(const SassInstruction& in, Operation& out);
  void load_constant(const SassInstruction& in, Operation& out);
  void read_special(const SassInstruction& in, Operation& out);
  void reject(std::string why) { problem_ = std::move(why); }
  void require(bool met, const char* why) {
    if (!met) {
      reject(why);
    }
  }
  [[nodiscard]] Result<void> check_parameters(std::size_t index) const;
  [[nodiscard]] tl::unexpected<Error> failure(std::size_t index, const std::string& why) const;
  void link_slices();

  const DecodedKernel& kernel_;
  const LaunchParameters& launch_;
  Selection selection_;
  OperandResolver resolver_;
  MicroProgram program_;
  std::optional<std::string> problem_;
};

tl::unexpected<Error> Compiler::failure(std::size_t index, const std::string& why) const {
  return fail(ErrorKind::kUsage, fmt::format("'{}' cannot be emulated: {}.", kernel_.text[index], why),
              "This version emulates sm_90 GEMM kernels without data-dependent control flow.", kernel_.where(index));
}

// Every constant that the code reads, needed or not, must lie inside what the launch passes.
Result<void> Compiler::check_parameters(std::size_t index) const {
  const SassInstruction& in = kernel_.instructions[index];
  for (const Operand& operand : in.operands) {
    if (operand.kind != OperandKind::kConstant || operand.bank != 0) {
      continue;
    }
    const bool load = in.opcode == Opcode::kLdc || in.opcode == Opcode::kUldc;
    const std::int64_t end = operand.value + (load ? access_bytes(in) : in.opcode == Opcode::kImadWide ? 8 : 4);
    const auto passed = static_cast<std::int64_t>(launch_.arguments.block.size());
    if (end > kParameterOffset + passed && operand.value >= kParameterOffset) {
      return fail(
          ErrorKind::kUsage,
          fmt::format("'{}' reads parameter bytes {} to {}, but the arguments end after {} bytes.", kernel_.text[index],
                      operand.value - kParameterOffset, end - kParameterOffset - 1, passed),
          "Pass every argument of the kernel, in order, with its type.", kernel_.where(index));
    }
  }
  return {};
}

// LDGSTS: the shared side, and the predicate that chooses between data and zeros.
void Compiler::add_copy(const SassInstruction& in, MemoryOperation& out) {
  out.shared_low = resolver_.row(in.operand(Role::kSharedAddress).index);
  out.shared_offset = static_cast<std::int32_t>(in.operand(Role::kSharedAddress).value);
  out.bypass = in.modifier(Modifier::kAccess) == 0;
  out.copies = predicate_source(in.operand(Role::kPredicateIn));
  require(out.bytes >= 4, "copies of less than 4 bytes do not exist");
}

// Rows of an instruction's registers from the operand's on.
template <std::size_t N>
void Compiler::add_rows(const Operand& operand, std::size_t count, std::array<std::uint16_t, N>& out) {
  out.fill(kNoDestination);
  for (std::size_t i = 0; i < count && operand.index != kRegisterRz; ++i) {
    out[i] = resolver_.row(operand.index + static_cast<unsigned>(i));
  }
}

Action Compiler::add_matrix(const SassInstruction& in) {
  MatrixOperation out;
  const bool deep = in.modifier(Modifier::kMatrixShape) != 0;
  out.type =
      in.modifier(Modifier::kMatrixType) != 0 ? MatrixOperation::Type::kBfloat16 : MatrixOperation::Type::kFloat16;
  out.depth = deep ? 16 : 8;
  out.half_accumulator = in.modifier(Modifier::kAccumulator) == 0;
  add_rows(in.operand(Role::kA), deep ? 4 : 2, out.a);
  add_rows(in.operand(Role::kB), deep ? 2 : 1, out.b);
  add_rows(in.operand(Role::kC), out.half_accumulator ? 2 : 4, out.c);
  add_rows(in.operand(Role::kDestination), out.half_accumulator ? 2 : 4, out.d);
  program_.operand_index.push_back(static_cast<std::uint32_t>(program_.matrices.size()));
  program_.matrices.push_back(out);
  return Action::kMatrix;
}

Action Compiler::add_local(const SassInstruction& in, MemoryOperation out, bool needed) {
  if (needed) {
    add_rows(in.operand(out.store ? Role::kB : Role::kDestination), std::max(1U, out.bytes / 4U), out.words);
  }
  program_.operand_index.push_back(static_cast<std::uint32_t>(program_.memory.size()));
  program_.memory.push_back(out);
  return needed ? Action::kSpill : Action::kLocal;
}

Action Compiler::add_memory(const SassInstruction& in, bool needed) {
  const Operand& address = in.operand(Role::kAddress);
  MemoryOperation out;
  out.low = resolver_.row(address.index);
  if (address.wide && address.index != kRegisterRz) {
    out.high = resolver_.row(address.index + 1U);
  }
  out.uniform = address.uniform;
  out.offset = static_cast<std::int32_t>(address.value);
  out.bytes = static_cast<std::uint8_t>(access_bytes(in));
  const isa::MemoryOp memory = in.row->memory;
  out.store = memory == isa::MemoryOp::kStoreShared || memory == isa::MemoryOp::kStoreGlobal;
  out.sign = in.modifier(Modifier::kWidth) == 1 || in.modifier(Modifier::kWidth) == 3;
  if (in.row->local) {
    return add_local(in, out, needed);
  }
  if (memory == isa::MemoryOp::kCopyAsync) {
    add_copy(in, out);
  } else if (memory == isa::MemoryOp::kLoadMatrix) {
    out.matrices = static_cast<std::uint8_t>(1U << in.modifier(Modifier::kMatrixCount));
    out.transposed = in.modifier(Modifier::kTranspose) != 0;
  }
  if (selection_ == Selection::kAll && memory != isa::MemoryOp::kCopyAsync) {
    const std::size_t count = out.matrices != 0 ? out.matrices : std::max(1U, out.bytes / 4U);
    add_rows(in.operand(out.store ? Role::kB : Role::kDestination), count, out.words);
  }
  program_.operand_index.push_back(static_cast<std::uint32_t>(program_.memory.size()));
  program_.memory.push_back(out);
  return memory == isa::MemoryOp::kCopyAsync ? Action::kCopy
         : isa::is_global(memory)            ? Action::kGlobal
                                             : Action::kShared;
}

Action Compiler::add_branch(const SassInstruction& in, Action action) {
  BranchOperation out;
  if (action == Action::kBranch) {
    out.target = static_cast<std::uint32_t>(in.operand(Role::kB).value) / kInstructionBytes;
  }
  if (action == Action::kDiverge || action == Action::kConverge) {
    out.barrier = in.operand(Role::kA).index;
  }
  out.condition = predicate_source(in.operand(Role::kPredicateIn));
  program_.operand_index.push_back(static_cast<std::uint32_t>(program_.branches.size()));
  program_.branches.push_back(out);
  return action;
}

void Compiler::load_constant(const SassInstruction& in, Operation& out) {
  const int bytes = access_bytes(in);
  if (bytes != 4 && bytes != 8) {
    reject(fmt::format("constant loads of {} bytes are not supported yet", bytes));
    return;
  }
  for (std::size_t part = 0; part < static_cast<std::size_t>(bytes) / 4; ++part) {
    out.b[part] = resolver_.source(in.operand(Role::kB), static_cast<int>(part), Arithmetic::kInteger);
  }
}

void Compiler::read_special(const SassInstruction& in, Operation& out) {
  const std::int64_t number = in.operand(Role::kB).value;
  const std::string_view name = special_register_name(number);
  out.immediate = static_cast<std::uint8_t>(number);
  const bool zero = in.opcode == Opcode::kCs2r && number == kSrZero;
  const bool per_lane = number >= kSrLaneId && number <= kSrTidZ;
  if (!zero && (in.opcode == Opcode::kCs2r || name.empty() || (out.uniform && per_lane))) {
    reject(
        fmt::format("special register {} is not supported", name.empty() ? std::to_string(number) : std::string(name)));
  }
}

// The function of an opcode; nullopt for what cannot be computed.
std::optional<Function> function_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kMov:
    case Opcode::kUmov:
    case Opcode::kHfma2Mma:
    case Opcode::kLdc:
    case Opcode::kUldc:
    case Opcode::kCs2r:
      return Function::kMove;
    case Opcode::kS2r:
    case Opcode::kS2ur:
      return Function::kSpecial;
    case Opcode::kIadd3:
    case Opcode::kUiadd3:
    case Opcode::kViadd:
      return Function::kAdd3;
    case Opcode::kImad:
    case Opcode::kUimad:
      return Function::kMultiplyAdd;
    case Opcode::kImadWide:
    case Opcode::kUimadWide:
      return Function::kMultiplyAddWide;
    case Opcode::kImadHigh:
      return Function::kMultiplyAddHigh;
    case Opcode::kIabs:
      return Function::kAbsolute;
    case Opcode::kVimnmx:
      return Function::kMinimum;
    case Opcode::kViaddmnmx:
      return Function::kAddMinimum;
    case Opcode::kPlop3:
      return Function::kPredicateLogic;
    case Opcode::kVoteu:
      return Function::kVote;
    case Opcode::kI2f:
      return Function::kIntegerToFloat;
    case Opcode::kF2i:
      return Function::kFloatToInteger;
    case Opcode::kMufu:
      return Function::kSpecialFunction;
    case Opcode::kLea:
    case Opcode::kUlea:
      return Function::kLea;
    case Opcode::kShf:
    case Opcode::kUshf:
      return Function::kShift;
    case Opcode::kLop3:
    case Opcode::kUlop3:
      return Function::kLogic;
    case Opcode::kIsetp:
    case Opcode::kUisetp:
      return Function::kCompare;
    case Opcode::kSel:
    case Opcode::kUsel:
      return Function::kSelect;
    case Opcode::kPrmt:
    case Opcode::kUprmt:
      return Function::kPermute;
    case Opcode::kFfma:
      return Function::kFloatFma;
    case Opcode::kFadd:
      return Function::kFloatAdd;
    case Opcode::kFmul:
      return Function::kFloatMultiply;
    default:
      return std::nullopt;
  }
}

// What an opcode's operation has beyond function and plain a, b, c; and the variants that are not supported.
void Compiler::specialise(const SassInstruction& in, Operation& out) {
  switch (in.opcode) {
    case Opcode::kMov:
      require(in.operand(Role::kImmediate).value == 0xf, "a partial MOV is not supported");
      break;
    case Opcode::kHfma2Mma:
      out.b[0] = out.c[0];
      require(in.operand(Role::kA).index == kRegisterRz && in.operand(Role::kB).index == kRegisterRz,
              "half-precision arithmetic is not supported yet");
      break;
    case Opcode::kLdc:
    case Opcode::kUldc:
      load_constant(in, out);
      break;
    case Opcode::kS2r:
    case Opcode::kS2ur:
    case Opcode::kCs2r:
      read_special(in, out);
      break;
    case Opcode::kImadWide:
    case Opcode::kUimadWide:
    case Opcode::kImadHigh:
      out.c[1] = resolver_.source(in.operand(Role::kC), 1, Arithmetic::kInteger);
      require(!in.operand(Role::kC).negated && !out.carry_in, "this form of IMAD.WIDE or IMAD.HI is not supported yet");
      break;
    case Opcode::kLea:
    case Opcode::kUlea:
      out.function = out.high ? Function::kLeaHigh : Function::kLea;
      out.is_signed = in.modifier(Modifier::kSignExtend) != 0;
      break;
    case Opcode::kShf:
    case Opcode::kUshf:
      out.is_signed = in.modifier(Modifier::kShiftType) % 2 == 0;
      out.wide = in.modifier(Modifier::kShiftType) < 2;
      break;
    case Opcode::kPlop3:
      out.immediate2 = static_cast<std::uint8_t>(in.operand(Role::kImmediate2).value);
      out.predicate_in3 = predicate_source(in.operand(Role::kPredicateIn3));
      break;
    case Opcode::kVoteu:
      out.immediate = in.modifier(Modifier::kVote);
      break;
    case Opcode::kI2f:
      out.immediate = in.modifier(Modifier::kIntegerSize);
      break;
    case Opcode::kMufu:
      out.immediate = in.modifier(Modifier::kFunction);
      require(is_known_function(out.immediate), "this function of MUFU is not supported yet");
      break;
    case Opcode::kPrmt:
    case Opcode::kUprmt:
      require(in.modifier(Modifier::kPermuteMode) == 0, "PRMT modes are not supported yet");
      break;
    default:
      break;
  }
}

Arithmetic arithmetic_of(const SassInstruction& in) {
  if (in.row->pipe == isa::Pipe::kFma || in.opcode == Opcode::kMufu || in.opcode == Opcode::kF2i) {
    return Arithmetic::kFloat;
  }
  const bool adds = in.opcode == Opcode::kIadd3 || in.opcode == Opcode::kUiadd3;
  return adds && in.modifier(Modifier::kCarry) != 0 ? Arithmetic::kInverting : Arithmetic::kInteger;
}

Operation Compiler::operation(const SassInstruction& in) {
  Operation out;
  out.uniform = in.row->uniform;
  out.is_signed = in.modifier(Modifier::kSigned) != 0;
  out.carry_in = in.modifier(Modifier::kCarry) != 0;
  out.high = in.modifier(Modifier::kHigh) != 0;
  out.right = in.modifier(Modifier::kShiftRight) != 0;
  out.wrap = in.modifier(Modifier::kShiftWrap) != 0;
  out.wide = in.modifier(Modifier::kExtended) != 0;
  out.compare = in.modifier(Modifier::kCompare);
  out.boolean = in.modifier(Modifier::kBoolean);
  out.rounding = in.modifier(Modifier::kRounding);
  out.immediate = static_cast<std::uint8_t>(in.operand(Role::kImmediate).value);
  const Arithmetic arithmetic = arithmetic_of(in);
  out.a.fill(resolver_.constant(0));
  out.b = out.c = out.a;
  if (in.opcode != Opcode::kLdc && in.opcode != Opcode::kUldc) {
    out.a[0] = resolver_.source(in.operand(Role::kA), 0, arithmetic);
    out.b[0] = resolver_.source(in.operand(Role::kB), 0, arithmetic);
    out.c[0] = resolver_.source(in.operand(Role::kC), 0, arithmetic);
  }
  const auto function = function_of(in.opcode);
  require(function.has_value(), "its result is needed, and this version cannot compute it");
  out.function = function.value_or(Function::kMove);
  specialise(in, out);
  for (const OperandField& field : in.row->operands) {
    if (field.kind != FieldKind::kNone && field.role == Role::kDestination) {
      out.destination =
          resolver_.destination(in.operand(Role::kDestination), std::min(2, registers_spanned(in, field)));
    }
  }
  const auto index_of = [&in](Role role) {
    return in.operand(role).kind == OperandKind::kNone ? kPredicatePt : in.operand(role).index;
  };
  out.predicate_out = index_of(Role::kPredicateOut);
  out.predicate_out2 = index_of(Role::kPredicateOut2);
  out.predicate_in = predicate_source(in.operand(Role::kPredicateIn));
  out.predicate_in2 = predicate_source(in.operand(Role::kPredicateIn2));
  return out;
}

Action Compiler::add(std::size_t index, bool needed) {
  const SassInstruction& in = kernel_.instructions[index];
  if (in.row->memory != isa::MemoryOp::kNone) {
    return add_memory(in, needed);
  }
  switch (in.row->control) {
    case isa::ControlOp::kBranch:
      return add_branch(in, Action::kBranch);
    case isa::ControlOp::kExit:
      return add_branch(in, Action::kExit);
    case isa::ControlOp::kBarrier:
      program_.operand_index.push_back(0);
      return Action::kBarrier;
    case isa::ControlOp::kNone:
      if (in.opcode == Opcode::kBssy || in.opcode == Opcode::kBsync) {
        return add_branch(in, in.opcode == Opcode::kBssy ? Action::kDiverge : Action::kConverge);
      }
      if (needed && in.opcode == Opcode::kHmma) {
        return add_matrix(in);
      }
      if (needed && in.opcode != Opcode::kNop) {
        program_.operand_index.push_back(static_cast<std::uint32_t>(program_.operations.size()));
        program_.operations.push_back(operation(in));
        return Action::kCompute;
      }
      break;
    default:
      break;
  }
  program_.operand_index.push_back(0);
  return Action::kNothing;
}

void Compiler::link_slices() {
  const std::size_t count = program_.steps.size();
  program_.next_slice.resize(count);
  program_.next_global.resize(count);
  auto slice = static_cast<std::uint32_t>(count - 1);
  std::uint32_t global = slice;
  for (std::size_t i = count; i-- > 0;) {
    const Action action = program_.steps[i].action;
    const bool computes = action == Action::kCompute || action == Action::kSpill || action == Action::kMatrix ||
                          action >= Action::kBranch;
    slice = computes ? static_cast<std::uint32_t>(i) : slice;
    const bool stops = computes || action == Action::kGlobal || action == Action::kCopy;
    global = stops ? static_cast<std::uint32_t>(i) : global;
    program_.next_slice[i] = slice;
    program_.next_global[i] = global;
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
  Slice slice{std::vector<bool>(kernel_.instructions.size(), true)};
  if (selection_ == Selection::kSlice) {
    auto found = backward_slice(kernel_);
    if (!found) {
      return tl::unexpected<Error>(found.error());
    }
    slice = std::move(*found);
  }
  for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
    if (auto checked = check_parameters(i); !checked) {
      return tl::unexpected<Error>(checked.error());
    }
    if (const auto why = unsupported(kernel_.instructions[i])) {
      return failure(i, *why);
    }
    const Guard& guard = kernel_.instructions[i].guard;
    const Action action = add(i, slice.contains[i]);
    program_.steps.push_back({action, guard.predicate, guard.negated, guard.uniform});
    const auto unresolved = resolver_.take_problem();
    if (problem_ || unresolved) {
      return failure(i, problem_ ? *problem_ : *unresolved);
    }
  }
  program_.steps.push_back({Action::kEnd, kPredicatePt, false, false});
  program_.operand_index.push_back(0);
  program_.local_bytes = local_bytes(kernel_);
  program_.row_count = resolver_.row_count();
  program_.constants = resolver_.take_constants();
  link_slices();
  return std::move(program_);
}

}  // namespace

Result<MicroProgram> compile(const DecodedKernel& kernel, const LaunchParameters& launch, Selection selection) {
  return Compiler(kernel, launch, selection).run();
}

}  // namespace tilesim::traces
