// How the rows of the instruction table are written down; only the files that hold rows include this.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>

#include "traces/sass/instruction_table.h"

namespace tilesim::traces::rows {

using isa::ControlOp;
using isa::MemoryOp;
using isa::Pipe;

/// The parts of the table, each in a file of its own.
[[nodiscard]] std::span<const InstructionRow> floating_point();
[[nodiscard]] std::span<const InstructionRow> integer();
[[nodiscard]] std::span<const InstructionRow> uniform();
[[nodiscard]] std::span<const InstructionRow> memory();
[[nodiscard]] std::span<const InstructionRow> control();

inline constexpr std::string_view kCompareNames[] = {"F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"};
inline constexpr std::string_view kBooleanNames[] = {"AND", "OR", "XOR"};
inline constexpr std::string_view kUnsignedNames[] = {"U32", ""};
inline constexpr std::string_view kExtendedNames[] = {"", "EX"};
inline constexpr std::string_view kHighNames[] = {"", "HI"};
inline constexpr std::string_view kCarryNames[] = {"", "X"};
inline constexpr std::string_view kSignExtendNames[] = {"", "SX32"};
inline constexpr std::string_view kShiftTypeNames[] = {"S64", "U64", "S32", "U32"};
inline constexpr std::string_view kShiftSideNames[] = {"L", "R"};
inline constexpr std::string_view kWrapNames[] = {"", "W"};
inline constexpr std::string_view kShiftAmountNames[] = {"", "SH"};
inline constexpr std::string_view kWidthNames[] = {"U8", "S8", "U16", "S16", "", "64", "128"};
inline constexpr std::string_view kConstantWidthNames[] = {"U8", "S8", "U16", "S16", "", "64"};
inline constexpr std::string_view kFlushNames[] = {"", "FTZ"};
inline constexpr std::string_view kRoundingNames[] = {"", "RM", "RP", "RZ"};
inline constexpr std::string_view kVoteNames[] = {"ALL", "ANY", "EQ"};

inline constexpr ModifierField kSigned{Modifier::kSigned, 73, 1, kUnsignedNames};
inline constexpr ModifierField kCarry{Modifier::kCarry, 74, 1, kCarryNames};
inline constexpr ModifierField kHigh{Modifier::kHigh, 80, 1, kHighNames};
inline constexpr ModifierField kWidth{Modifier::kWidth, 73, 3, kWidthNames};
inline constexpr ModifierField kConstantWidth{Modifier::kWidth, 73, 3, kConstantWidthNames};
inline constexpr ModifierField kFlush{Modifier::kFlushSubnormals, 80, 1, kFlushNames};

constexpr std::uint8_t forms(std::initializer_list<int> list) {
  unsigned mask = 0;
  for (const int form : list) {
    mask |= 1U << form;
  }
  return static_cast<std::uint8_t>(mask);
}
inline constexpr std::uint8_t kAllForms = forms({1, 2, 3, 4, 5, 6, 7});
inline constexpr std::uint8_t kTwoOperandForms = forms({1, 4, 5, 6});
inline constexpr std::uint8_t kSpot1Forms = forms({1, 2, 3, 7});
inline constexpr std::uint8_t kForm1 = forms({1});
inline constexpr std::uint8_t kForm4 = forms({4});

constexpr OperandField register_at(Role role, int first, int registers = 1) {
  OperandField field{FieldKind::kRegister, role, static_cast<std::uint8_t>(first), 8};
  field.registers = static_cast<std::uint8_t>(registers);
  return field;
}
constexpr OperandField uniform_at(Role role, int first, int registers = 1) {
  OperandField field = register_at(role, first, registers);
  field.kind = FieldKind::kUniformRegister;
  field.count = 6;
  return field;
}
inline constexpr OperandField kRd = register_at(Role::kDestination, 16);
inline constexpr OperandField kRd2 = register_at(Role::kDestination, 16, 2);
inline constexpr OperandField kUrd = uniform_at(Role::kDestination, 16);

constexpr OperandField source(FieldKind kind, Role role, bool negatable, Format format = Format::kHex,
                              int registers = 1) {
  OperandField field{kind, role};
  field.negatable = negatable;
  field.format = format;
  field.registers = static_cast<std::uint8_t>(registers);
  return field;
}
constexpr OperandField floating(FieldKind kind, Role role, bool absolutable = true) {
  OperandField field = source(kind, role, true, Format::kFloat);
  field.absolutable = absolutable;
  return field;
}
/// A pair of half-precision numbers: sign, absolute value, and which halves.
constexpr OperandField packed(FieldKind kind, Role role) {
  OperandField field = source(kind, role, true, Format::kHalfPair);
  field.absolutable = true;
  field.halves = true;
  return field;
}
constexpr OperandField wide(OperandField field) {
  field.registers = 2;
  return field;
}
constexpr OperandField inverting(FieldKind kind, Role role) {
  OperandField field = source(kind, role, true, Format::kSignedHex);
  field.inverts = Inverts::kWithCarry;
  return field;
}
constexpr OperandField complementing_with_carry(OperandField field) {
  field.inverts = Inverts::kWithCarry;
  return field;
}
constexpr OperandField complementing(FieldKind kind, Role role) {
  OperandField field = source(kind, role, true);
  field.inverts = Inverts::kAlways;
  return field;
}
constexpr OperandField a(bool negatable = false) { return source(FieldKind::kSourceA, Role::kA, negatable); }
constexpr OperandField b(bool negatable = false, Format format = Format::kHex) {
  return source(FieldKind::kSourceB, Role::kB, negatable, format);
}
constexpr OperandField c(bool negatable = false, Format format = Format::kHex, int registers = 1) {
  return source(FieldKind::kSourceC, Role::kC, negatable, format, registers);
}
constexpr OperandField sized(OperandField field) {
  field.registers = 0;
  return field;
}
constexpr OperandField shown(OperandField field, Show show) {
  field.show = show;
  return field;
}

constexpr OperandField predicate(Role role, int first, bool negatable, Show show = Show::kAlways) {
  OperandField field{FieldKind::kPredicate, role, static_cast<std::uint8_t>(first),
                     static_cast<std::uint8_t>(negatable ? 4 : 3)};
  field.show = show;
  return field;
}
constexpr OperandField uniform_predicate(OperandField field) {
  field.kind = FieldKind::kUniformPredicate;
  return field;
}
constexpr OperandField bitwise_inverted(OperandField field) {
  field.inverted = true;
  return field;
}
inline constexpr OperandField kPout = predicate(Role::kPredicateOut, 81, false, Show::kUnlessTrue);
inline constexpr OperandField kPout2 = predicate(Role::kPredicateOut2, 84, false, Show::kUnlessTrue);
inline constexpr OperandField kPoutAlways = predicate(Role::kPredicateOut, 81, false);
inline constexpr OperandField kCarryIn = predicate(Role::kPredicateIn, 87, true, Show::kIfCarry);
inline constexpr OperandField kCarryIn2 = predicate(Role::kPredicateIn2, 77, true, Show::kIfCarry);
inline constexpr OperandField kPin = predicate(Role::kPredicateIn, 87, true);
inline constexpr OperandField kCondition = predicate(Role::kPredicateIn, 87, true, Show::kUnlessTrue);

constexpr OperandField immediate(int first, int count, Show show = Show::kAlways) {
  OperandField field{FieldKind::kImmediate, Role::kImmediate, static_cast<std::uint8_t>(first),
                     static_cast<std::uint8_t>(count)};
  field.show = show;
  return field;
}
constexpr OperandField with_role(OperandField field, Role role) {
  field.role = role;
  return field;
}
constexpr OperandField address(Role role, int reg, int offset, int count, int uniform) {
  OperandField field{FieldKind::kAddress, role, static_cast<std::uint8_t>(reg), static_cast<std::uint8_t>(count)};
  field.offset = static_cast<std::uint8_t>(offset);
  field.uniform = static_cast<std::uint8_t>(uniform);
  return field;
}
constexpr OperandField scaled(OperandField field) {
  field.scaled = true;
  return field;
}
/// The register is a 64-bit pair, though the text does not say so.
constexpr OperandField paired(OperandField field) {
  field.paired = true;
  return field;
}
constexpr OperandField constant(int register_bit, int registers) {
  OperandField field{FieldKind::kConstant, Role::kB, static_cast<std::uint8_t>(register_bit)};
  field.registers = static_cast<std::uint8_t>(registers);
  return field;
}
constexpr OperandField plain(FieldKind kind, Role role) { return OperandField{kind, role}; }

constexpr InstructionRow row(Opcode opcode, std::string_view mnemonic, int code, std::uint8_t form_mask, Pipe pipe) {
  InstructionRow result;
  result.opcode = opcode;
  result.mnemonic = mnemonic;
  result.code = static_cast<std::uint16_t>(code);
  result.forms = form_mask;
  result.pipe = pipe;
  return result;
}
constexpr InstructionRow with(InstructionRow result, std::initializer_list<ModifierField> modifiers,
                              std::initializer_list<OperandField> operands, std::uint64_t fixed_high = 0,
                              std::uint64_t fixed_low = 0) {
  std::copy(modifiers.begin(), modifiers.end(), result.modifiers.begin());
  std::copy(operands.begin(), operands.end(), result.operands.begin());
  result.fixed = {fixed_low, fixed_high};
  return result;
}
/// The first and the last architecture that has the instruction in this encoding.
constexpr InstructionRow on(int first, int last, InstructionRow result) {
  result.first_architecture = static_cast<std::uint8_t>(first);
  result.last_architecture = static_cast<std::uint8_t>(last);
  return result;
}
constexpr InstructionRow until_ada(InstructionRow result) { return on(80, 89, result); }
constexpr InstructionRow from_hopper(InstructionRow result) { return on(90, 90, result); }
constexpr InstructionRow on_uniform(InstructionRow result) {
  result.uniform = true;
  return result;
}
constexpr InstructionRow on_halves(InstructionRow result) {
  result.halves = true;
  return result;
}
constexpr InstructionRow accessing(InstructionRow result, MemoryOp memory) {
  result.memory = memory;
  return result;
}
constexpr InstructionRow local(InstructionRow result) {
  result.local = true;
  return result;
}
constexpr InstructionRow controlling(InstructionRow result, ControlOp control) {
  result.control = control;
  return result;
}
constexpr std::uint64_t high_bit(int position) { return std::uint64_t{1} << (position - 64); }
/// PT where other instructions have a predicate that they write.
inline constexpr std::uint64_t kNoPredicateOut = high_bit(81) | high_bit(82) | high_bit(83);

}  // namespace tilesim::traces::rows
