#include "traces/sass/dependences.h"

#include <algorithm>
#include <string_view>

namespace tilesim::traces {
namespace {

bool is_written(Role role) {
  return role == Role::kDestination || role == Role::kPredicateOut || role == Role::kPredicateOut2;
}

// Sources have 16 or 8 columns of 16 bits, or 8 or 4 of 32 bits.
int hmma_registers(const SassInstruction& instruction, Role role) {
  constexpr std::uint8_t kTf32 = 2;
  const std::uint8_t shape = instruction.modifier(Modifier::kMatrixShape);
  const bool deep = shape == 1 || (shape == 0 && instruction.modifier(Modifier::kMatrixType) == kTf32);
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
    case OperandKind::kIndirectTarget:
      add_general(ranges, operand.index, 2, role);
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

namespace {

// 32-bit registers of an atomic's data: by the bits of its type.
int atomic_registers(const SassInstruction& instruction) {
  for (const ModifierField& modifier : instruction.row->modifiers) {
    if (modifier.id == Modifier::kAtomicType || modifier.id == Modifier::kFloatAtomicType) {
      const std::string_view type = modifier.names[instruction.modifier(modifier.id)];
      if (type == "128" || type.find("x8") != std::string_view::npos || type.find("F32x4") != std::string_view::npos) {
        return 4;
      }
      return type.find("64") != std::string_view::npos || type.find("x4") != std::string_view::npos ||
                     type.find("F32x2") != std::string_view::npos
                 ? 2
                 : 1;
    }
  }
  return 1;
}

int conversion_registers(const SassInstruction& instruction, Role role) {
  constexpr std::uint8_t kDouble = 3;
  const Modifier size = role == Role::kDestination ? Modifier::kFloatSize : Modifier::kSourceSize;
  return instruction.modifier(size) == kDouble ? 2 : 1;
}

// P2R reads, R2P writes the predicates that its mask names.
void add_predicate_set(RegisterRanges& ranges, const SassInstruction& instruction) {
  const Operand& mask = instruction.operand(Role::kB);
  for (std::uint8_t i = 0; i < kPredicatePt; ++i) {
    if (mask.kind != OperandKind::kImmediate || (mask.value >> i & 1) != 0) {
      ranges.add({RegisterFile::kPredicate, i, 1, Role::kImmediate2});
    }
  }
}

}  // namespace

int registers_spanned(const SassInstruction& instruction, const OperandField& field) {
  if (field.registers != 0) {
    return field.registers;
  }
  switch (instruction.opcode) {
    case Opcode::kHmma:
      return hmma_registers(instruction, field.role);
    case Opcode::kCs2r:
      return instruction.modifier(Modifier::kPair) != 0 ? 2 : 1;
    case Opcode::kF2f:
      return conversion_registers(instruction, field.role);
    case Opcode::kAtoms:
    case Opcode::kAtomsCas:
    case Opcode::kAtomg:
    case Opcode::kAtomgCas:
    case Opcode::kRed:
      return atomic_registers(instruction);
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
    if (field.kind == FieldKind::kPredicateSet) {
      add_predicate_set(instruction.opcode == Opcode::kR2p ? result.writes : result.reads, instruction);
      continue;
    }
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
