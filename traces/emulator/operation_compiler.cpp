#include "traces/emulator/operation_compiler.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/emulator/executor.h"
#include "traces/sass/dependences.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

constexpr std::uint8_t kDoubleSize = 3;  // Modifier::kFloatSize and kSourceSize
using Arithmetic = OperandResolver::Arithmetic;

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

}  // namespace

void OperationCompiler::load_constant(const SassInstruction& in, Operation& out) {
  const Operand& operand = in.operand(Role::kB);
  const int bytes = access_bytes(in);
  if (operand.index != kRegisterRz && in.opcode == Opcode::kLdc) {
    load_indexed_constant(in, out);
    return;
  }
  if (bytes != 4 && bytes != 8) {
    state_.reject(fmt::format("constant loads of {} bytes are not supported yet", bytes));
    return;
  }
  for (std::size_t part = 0; part < static_cast<std::size_t>(bytes) / 4; ++part) {
    out.b[part] = state_.resolver.source(operand, static_cast<int>(part), Arithmetic::kInteger);
  }
}

void OperationCompiler::load_indexed_constant(const SassInstruction& in, Operation& out) {
  const Operand& operand = in.operand(Role::kB);
  Operand index;
  index.kind = OperandKind::kRegister;
  index.index = operand.index;
  out.function = Function::kIndexedConstant;
  out.a[0] = state_.resolver.source(index, 0, Arithmetic::kInteger);
  out.immediate = in.modifier(Modifier::kWidth);
  out.offset = static_cast<std::int32_t>(operand.value);
  out.bank = operand.bank;
  state_.require(access_bytes(in) <= 8, "constant loads of 16 bytes are not supported yet");
  std::vector<std::byte> bytes;
  if (operand.bank == 0) {
    const auto passed = static_cast<std::uint32_t>(state_.launch.arguments.block.size());
    for (std::uint32_t place = 0; place < state_.program.abi.parameter_offset + passed; place += 4) {
      const std::uint32_t word = constant_word(state_.launch, state_.kernel.architecture, place).value_or(0);
      const auto* first = reinterpret_cast<const std::byte*>(&word);
      bytes.insert(bytes.end(), first, first + sizeof word);
    }
  } else if (const auto bank = state_.kernel.constant_banks.find(operand.bank);
             bank != state_.kernel.constant_banks.end()) {
    bytes = bank->second;
  } else {
    state_.reject(fmt::format("constant bank {} is not known (a listing has none, a cubin has)", operand.bank));
  }
  state_.program.banks.resize(std::max<std::size_t>(state_.program.banks.size(), operand.bank + std::size_t{1}));
  state_.program.banks[operand.bank] = std::move(bytes);
}

void OperationCompiler::read_special(const SassInstruction& in, Operation& out) {
  const std::int64_t number = in.operand(Role::kB).value;
  const std::string_view name = special_register_name(number);
  out.immediate = static_cast<std::uint8_t>(number);
  const bool zero = in.opcode == Opcode::kCs2r && number == kSrZero;
  const bool tid = number == kSrLaneId || (number >= kSrTidX && number <= kSrTidZ) ||
                   (number >= kSrEqualMask && number <= kSrGreaterEqualMask);
  const bool known = tid || (number >= kSrCtaidX && number <= kSrCtaidZ) || number == kSrCgaCtaId || number == kSrZero;
  if (!zero && (in.opcode == Opcode::kCs2r || !known || (out.uniform && tid))) {
    state_.reject(
        fmt::format("special register {} is not supported", name.empty() ? std::to_string(number) : std::string(name)));
  }
}

// What an opcode's operation has beyond function and plain a, b, c; and the variants that are not supported.
void OperationCompiler::specialise(const SassInstruction& in, Operation& out) {
  switch (in.opcode) {
    case Opcode::kMov:
      state_.require(in.operand(Role::kImmediate).value == 0xf, "a partial MOV is not supported");
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
      state_.require(out.rounding == 0, "directed rounding of double precision is not supported yet");
      break;
    case Opcode::kI2f64:
      out.b[1] = state_.resolver.source(in.operand(Role::kB), 1, Arithmetic::kInteger);
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
      out.c[1] = state_.resolver.source(in.operand(Role::kC), 1, Arithmetic::kInteger);
      state_.require(!in.operand(Role::kC).negated && !out.carry_in,
                     "this form of IMAD.WIDE or IMAD.HI is not supported yet");
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
      state_.require(is_known_function(out.immediate), "this function of MUFU is not supported yet");
      break;
    case Opcode::kPrmt:
    case Opcode::kUprmt:
      out.immediate = in.modifier(Modifier::kPermuteMode);
      break;
    default:
      break;
  }
}

// The high words of 64-bit sources.
void OperationCompiler::add_high_words(const SassInstruction& in, Operation& out, Arithmetic arithmetic) {
  out.a[1] = state_.resolver.source(in.operand(Role::kA), 1, arithmetic);
  out.b[1] = state_.resolver.source(in.operand(Role::kB), 1, arithmetic);
  out.c[1] = state_.resolver.source(in.operand(Role::kC), 1, arithmetic);
}

Operation OperationCompiler::operation(const SassInstruction& in) {
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
  out.a.fill(state_.resolver.constant(0));
  out.b = out.c = out.a;
  if (in.opcode != Opcode::kLdc && in.opcode != Opcode::kUldc) {
    out.a[0] = state_.resolver.source(in.operand(Role::kA), 0, arithmetic);
    out.b[0] = state_.resolver.source(in.operand(Role::kB), 0, arithmetic);
    out.c[0] = state_.resolver.source(in.operand(Role::kC), 0, arithmetic);
  }
  const auto function = function_of(in.opcode);
  state_.require(function.has_value(), "its result is needed, and this version cannot compute it");
  out.function = function.value_or(Function::kMove);
  state_.require(in.modifier(Modifier::kRelu) == 0, "its .RELU is not supported yet");
  specialise(in, out);
  for (const OperandField& field : in.row->operands) {
    if (field.kind != FieldKind::kNone && field.role == Role::kDestination) {
      out.destination =
          state_.resolver.destination(in.operand(Role::kDestination), std::min(2, registers_spanned(in, field)));
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

}  // namespace tilesim::traces
