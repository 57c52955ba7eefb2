#include "traces/emulator/memory_effect.h"

#include "traces/sass/instruction_table.h"

namespace tilesim::traces {

bool is_atomic(Opcode opcode) {
  return opcode == Opcode::kAtomg || opcode == Opcode::kRed || opcode == Opcode::kAtoms ||
         opcode == Opcode::kAtomsCas || opcode == Opcode::kAtomgCas;
}

MemoryEffect memory_effect(const SassInstruction& instruction) {
  const InstructionRow& row = *instruction.row;
  if (is_atomic(instruction.opcode)) {
    const bool global = instruction.opcode != Opcode::kAtoms && instruction.opcode != Opcode::kAtomsCas;
    const Space space = global ? Space::kGlobal : Space::kShared;
    return {instruction.opcode == Opcode::kRed ? Space::kNone : space, space};
  }
  switch (row.memory) {
    case isa::MemoryOp::kNone:
      return {};
    case isa::MemoryOp::kLoadShared:
    case isa::MemoryOp::kLoadMatrix:
      return {Space::kShared, Space::kNone};
    case isa::MemoryOp::kStoreShared:
      return {Space::kNone, Space::kShared};
    case isa::MemoryOp::kLoadGlobal:
      return {row.local ? Space::kLocal : Space::kGlobal, Space::kNone};
    case isa::MemoryOp::kStoreGlobal:
      return {Space::kNone, row.local ? Space::kLocal : Space::kGlobal};
    case isa::MemoryOp::kCopyAsync:
      return {Space::kGlobal, Space::kShared};
  }
  return {};
}

}  // namespace tilesim::traces
