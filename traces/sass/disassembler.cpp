#include "traces/sass/disassembler.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <string_view>

#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

std::string numbered(std::string_view prefix, unsigned number, unsigned none, std::string_view none_suffix) {
  return number == none ? fmt::format("{}{}", prefix, none_suffix) : fmt::format("{}{}", prefix, number);
}
std::string register_name(unsigned number) { return numbered("R", number, kRegisterRz, "Z"); }
std::string uniform_name(unsigned number) { return numbered("UR", number, kUniformUrz, "Z"); }

std::string signed_hex(std::int64_t value) {
  return value < 0 ? fmt::format("-0x{:x}", -value) : fmt::format("0x{:x}", value);
}

std::string real(double value) {
  if (std::isnan(value)) {
    return std::signbit(value) ? "-QNAN" : "+QNAN";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-INF" : "+INF";
  }
  return fmt::format("{:.20g}", value);
}

double half_to_double(unsigned bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>(bits >> 10 & 0x1fU);
  const int mantissa = static_cast<int>(bits & 0x3ffU);
  if (exponent == 0x1f) {
    return sign * (mantissa != 0 ? std::nan("") : static_cast<double>(INFINITY));
  }
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
}

std::string immediate_text(const Operand& operand, Format format) {
  const auto bits = static_cast<std::uint32_t>(operand.value);
  switch (format) {
    case Format::kHex:
      break;
    case Format::kSignedHex:
      return signed_hex(static_cast<std::int32_t>(bits));
    case Format::kFloat:
      return real(static_cast<double>(std::bit_cast<float>(bits)));
    case Format::kHalfPair:
      return fmt::format("{}, {}", real(half_to_double(bits >> 16)), real(half_to_double(bits & 0xffffU)));
  }
  return fmt::format("0x{:x}", bits);
}

std::string address_text(const Operand& operand) {
  std::string inside;
  if (operand.index != kRegisterRz || operand.uniform == kUniformUrz) {
    inside = register_name(operand.index) + (operand.wide && operand.index != kRegisterRz ? ".64" : "");
  }
  if (operand.uniform != kUniformUrz) {
    inside += fmt::format("{}{}", inside.empty() ? "" : "+", uniform_name(operand.uniform));
  }
  if (operand.value != 0) {
    inside += fmt::format("+{}", signed_hex(operand.value));
  }
  if (operand.descriptor != kUniformUrz) {
    return fmt::format("desc[{}][{}]", uniform_name(operand.descriptor), inside);
  }
  return fmt::format("[{}]", inside);
}

std::string constant_text(const Operand& operand) {
  if (operand.index == kRegisterRz) {
    return fmt::format("c[0x{:x}][0x{:x}]", operand.bank, operand.value);
  }
  const std::string offset = operand.value == 0 ? "" : fmt::format("+0x{:x}", operand.value);
  return fmt::format("c[0x{:x}][{}{}]", operand.bank, register_name(operand.index), offset);
}

std::string plain_text(const Operand& operand, Format format) {
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
      return immediate_text(operand, format);
    case OperandKind::kConstant:
      return constant_text(operand);
    case OperandKind::kAddress:
      return address_text(operand);
    case OperandKind::kSpecialRegister: {
      const std::string_view name = special_register_name(operand.value);
      return name.empty() ? fmt::format("SR{}", operand.value) : std::string(name);
    }
    case OperandKind::kBranchTarget:
      return signed_hex(operand.value);
    case OperandKind::kScoreboard:
      return fmt::format("SB{}", operand.index);
    case OperandKind::kConvergence:
      return fmt::format("B{}", operand.index);
    case OperandKind::kNone:
      break;
  }
  return {};
}

std::string operand_text(const SassInstruction& instruction, const OperandField& field) {
  const Operand& operand = instruction.operand(field.role);
  std::string text = plain_text(operand, field.format);
  if (operand.absolute) {
    text = fmt::format("|{}|", text);
  }
  if (operand.reuse) {
    text += ".reuse";
  }
  if (operand.negated) {
    const bool is_predicate = operand.kind == OperandKind::kPredicate || operand.kind == OperandKind::kUniformPredicate;
    const bool inverted = field.inverts && instruction.modifier(Modifier::kCarry) != 0;
    text.insert(0, 1, is_predicate ? '!' : inverted ? '~' : '-');
  }
  return text;
}

bool is_shown(const SassInstruction& instruction, const OperandField& field) {
  const Operand& operand = instruction.operand(field.role);
  if (instruction.opcode == Opcode::kLea || instruction.opcode == Opcode::kUlea) {
    // LEA has a third source only in the .HI form, which with .SX32 makes it from the sign of the first.
    if (field.role == Role::kC) {
      return instruction.modifier(Modifier::kHigh) != 0 && instruction.modifier(Modifier::kSignExtend) == 0;
    }
  }
  switch (field.show) {
    case Show::kAlways:
      return true;
    case Show::kUnlessTrue:
      return operand.index != kPredicatePt || operand.negated;
    case Show::kIfCarry:
      return instruction.modifier(Modifier::kCarry) != 0;
    case Show::kIfExtended:
      return instruction.modifier(Modifier::kExtended) != 0;
    case Show::kIfPartial:
      return operand.value != 0xf;
    case Show::kUnlessZero:
      return operand.index != kUniformUrz;
  }
  return true;
}

bool is_zero_register(const Operand& operand) {
  return operand.kind == OperandKind::kRegister && operand.index == kRegisterRz;
}

// The disassembler renames IMAD where it moves, adds or shifts.
std::string_view imad_alias(const SassInstruction& instruction) {
  const Operand& b = instruction.operand(Role::kB);
  const bool immediate = b.kind == OperandKind::kImmediate;
  if (instruction.opcode != Opcode::kImad || instruction.modifier(Modifier::kCarry) != 0) {
    return {};
  }
  if (is_zero_register(instruction.operand(Role::kA)) && is_zero_register(b)) {
    return ".MOV";
  }
  if (immediate && b.value == 1) {
    return ".IADD";
  }
  if (immediate && std::has_single_bit(static_cast<std::uint32_t>(b.value)) &&
      is_zero_register(instruction.operand(Role::kC))) {
    return ".SHL";
  }
  return {};
}

std::string mnemonic_text(const SassInstruction& instruction) {
  std::string text(instruction.row->mnemonic);
  text += imad_alias(instruction);
  for (const ModifierField& modifier : instruction.row->modifiers) {
    if (modifier.id == Modifier::kNone) {
      break;
    }
    const std::string_view name = modifier.names[instruction.modifier(modifier.id)];
    if (!name.empty()) {
      text += '.';
      text += name;
    }
  }
  return text;
}

}  // namespace

std::string disassemble(const SassInstruction& instruction) {
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
    if (is_shown(instruction, field)) {
      text += separator;
      text += operand_text(instruction, field);
      separator = ", ";
    }
  }
  return text;
}

}  // namespace tilesim::traces
