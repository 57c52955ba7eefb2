#include "traces/sass/disassembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "traces/sass/instruction_table.h"
#include "traces/sass/operand_layout.h"

namespace tilesim::traces {
namespace {

constexpr std::int64_t kAllQuads = 0xf;
constexpr std::uint8_t kWordSize = 2;  // Modifier::kIntegerSize of 32 bits

enum class Style : std::uint8_t { kListing, kComplete };

std::string numbered(std::string_view prefix, unsigned number, unsigned none, std::string_view none_suffix) {
  return number == none ? fmt::format("{}{}", prefix, none_suffix) : fmt::format("{}{}", prefix, number);
}
std::string register_name(unsigned number) { return numbered("R", number, kRegisterRz, "Z"); }
std::string uniform_name(unsigned number) { return numbered("UR", number, kUniformUrz, "Z"); }

std::string signed_hex(std::int64_t value) {
  return value < 0 ? fmt::format("-0x{:x}", -value) : fmt::format("0x{:x}", value);
}

// As nvdisasm writes it, with its space after what is no number.
std::string real(double value) {
  if (std::isnan(value)) {
    return std::signbit(value) ? "-QNAN " : "+QNAN ";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-INF " : "+INF ";
  }
  if (value == 0 && std::signbit(value)) {
    return "-0.0 ";
  }
  constexpr double kFirstWithExponent = 1e9;
  return std::abs(value) < kFirstWithExponent ? fmt::format("{:.20g}", value) : fmt::format("{:.20e}", value);
}

double half_to_double(unsigned bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>(bits >> 10 & 0x1fU);
  const int mantissa = static_cast<int>(bits & 0x3ffU);
  if (exponent == 0x1f) {
    return std::copysign(mantissa != 0 ? std::nan("") : static_cast<double>(INFINITY), sign);
  }
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
}

double bfloat_to_double(unsigned bits) { return static_cast<double>(std::bit_cast<float>(bits << 16)); }

// What no number says: NaNs differ in their bits.
bool hides_bits(const SassInstruction& instruction, std::uint32_t bits, Format format) {
  const auto is_nan = [&instruction](unsigned half) {
    return std::isnan(instruction.modifier(Modifier::kPackedType) != 0 ? bfloat_to_double(half) : half_to_double(half));
  };
  return format == Format::kFloat ? std::isnan(std::bit_cast<float>(bits))
                                  : format == Format::kHalfPair && (is_nan(bits >> 16) || is_nan(bits & 0xffffU));
}

std::string immediate_text(const SassInstruction& instruction, const Operand& operand, Format format, Style style) {
  const auto bits = static_cast<std::uint32_t>(operand.value);
  if (style == Style::kComplete && hides_bits(instruction, bits, format)) {
    return fmt::format("0x{:x}", bits);
  }
  switch (format) {
    case Format::kHex:
      break;
    case Format::kSignedHex:
      return signed_hex(static_cast<std::int32_t>(bits));
    case Format::kFloat:
      return real(static_cast<double>(std::bit_cast<float>(bits)));
    case Format::kHalfPair: {
      const auto to_double = instruction.modifier(Modifier::kPackedType) != 0 ? bfloat_to_double : half_to_double;
      return fmt::format("{}, {}", real(to_double(bits >> 16)), real(to_double(bits & 0xffffU)));
    }
  }
  return fmt::format("0x{:x}", bits);
}

// Shared memory at a constant address is written without RZ.
bool shows_absolute(Opcode opcode) {
  return opcode == Opcode::kLds || opcode == Opcode::kSts || opcode == Opcode::kAtoms || opcode == Opcode::kAtomsCas;
}

std::string address_text(const SassInstruction& instruction, const Operand& operand, Style style) {
  constexpr std::string_view kScales[] = {"", ".X4", ".X8", ".X16"};
  constexpr int kFirstWithDescriptor = 90;
  const bool described = operand.wide && instruction.row->descriptor;
  const bool absolute = operand.index == kRegisterRz && operand.uniform == kUniformUrz && !operand.wide;
  const bool hides_scale = operand.scale != 0 && style == Style::kComplete;
  if (absolute && !hides_scale && shows_absolute(instruction.opcode)) {
    return operand.value == 0 ? "[RZ]" : fmt::format("[0x{:x}]", operand.value & 0xffffff);
  }
  std::string inside;
  if (operand.index != kRegisterRz || operand.uniform == kUniformUrz || operand.scale != 0) {
    inside = register_name(operand.index);
    inside += described ? ".64" : kScales[operand.scale & 3];
  }
  if (operand.uniform != kUniformUrz) {
    inside += fmt::format("{}{}", inside.empty() ? "" : "+", uniform_name(operand.uniform));
  }
  if (operand.value != 0) {
    inside += fmt::format("+{}", signed_hex(operand.value));
  }
  if (described && (instruction.architecture >= kFirstWithDescriptor || style == Style::kComplete)) {
    return fmt::format("desc[{}][{}]", uniform_name(operand.descriptor), inside);
  }
  return fmt::format("[{}]", inside);
}

// LDC has a register for the offset, which the others lack: it shows RZ where the offset is nothing else. What reads
// less than a word puts a space between bank and offset.
std::string constant_text(const SassInstruction& instruction, const Operand& operand) {
  const std::string offset = signed_hex(static_cast<std::int16_t>(operand.value));
  const bool small = (instruction.row->halves && instruction.opcode != Opcode::kHfma2Mma) ||
                     (instruction.opcode == Opcode::kI2f && instruction.modifier(Modifier::kIntegerSize) < kWordSize);
  const std::string_view space = small ? " " : "";
  if (operand.index == kRegisterRz && (operand.value != 0 || instruction.opcode != Opcode::kLdc)) {
    return fmt::format("c[0x{:x}]{}[{}]", operand.bank, space, offset);
  }
  return fmt::format("c[0x{:x}][{}{}]", operand.bank, register_name(operand.index),
                     operand.value == 0 ? "" : "+" + offset);
}

// RET shows where it goes if its registers are zero, BRX how far that is.
std::string indirect_text(const SassInstruction& instruction, const Operand& operand) {
  constexpr std::int64_t kInstructionBytes = 16;
  const std::int64_t next = static_cast<std::int64_t>(instruction.address) + kInstructionBytes;
  return fmt::format("{} {}", register_name(operand.index),
                     signed_hex(instruction.opcode == Opcode::kBrx ? operand.value - next : operand.value));
}

std::string plain_text(const SassInstruction& instruction, const Operand& operand, Format format, Style style) {
  switch (operand.kind) {
    case OperandKind::kRegister:
      return register_name(operand.index);
    case OperandKind::kUniformRegister:
      return uniform_name(operand.index);
    case OperandKind::kPredicate:
      return numbered("P", operand.index, kPredicatePt, "T");
    case OperandKind::kUniformPredicate:
      return numbered("UP", operand.index, kPredicatePt, "T");
    case OperandKind::kImmediate:
      return immediate_text(instruction, operand, format, style);
    case OperandKind::kConstant:
      return constant_text(instruction, operand);
    case OperandKind::kAddress:
      return address_text(instruction, operand, style);
    case OperandKind::kSpecialRegister: {
      const std::string_view name = special_register_name(operand.value, instruction.architecture);
      return name.empty() ? fmt::format("SR{}", operand.value) : std::string(name);
    }
    case OperandKind::kBranchTarget:
      return signed_hex(operand.value);
    case OperandKind::kIndirectTarget:
      return indirect_text(instruction, operand);
    case OperandKind::kPredicateSet:
      return "PR";
    case OperandKind::kScoreboard:
      return fmt::format("SB{}", operand.index);
    case OperandKind::kConvergence:
      return fmt::format("B{}", operand.index);
    case OperandKind::kNone:
      break;
  }
  return {};
}

char negation(const SassInstruction& instruction, const OperandField& field, const Operand& operand) {
  if (operand.kind == OperandKind::kPredicate || operand.kind == OperandKind::kUniformPredicate) {
    return '!';
  }
  const bool complement = field.inverts == Inverts::kAlways ||
                          (field.inverts == Inverts::kWithCarry && instruction.modifier(Modifier::kCarry) != 0);
  return complement ? '~' : '-';
}

std::string operand_text(const SassInstruction& instruction, const OperandField& field, Style style) {
  constexpr std::string_view kHalves[] = {"", "", ".H0_H0", ".H1_H1"};
  const Operand& operand = instruction.operand(field.role);
  std::string text = plain_text(instruction, operand, field.format, style);
  const std::string_view halves = kHalves[operand.halves & 3];
  const bool is_register = operand.kind == OperandKind::kRegister;
  text += is_register ? "" : halves;
  const bool sees_sign_only = instruction.modifier(Modifier::kWideResult) != 0 && field.role == Role::kA;
  if (operand.absolute && (!sees_sign_only || style == Style::kComplete)) {
    text = fmt::format("|{}|", text);
  }
  // Where another warp goes on, nothing is kept.
  if (operand.reuse && (instruction.control.yield_bit || style == Style::kComplete)) {
    text += ".reuse";
  }
  text += is_register ? halves : "";
  if (operand.negated) {
    text.insert(0, 1, negation(instruction, field, operand));
  }
  return text;
}

// CCTL.IVALL, whose address means nothing.
bool is_invalidation(const SassInstruction& instruction) {
  constexpr std::uint8_t kInvalidateAll = 4;
  return instruction.opcode == Opcode::kCctl && instruction.modifier(Modifier::kCacheOperation) == kInvalidateAll;
}

bool is_zero(const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kRegister:
      return operand.index == kRegisterRz;
    case OperandKind::kUniformRegister:
      return operand.index == kUniformUrz;
    default:
      return operand.value == 0;
  }
}

bool differs(const SassInstruction& instruction, const OperandField& field) {
  const auto layout = layout_of(*instruction.row, field, static_cast<Form>(instruction.form));
  return instruction.operand(field.role) != left_out(field, layout);
}

// Operands that are left out alike are told apart by their order: one stands for itself if those before it stand too.
bool must_stand(const SassInstruction& instruction, const OperandField& field) {
  const auto& fields = instruction.row->operands;
  const auto later_differs = [&instruction, &field](const OperandField& later) {
    return later.show == field.show && differs(instruction, later);
  };
  return differs(instruction, field) ||
         (field.show != Show::kAlways &&
          std::any_of(fields.begin() + (&field - fields.data()), fields.end(), later_differs));
}

bool is_shown(const SassInstruction& instruction, const OperandField& field, Style style) {
  const Operand& operand = instruction.operand(field.role);
  if (style == Style::kComplete && must_stand(instruction, field)) {
    return true;
  }
  if (const auto known = shown_by_modifiers(instruction, field)) {
    return *known;
  }
  switch (field.show) {
    case Show::kUnlessTrue:
      return operand.index != kPredicatePt || operand.negated;
    case Show::kIfPartial:
      return operand.value != kAllQuads;
    case Show::kUnlessZero:
      return !is_zero(operand);
    default:
      return true;
  }
}

bool is_zero_register(const Operand& operand) {
  return operand.kind == OperandKind::kRegister && operand.index == kRegisterRz;
}

// nvdisasm renames IMAD where it moves, adds or shifts; not where it shifts by 16 or 31, nor for a uniform c.
std::string_view imad_alias(const SassInstruction& instruction) {
  const Operand& a = instruction.operand(Role::kA);
  const Operand& b = instruction.operand(Role::kB);
  const Operand& c = instruction.operand(Role::kC);
  if (instruction.opcode != Opcode::kImad || instruction.modifier(Modifier::kCarry) != 0) {
    return {};
  }
  if ((is_zero_register(a) && b.kind == OperandKind::kRegister) || is_zero_register(b)) {
    return c.kind == OperandKind::kUniformRegister ? "" : ".MOV";
  }
  const auto factor = static_cast<std::uint32_t>(b.value);
  if (b.kind == OperandKind::kImmediate && factor == 0) {
    return ".MOV";
  }
  constexpr std::uint32_t kHalf = 0x10000;
  constexpr std::uint32_t kTop = 0x80000000;
  if (b.kind != OperandKind::kImmediate || !std::has_single_bit(factor) || factor == kHalf || factor == kTop) {
    return {};
  }
  if (is_zero_register(c)) {
    return factor == 1 || is_zero_register(a) ? ".MOV" : ".SHL";
  }
  return factor == 1 ? ".IADD" : "";
}

// I2F of less than 32 bits joins sign and size: .U8, .S16.
std::string_view modifier_name(const SassInstruction& instruction, const ModifierField& modifier) {
  constexpr std::string_view kSmall[2][2] = {{"U8", "U16"}, {"S8", "S16"}};
  const std::uint8_t size = instruction.modifier(Modifier::kIntegerSize);
  if (instruction.opcode == Opcode::kI2f && size < kWordSize && modifier.id != Modifier::kRounding) {
    return modifier.id == Modifier::kSigned ? "" : kSmall[instruction.modifier(Modifier::kSigned)][size];
  }
  if (is_invalidation(instruction)) {
    return modifier.id == Modifier::kCacheOperation ? "IVALL" : "";
  }
  return modifier.names[instruction.modifier(modifier.id)];
}

}  // namespace

