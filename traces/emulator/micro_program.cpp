#include "traces/emulator/micro_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/emulator/executor.h"
#include "traces/emulator/memory_effect.h"
#include "traces/emulator/operand_resolver.h"
#include "traces/sass/dependences.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

constexpr std::uint32_t kInstructionBytes = 16;
constexpr int kSrFirstLaneMask = 56;  // SR_EQMASK to SR_GEMASK
constexpr int kSrLastLaneMask = 60;
constexpr std::uint8_t kDoubleSize = 3;  // Modifier::kFloatSize and kSourceSize
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
      : kernel_(kernel), launch_(launch), selection_(selection), resolver_(kernel, launch) {
    program_.abi = abi_of(kernel.architecture);
  }

  Result<MicroProgram> run();

 private:
  Action add(std::size_t index, bool needed);
  Action add_memory(const SassInstruction& in, bool needed);
  Action add_local(const SassInstruction& in, MemoryOperation out, bool needed);
  Action add_matrix(const SassInstruction& in);
  Action add_atomic(const SassInstruction& in, bool needed);
  void classify_atomic(const SassInstruction& in, MemoryOperation& out);
  Action add_barrier(const SassInstruction& in);
  MemoryOperation memory_operation(const SassInstruction& in);
  void load_indexed_constant(const SassInstruction& in, Operation& out);
  void add_high_words(const SassInstruction& in, Operation& out, Arithmetic arithmetic);
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
              "Report the instruction to have it added.", kernel_.where(index));
}

