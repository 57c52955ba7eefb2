#include "traces/emulator/supported.h"

#include <algorithm>

#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

bool is_unsupported(Opcode opcode) {
  switch (opcode) {
    case Opcode::kLd:
    case Opcode::kSt:
    case Opcode::kShfl:
    case Opcode::kMovm:
    case Opcode::kAtoms:
    case Opcode::kAtomsCas:
    case Opcode::kAtomg:
    case Opcode::kAtomgCas:
    case Opcode::kRed:
    case Opcode::kBrx:
    case Opcode::kCall:
    case Opcode::kRet:
    case Opcode::kP2r:
    case Opcode::kR2p:
    case Opcode::kVote:
      return true;
    default:
      return false;
  }
}

bool is_barrier_of_all(const SassInstruction& instruction) {
  return instruction.operand(Role::kImmediate).kind == OperandKind::kImmediate &&
         instruction.operand(Role::kImmediate2).kind == OperandKind::kImmediate &&
         instruction.operand(Role::kImmediate2).value == 0 && instruction.modifier(Modifier::kBarrierMode) == 0;
}

bool has_condition(const SassInstruction& instruction) {
  const Operand& condition = instruction.operand(Role::kPredicateIn);
  return condition.index != kPredicatePt || condition.negated;
}

}  // namespace

std::optional<std::string> unsupported(const SassInstruction& instruction) {
  if (is_unsupported(instruction.opcode)) {
    return "this version decodes it and cannot execute it yet";
  }
  if (instruction.opcode == Opcode::kBar && !is_barrier_of_all(instruction)) {
    return "only barriers of all threads with a constant number are supported yet";
  }
  constexpr std::uint8_t kTf32 = 2;
  if (instruction.opcode == Opcode::kHmma && instruction.modifier(Modifier::kMatrixType) == kTf32) {
    return "products of TF32 are not supported yet";
  }
  const bool floating = instruction.row->pipe == isa::Pipe::kFma || instruction.opcode == Opcode::kF2fp;
  const bool rounds = floating && instruction.modifier(Modifier::kRounding) != 0;
  if (rounds || instruction.modifier(Modifier::kSaturate) != 0 || instruction.modifier(Modifier::kRelu) != 0) {
    return "its rounding or saturation is not supported yet";
  }
  if (instruction.opcode == Opcode::kLdg && has_condition(instruction)) {
    return "its predicate is not supported yet";
  }
  const bool scaled = std::any_of(instruction.operands.begin(), instruction.operands.end(),
                                  [](const Operand& operand) { return operand.scale != 0; });
  if (scaled) {
    return "the scaled register of its address is not supported yet";
  }
  return std::nullopt;
}

}  // namespace tilesim::traces
