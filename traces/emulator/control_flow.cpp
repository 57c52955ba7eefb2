#include "traces/emulator/control_flow.h"

#include <cstring>

#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

constexpr std::uint32_t kInstructionBytes = 16;

bool is_always(const SassInstruction& instruction) {
  const Operand& condition = instruction.operand(Role::kPredicateIn);
  return instruction.guard.always() &&
         (condition.kind == OperandKind::kNone || (condition.index == kPredicatePt && !condition.negated));
}

// What BRX and RET can reach: RET what follows a CALL, BRX what the words of a constant bank name.
std::vector<std::uint32_t> indirect_targets(const DecodedKernel& kernel, Opcode opcode) {
  std::vector<std::uint32_t> targets;
  const std::size_t count = kernel.instructions.size();
  for (std::size_t i = 0; opcode == Opcode::kRet && i + 1 < count; ++i) {
    if (kernel.instructions[i].opcode == Opcode::kCall) {
      targets.push_back(static_cast<std::uint32_t>(i + 1));
    }
  }
  for (const auto& [bank, bytes] : kernel.constant_banks) {
    for (std::size_t place = 0; opcode == Opcode::kBrx && place + sizeof(std::uint32_t) <= bytes.size(); place += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, bytes.data() + place, sizeof word);
      if (word % kInstructionBytes == 0 && word / kInstructionBytes < count) {
        targets.push_back(word / kInstructionBytes);
      }
    }
  }
  return targets;
}

}  // namespace

bool is_jump(Opcode opcode) {
  return opcode == Opcode::kBra || opcode == Opcode::kCall || opcode == Opcode::kBrx || opcode == Opcode::kRet;
}

ControlFlow::ControlFlow(const DecodedKernel& kernel) : leaders_(kernel.instructions.size(), false) {
  const std::size_t count = kernel.instructions.size();
  first_.push_back(0);
  for (std::size_t i = 0; i < count; ++i) {
    const SassInstruction& instruction = kernel.instructions[i];
    const Opcode opcode = instruction.opcode;
    if (opcode == Opcode::kBra || opcode == Opcode::kCall) {
      targets_.push_back(static_cast<std::uint32_t>(instruction.operand(Role::kB).value) / kInstructionBytes);
    } else if (is_jump(opcode)) {
      const std::vector<std::uint32_t> targets = indirect_targets(kernel, opcode);
      targets_.insert(targets_.end(), targets.begin(), targets.end());
    }
    const bool leaves = (is_jump(opcode) || opcode == Opcode::kExit) && is_always(instruction);
    if (!leaves && i + 1 < count) {
      targets_.push_back(static_cast<std::uint32_t>(i + 1));
    }
    first_.push_back(static_cast<std::uint32_t>(targets_.size()));
    for (const std::uint32_t target : successors(i)) {
      leaders_[target] = leaders_[target] || target != i + 1;
    }
    if (i + 1 < count && (leaves || is_jump(opcode))) {
      leaders_[i + 1] = true;
    }
  }
  if (count != 0) {
    leaders_[0] = true;
  }
}

}  // namespace tilesim::traces