std::string mnemonic_text(const SassInstruction& instruction) {
  std::string text(instruction.row->mnemonic);
  text += imad_alias(instruction);
  for (const ModifierField& modifier : instruction.row->modifiers) {
    if (modifier.id == Modifier::kNone) {
      break;
    }
    const std::string_view name = modifier_name(instruction, modifier);
    if (!name.empty()) {
      text += '.';
      text += name;
    }
  }
  return text;
}

std::optional<bool> shown_by_modifiers(const SassInstruction& instruction, const OperandField& field) {
  if (instruction.opcode == Opcode::kLea || instruction.opcode == Opcode::kUlea) {
    // LEA has a third source only in the .HI form, which with .SX32 makes it from the sign of the first.
    if (field.role == Role::kC) {
      return instruction.modifier(Modifier::kHigh) != 0 && instruction.modifier(Modifier::kSignExtend) == 0;
    }
  }
  if (is_invalidation(instruction)) {
    return false;
  }
  switch (field.show) {
    case Show::kAlways:
      return true;
    case Show::kIfCarry:
      return instruction.modifier(Modifier::kCarry) != 0;
    case Show::kIfExtended:
      return instruction.modifier(Modifier::kExtended) != 0;
    case Show::kIfMerged:
      return instruction.modifier(Modifier::kMerge) != 0;
    case Show::kUnlessMerged:
      return instruction.modifier(Modifier::kMerge) == 0;
    case Show::kUnlessTrue:
    case Show::kUnlessZero:
    case Show::kIfPartial:
      break;
  }
  return std::nullopt;
}

