#include "traces/sass/dependences.h"

#include <algorithm>

namespace tilesim::traces {
namespace {

bool is_written(Role role) {
  return role == Role::kDestination || role == Role::kPredicateOut || role == Role::kPredicateOut2;
}

int hmma_registers(const SassInstruction& instruction, Role role) {
  const bool deep = instruction.modifier(Modifier::kMatrixShape) != 0;
  switch (role) {
    case Role::kA:
      return deep ? 4 : 2;
    case Role::kB:
      return deep ? 2 : 1;
    default:
      return instruction.modifier(Modifier::kAccumulator) != 0 ? 4 : 2;
  }
}

void add_general(RegisterRanges& ranges, unsigned first, int count, Role role) {
  if (first != kRegisterRz) {
    const int fitting = std::min(count, kRegisterRz - static_cast<int>(first));
    ranges.add({RegisterFile::kGeneral, static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(fitting), role});
  }
}

void add_uniform(RegisterRanges& ranges, unsigned first, int count, Role role) {
  if (first != kUniformUrz) {
    const int fitting = std::min(count, kUniformUrz - static_cast<int>(first));
    ranges.add({RegisterFile::kUniform, static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(fitting), role});
  }
}

void add_operand(RegisterRanges& ranges, const Operand& operand, int count, Role role) {
  switch (operand.kind) {
    case OperandKind::kRegister:
      add_general(ranges, operand.index, count, role);
      break;
    case OperandKind::kUniformRegister:
      add_uniform(ranges, operand.index, count, role);
      break;
    case OperandKind::kPredicate:
    case OperandKind::kUniformPredicate:
      if (operand.index != kPredicatePt) {
        const bool uniform = operand.kind == OperandKind::kUniformPredicate;
        ranges.add({uniform ? RegisterFile::kUniformPredicate : RegisterFile::kPredicate, operand.index, 1, role});
      }
      break;
    case OperandKind::kConstant:
      add_general(ranges, operand.index, 1, role);
      break;
    case OperandKind::kAddress:
      add_general(ranges, operand.index, operand.wide ? 2 : 1, role);
      add_uniform(ranges, operand.uniform, 1, role);
      break;
    default:
      break;
  }
}

}  // namespace

int access_bytes(const SassInstruction& instruction) {
  constexpr int kBytes[] = {1, 1, 2, 2, 4, 8, 16, 0};
  return instruction.opcode == Opcode::kLdsm ? 16 : kBytes[instruction.modifier(Modifier::kWidth) & 7];
}

int registers_spanned(const SassInstruction& instruction, const OperandField& field) {
  if (field.registers != 0) {
    return field.registers;
  }
  switch (instruction.opcode) {
    case Opcode::kHmma:
      return hmma_registers(instruction, field.role);
    case Opcode::kCs2r:
      return instruction.modifier(Modifier::kPair) != 0 ? 2 : 1;
    case Opcode::kLdsm:
      return 1 << instruction.modifier(Modifier::kMatrixCount);
    default:
      return std::max(1, access_bytes(instruction) / 4);
  }
}

Dependences dependences(const SassInstruction& instruction) {
  Dependences result;
  for (const OperandField& field : instruction.row->operands) {
    if (field.kind == FieldKind::kNone) {
      break;
    }
    RegisterRanges& ranges = is_written(field.role) ? result.writes : result.reads;
    add_operand(ranges, instruction.operand(field.role), registers_spanned(instruction, field), field.role);
  }
  return result;
}

RegisterRange guard_range(const SassInstruction& instruction) {
  const Guard& guard = instruction.guard;
  const RegisterFile file = guard.uniform ? RegisterFile::kUniformPredicate : RegisterFile::kPredicate;
  const bool constant = guard.predicate == kPredicatePt;
  return {file, guard.predicate, static_cast<std::uint8_t>(constant ? 0 : 1), Role::kPredicateIn};
}

}  // namespace tilesim::traces