// Every constant that the code reads, needed or not, must lie inside what the launch passes.
Result<void> Compiler::check_parameters(std::size_t index) const {
  const SassInstruction& in = kernel_.instructions[index];
  for (const Operand& operand : in.operands) {
    if (operand.kind != OperandKind::kConstant || operand.bank != 0) {
      continue;
    }
    const bool load = in.opcode == Opcode::kLdc || in.opcode == Opcode::kUldc;
    const std::int64_t first = program_.abi.parameter_offset;
    const bool indexed = operand.index != kRegisterRz;
    const std::int64_t end = operand.value + (load ? access_bytes(in) : in.opcode == Opcode::kImadWide ? 8 : 4);
    const auto passed = static_cast<std::int64_t>(launch_.arguments.block.size());
    if (!indexed && end > first + passed && operand.value >= first) {
      return fail(ErrorKind::kUsage,
                  fmt::format("'{}' reads parameter bytes {} to {}, but the arguments end after {} bytes.",
                              kernel_.text[index], operand.value - first, end - first - 1, passed),
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
  constexpr std::uint8_t kDepths[] = {8, 16, 4};  // by Modifier::kMatrixShape
  MatrixOperation out;
  out.type = static_cast<MatrixOperation::Type>(in.modifier(Modifier::kMatrixType));
  out.depth = kDepths[in.modifier(Modifier::kMatrixShape)];
  out.half_accumulator = in.modifier(Modifier::kAccumulator) == 0;
  const std::size_t parts = out.depth / (out.type == MatrixOperation::Type::kTf32 ? 4U : 8U);
  add_rows(in.operand(Role::kA), 2 * parts, out.a);
  add_rows(in.operand(Role::kB), parts, out.b);
  add_rows(in.operand(Role::kC), out.half_accumulator ? 2 : 4, out.c);
  add_rows(in.operand(Role::kDestination), out.half_accumulator ? 2 : 4, out.d);
  program_.operand_index.push_back(static_cast<std::uint32_t>(program_.matrices.size()));
  program_.matrices.push_back(out);
  return Action::kMatrix;
}

// Address, data rows and what is done with the word in memory.
Action Compiler::add_atomic(const SassInstruction& in, bool needed) {
  MemoryOperation out = memory_operation(in);
  AtomicOperation& atomic = out.atomic;
  atomic.global = in.opcode != Opcode::kAtoms && in.opcode != Opcode::kAtomsCas;
  out.moves = needed;
  classify_atomic(in, out);
  const std::size_t words = out.bytes / 4U;
  if (needed) {
    const bool swaps =
        in.opcode == Opcode::kAtomsCas || in.opcode == Opcode::kAtomgCas;  // [address], comparand, new value
    add_rows(in.operand(swaps ? Role::kC : Role::kB), words, out.words);
    add_rows(in.operand(Role::kB), swaps ? words : 0, atomic.comparand);
    const Operand& result = in.operand(Role::kDestination);
    add_rows(result, result.kind == OperandKind::kRegister ? words : 0, atomic.result);
  }
  program_.operand_index.push_back(static_cast<std::uint32_t>(program_.memory.size()));
  program_.memory.push_back(out);
  return Action::kAtomic;
}

// Kind, type and width, from the names of the table.
void Compiler::classify_atomic(const SassInstruction& in, MemoryOperation& out) {
  using Kind = AtomicOperation::Kind;
  using Type = AtomicOperation::Type;
  const std::uint8_t number = in.modifier(Modifier::kAtomic);
  std::string_view type;
  for (const ModifierField& field : in.row->modifiers) {
    if (field.id == Modifier::kAtomicType || field.id == Modifier::kFloatAtomicType) {
      type = field.names[in.modifier(field.id)];
      if (field.id == Modifier::kFloatAtomicType) {
        require(number == 0, "atomic minimum and maximum of floats are not supported yet");
      }
    }
  }
  out.atomic.kind = in.opcode == Opcode::kAtomgCas || (in.opcode == Opcode::kAtomsCas && number == 0)
                        ? Kind::kCompareSwap
                    : in.opcode == Opcode::kAtomsCas ? Kind::kTrySwap
                                                     : static_cast<Kind>(number);
  const bool wide = type == "64" || type == "S64";
  out.bytes = wide ? 8 : 4;
  if (type.empty() || type == "64") {
    out.atomic.type = Type::kUnsigned;
  } else if (type == "S32" || type == "S64") {
    out.atomic.type = Type::kSigned;
  } else if (type == "F32.FTZ.RN" || type == "F32.RN") {
    out.atomic.type = Type::kFloat;
  } else if (type == "F16x2.RN") {
    out.atomic.type = Type::kHalves;
  } else if (type == "BF16x2.RN") {
    out.atomic.type = Type::kBfloats;
  } else {
    reject(fmt::format("atomics of type {} are not supported yet", type));
  }
}

Action Compiler::add_local(const SassInstruction& in, MemoryOperation out, bool needed) {
  if (needed) {
    add_rows(in.operand(out.store ? Role::kB : Role::kDestination), std::max(1U, out.bytes / 4U), out.words);
  }
  program_.operand_index.push_back(static_cast<std::uint32_t>(program_.memory.size()));
  program_.memory.push_back(out);
  return needed ? Action::kSpill : Action::kLocal;
}

// Address and width.
MemoryOperation Compiler::memory_operation(const SassInstruction& in) {
  constexpr std::uint8_t kShifts[] = {0, 2, 3, 4};  // of .X1, .X4, .X8, .X16
  const Operand& address = in.operand(Role::kAddress);
  MemoryOperation out;
  out.low = resolver_.row(address.index);
  if (address.wide && address.index != kRegisterRz) {
    out.high = resolver_.row(address.index + 1U);
  }
  out.uniform = address.uniform;
  out.shift = kShifts[address.scale & 3];
  out.offset = static_cast<std::int32_t>(address.value);
  out.bytes = static_cast<std::uint8_t>(access_bytes(in));
  return out;
}

Action Compiler::add_memory(const SassInstruction& in, bool needed) {
  MemoryOperation out = memory_operation(in);
  const isa::MemoryOp memory = in.row->memory;
  out.store = memory == isa::MemoryOp::kStoreShared || memory == isa::MemoryOp::kStoreGlobal;
  out.sign = in.modifier(Modifier::kWidth) == 1 || in.modifier(Modifier::kWidth) == 3;
  const Operand& condition = in.operand(Role::kPredicateIn);
  require(memory == isa::MemoryOp::kCopyAsync || condition.kind == OperandKind::kNone ||
              (condition.index == kPredicatePt && !condition.negated),
          "its predicate is not supported yet");
  if (in.row->local) {
    return add_local(in, out, needed);
  }
  if (memory == isa::MemoryOp::kCopyAsync) {
    add_copy(in, out);
  } else if (memory == isa::MemoryOp::kLoadMatrix) {
    out.matrices = static_cast<std::uint8_t>(1U << in.modifier(Modifier::kMatrixCount));
    out.transposed = in.modifier(Modifier::kTranspose) != 0;
  }
  out.moves = needed;
  if (needed && memory != isa::MemoryOp::kCopyAsync) {
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
  const Operand& target = in.operand(Role::kB);
  if (action == Action::kBranch) {
    out.target = static_cast<std::uint32_t>(target.value) / kInstructionBytes;
  } else if (action == Action::kJump) {
    out.base = target.value;
    out.row = resolver_.row(target.index);
  } else if (action == Action::kEnlist || action == Action::kMeet) {
    out.barrier = in.operand(Role::kA).index;
  } else if (action == Action::kMeetLanes && in.operand(Role::kImmediate).kind == OperandKind::kImmediate) {
    out.lanes = static_cast<std::uint32_t>(in.operand(Role::kImmediate).value);
  }
  out.condition = predicate_source(in.operand(Role::kPredicateIn));
  program_.operand_index.push_back(static_cast<std::uint32_t>(program_.branches.size()));
  program_.branches.push_back(out);
  return action;
}

Action Compiler::add_barrier(const SassInstruction& in) {
  BarrierOperation out;
  const auto read = [this](const Operand& operand, std::uint16_t& row, std::uint32_t& value) {
    if (operand.kind == OperandKind::kRegister) {
      row = resolver_.row(operand.index);
    } else {
      value = static_cast<std::uint32_t>(operand.value);
    }
  };
  read(in.operand(Role::kImmediate), out.number_row, out.number);
  read(in.operand(Role::kImmediate2), out.threads_row, out.threads);
  out.arrives_only = in.modifier(Modifier::kBarrierMode) == 1;
  program_.operand_index.push_back(static_cast<std::uint32_t>(program_.barriers.size()));
  program_.barriers.push_back(out);
  return Action::kBarrier;
}

void Compiler::load_constant(const SassInstruction& in, Operation& out) {
  const Operand& operand = in.operand(Role::kB);
  const int bytes = access_bytes(in);
  if (operand.index != kRegisterRz && in.opcode == Opcode::kLdc) {
    load_indexed_constant(in, out);
    return;
  }
  if (bytes != 4 && bytes != 8) {
    reject(fmt::format("constant loads of {} bytes are not supported yet", bytes));
    return;
  }
  for (std::size_t part = 0; part < static_cast<std::size_t>(bytes) / 4; ++part) {
    out.b[part] = resolver_.source(operand, static_cast<int>(part), Arithmetic::kInteger);
  }
}

void Compiler::load_indexed_constant(const SassInstruction& in, Operation& out) {
  const Operand& operand = in.operand(Role::kB);
  Operand index;
  index.kind = OperandKind::kRegister;
  index.index = operand.index;
  out.function = Function::kIndexedConstant;
  out.a[0] = resolver_.source(index, 0, Arithmetic::kInteger);
  out.immediate = in.modifier(Modifier::kWidth);
  out.offset = static_cast<std::int32_t>(operand.value);
  out.bank = operand.bank;
  require(access_bytes(in) <= 8, "constant loads of 16 bytes are not supported yet");
  std::vector<std::byte> bytes;
  if (operand.bank == 0) {
    const auto passed = static_cast<std::uint32_t>(launch_.arguments.block.size());
    for (std::uint32_t place = 0; place < program_.abi.parameter_offset + passed; place += 4) {
      const std::uint32_t word = constant_word(launch_, kernel_.architecture, place).value_or(0);
      const auto* first = reinterpret_cast<const std::byte*>(&word);
      bytes.insert(bytes.end(), first, first + sizeof word);
    }
  } else if (const auto bank = kernel_.constant_banks.find(operand.bank); bank != kernel_.constant_banks.end()) {
    bytes = bank->second;
  } else {
    reject(fmt::format("constant bank {} is not known (a listing has none, a cubin has)", operand.bank));
  }
  program_.banks.resize(std::max<std::size_t>(program_.banks.size(), operand.bank + std::size_t{1}));
  program_.banks[operand.bank] = std::move(bytes);
}

void Compiler::read_special(const SassInstruction& in, Operation& out) {
  const std::int64_t number = in.operand(Role::kB).value;
  const std::string_view name = special_register_name(number);
  out.immediate = static_cast<std::uint8_t>(number);
  const bool zero = in.opcode == Opcode::kCs2r && number == kSrZero;
  const bool tid = number == kSrLaneId || (number >= kSrTidX && number <= kSrTidZ) ||
                   (number >= kSrFirstLaneMask && number <= kSrLastLaneMask);
  const bool known = tid || (number >= kSrCtaidX && number <= kSrCtaidZ) || number == kSrCgaCtaId || number == kSrZero;
  if (!zero && (in.opcode == Opcode::kCs2r || !known || (out.uniform && tid))) {
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
    case Opcode::kImnmx:
      return Function::kMinimum;
    case Opcode::kViaddmnmx:
      return Function::kAddMinimum;
    case Opcode::kPlop3:
      return Function::kPredicateLogic;
    case Opcode::kVoteu:
    case Opcode::kVote:
      return Function::kVote;
    case Opcode::kI2f:
    case Opcode::kI2fp:
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
    case Opcode::kFsel:
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
    case Opcode::kFmnmx:
      return Function::kFloatMinimum;
    case Opcode::kFsetp:
      return Function::kFloatCompare;
    case Opcode::kFchk:
      return Function::kDivisionCheck;
    case Opcode::kDfma:
      return Function::kDoubleFma;
    case Opcode::kDadd:
      return Function::kDoubleAdd;
    case Opcode::kDmul:
      return Function::kDoubleMultiply;
    case Opcode::kHfma2:
      return Function::kHalfFma;
    case Opcode::kHadd2:
      return Function::kHalfAdd;
    case Opcode::kHmul2:
      return Function::kHalfMultiply;
    case Opcode::kF2fp:
      return Function::kHalfPack;
    case Opcode::kF2f:
      return Function::kFloatToFloat;
    case Opcode::kI2f64:
      return Function::kWideIntegerToFloat;
    case Opcode::kF2i64:
      return Function::kFloatToWideInteger;
    case Opcode::kFlo:
    case Opcode::kUflo:
      return Function::kLeadingBit;
    case Opcode::kPopc:
    case Opcode::kUpopc:
      return Function::kCountBits;
    case Opcode::kBrev:
      return Function::kReverseBits;
    case Opcode::kShfl:
      return Function::kShuffle;
    case Opcode::kMovm:
      return Function::kTransposeMatrix;
    case Opcode::kR2ur:
      return Function::kToUniform;
    case Opcode::kP2r:
      return Function::kPredicatesToBits;
    case Opcode::kR2p:
      return Function::kBitsToPredicates;
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
      if (in.operand(Role::kA).index == kRegisterRz && in.operand(Role::kB).index == kRegisterRz) {
        out.b[0] = out.c[0];  // how ptxas spells a move of a constant
      } else {
        out.function = Function::kHalfFma;
      }
      break;
    case Opcode::kF2f:
      out.wide = in.modifier(Modifier::kSourceSize) == kDoubleSize;
      out.wide_result = in.modifier(Modifier::kFloatSize) == kDoubleSize;
      add_high_words(in, out, out.wide ? Arithmetic::kDouble : Arithmetic::kFloat);
      break;
    case Opcode::kDfma:
    case Opcode::kDadd:
    case Opcode::kDmul:
      add_high_words(in, out, Arithmetic::kDouble);
      require(out.rounding == 0, "directed rounding of double precision is not supported yet");
      break;
    case Opcode::kI2f64:
      out.b[1] = resolver_.source(in.operand(Role::kB), 1, Arithmetic::kInteger);
      break;
    case Opcode::kI2fp:
      out.immediate = 2;  // 32 bits, of Modifier::kIntegerSize
      break;
    case Opcode::kFlo:
    case Opcode::kUflo:
      out.immediate = in.modifier(Modifier::kShiftAmount);
      break;
    case Opcode::kShfl:
      out.immediate = in.modifier(Modifier::kShuffle);
      break;
    case Opcode::kP2r:
    case Opcode::kR2p:
      out.immediate = in.modifier(Modifier::kByte);
      break;
    case Opcode::kF2fp:
      out.bfloat = in.modifier(Modifier::kHalfType) != 0;
      out.merge = in.modifier(Modifier::kMerge) != 0;
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
    case Opcode::kVote:
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
      out.immediate = in.modifier(Modifier::kPermuteMode);
      break;
    default:
      break;
  }
}

Arithmetic arithmetic_of(const SassInstruction& in) {
  switch (in.opcode) {
    case Opcode::kFfma:
    case Opcode::kFadd:
    case Opcode::kFmul:
    case Opcode::kMufu:
    case Opcode::kF2i:
    case Opcode::kF2i64:
    case Opcode::kFsel:
    case Opcode::kFmnmx:
    case Opcode::kFsetp:
    case Opcode::kFchk:
    case Opcode::kF2fp:
      return Arithmetic::kFloat;
    case Opcode::kF2f:
      return in.modifier(Modifier::kSourceSize) == kDoubleSize ? Arithmetic::kDouble : Arithmetic::kFloat;
    case Opcode::kDfma:
    case Opcode::kDadd:
    case Opcode::kDmul:
      return Arithmetic::kDouble;
    case Opcode::kHfma2:
    case Opcode::kHfma2Mma:
    case Opcode::kHadd2:
    case Opcode::kHmul2:
      return Arithmetic::kHalf;
    case Opcode::kFlo:
    case Opcode::kUflo:
    case Opcode::kPopc:
    case Opcode::kUpopc:
      return Arithmetic::kInverting;
    default:
      break;
  }
  const bool adds = in.opcode == Opcode::kIadd3 || in.opcode == Opcode::kUiadd3 || in.opcode == Opcode::kImad ||
                    in.opcode == Opcode::kUimad;
  return adds && in.modifier(Modifier::kCarry) != 0 ? Arithmetic::kInverting : Arithmetic::kInteger;
}

// The high words of 64-bit sources.
void Compiler::add_high_words(const SassInstruction& in, Operation& out, Arithmetic arithmetic) {
  out.a[1] = resolver_.source(in.operand(Role::kA), 1, arithmetic);
  out.b[1] = resolver_.source(in.operand(Role::kB), 1, arithmetic);
  out.c[1] = resolver_.source(in.operand(Role::kC), 1, arithmetic);
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
  out.flush = in.modifier(Modifier::kFlushSubnormals) != 0;
  out.saturate = in.modifier(Modifier::kSaturate) != 0;
  out.bfloat = in.modifier(Modifier::kPackedType) != 0;
  out.wide_result = in.modifier(Modifier::kWideResult) != 0;
  out.merge = in.modifier(Modifier::kNotANumber) != 0;
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
  require(in.modifier(Modifier::kRelu) == 0, "its .RELU is not supported yet");
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
  const SassInstruction& in = kernel_.instructions[index];
  if (in.row->memory != isa::MemoryOp::kNone && !is_atomic(in.opcode)) {
    return add_memory(in, needed);
  }
  if (is_atomic(in.opcode)) {
    return add_atomic(in, needed);
  }
  if (const auto control = control_action(in)) {
    return add_branch(in, *control);
  }
  if (in.opcode == Opcode::kBar) {
    return add_barrier(in);
  }
  if (!needed || is_passed_over(in.opcode)) {
    program_.operand_index.push_back(0);
    return Action::kNothing;
  }
  if (in.opcode == Opcode::kHmma) {
    return add_matrix(in);
  }
  program_.operand_index.push_back(static_cast<std::uint32_t>(program_.operations.size()));
  program_.operations.push_back(operation(in));
  return Action::kCompute;
}

void Compiler::link_slices() {
  const std::size_t count = program_.steps.size();
  program_.next_slice.resize(count);
  program_.next_global.resize(count);
  auto slice = static_cast<std::uint32_t>(count - 1);
  std::uint32_t global = slice;
  for (std::size_t i = count; i-- > 0;) {
    const Action action = program_.steps[i].action;
    const bool moves = (action == Action::kShared || action == Action::kGlobal || action == Action::kCopy ||
                        action == Action::kAtomic) &&
                       program_.memory[program_.operand_index[i]].moves;
    const bool computes = moves || action == Action::kCompute || action == Action::kSpill ||
                          action == Action::kMatrix || action >= Action::kEnlist;
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
  Slice slice;
  if (selection_ == Selection::kSlice) {
    slice = backward_slice(kernel_, launch_);
  } else {
    slice.contains.assign(kernel_.instructions.size(), true);
    slice.memory = {~Allocations{0}, true, true};
  }
  program_.demanded = slice.memory;
  for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
    if (auto checked = check_parameters(i); !checked) {
      return tl::unexpected<Error>(checked.error());
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