Operand left_out(const OperandField& field, const OperandLayout& layout) {
  Operand operand;
  const bool counts_threads = field.kind == FieldKind::kBarrierCount;  // none: the form with a number, not with RZ
  operand.kind = counts_threads ? OperandKind::kImmediate : layout.kind;
  operand.wide = layout.wide;
  operand.negated = field.show == Show::kIfCarry && layout.negate.count != 0;
  operand.value = field.show == Show::kIfPartial ? kAllQuads : 0;
  switch (operand.kind) {
    case OperandKind::kPredicate:
    case OperandKind::kUniformPredicate:
      operand.index = kPredicatePt;
      break;
    case OperandKind::kRegister:
    case OperandKind::kAddress:
    case OperandKind::kConstant:
      operand.index = kRegisterRz;
      break;
    case OperandKind::kUniformRegister:
      operand.index = kUniformUrz;
      break;
    default:
      break;
  }
  return operand;
}

namespace {

std::string text_of(const SassInstruction& instruction, Style style) {
  std::string text;
  const Guard& guard = instruction.guard;
  if (!guard.always()) {
    text = fmt::format("@{}{} ", guard.negated ? "!" : "",
                       numbered(guard.uniform ? "UP" : "P", guard.predicate, kPredicatePt, "T"));
  }
  text += mnemonic_text(instruction);
  const char* separator = " ";
  for (const OperandField& field : instruction.row->operands) {
    if (field.kind == FieldKind::kNone) {
      break;
    }
    if (is_shown(instruction, field, style)) {
      text += separator;
      text += operand_text(instruction, field, style);
      separator = ", ";
    }
  }
  if (text.back() == ' ') {
    text.pop_back();
  }
  return text;
}

}  // namespace

std::string disassemble(const SassInstruction& instruction) { return text_of(instruction, Style::kListing); }

std::string disassemble_completely(const SassInstruction& instruction) {
  return text_of(instruction, Style::kComplete);
}

}  // namespace tilesim::traces
