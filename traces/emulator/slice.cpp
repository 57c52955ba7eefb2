#include "traces/emulator/slice.h"

#include <fmt/format.h>

#include <bitset>

#include "traces/sass/dependences.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

constexpr std::size_t kInstructionBytes = 16;
constexpr std::size_t kFileOffset[] = {0, 256, 264, 328};  // by RegisterFile
using Demand = std::bitset<336>;

void add(Demand& set, const RegisterRange& range) {
  for (unsigned i = 0; i < range.count; ++i) {
    set.set(kFileOffset[static_cast<std::size_t>(range.file)] + range.first + i);
  }
}

bool decides_control_or_address(const SassInstruction& instruction, Role role) {
  switch (role) {
    case Role::kAddress:
    case Role::kSharedAddress:
      return true;
    case Role::kPredicateIn:
      return instruction.row->control != isa::ControlOp::kNone || instruction.row->memory != isa::MemoryOp::kNone;
    default:
      return false;
  }
}

// What one instruction does to demand, precomputed.
struct Transfer {
  Demand writes;
  Demand killed;  // writes, unless under a guard
  Demand reads;   // all sources
  Demand roots;   // guard, address, condition
  bool falls_through = true;
  std::size_t target = 0;  // instruction index; own index = none
};

Transfer transfer_of(const SassInstruction& instruction, std::size_t index) {
  Transfer result;
  const Dependences used = dependences(instruction);
  for (const RegisterRange& range : used.writes) {
    add(result.writes, range);
  }
  for (const RegisterRange& range : used.reads) {
    add(result.reads, range);
    if (decides_control_or_address(instruction, range.role)) {
      add(result.roots, range);
    }
  }
  add(result.roots, guard_range(instruction));
  const bool unconditional = instruction.guard.always();
  result.killed = unconditional ? result.writes : Demand{};
  result.target = index;
  const Operand& condition = instruction.operand(Role::kPredicateIn);
  const bool always = unconditional && condition.index == kPredicatePt && !condition.negated;
  if (instruction.row->control == isa::ControlOp::kBranch) {
    result.target = static_cast<std::size_t>(instruction.operand(Role::kB).value) / kInstructionBytes;
    result.falls_through = !always;
  } else if (instruction.row->control == isa::ControlOp::kExit) {
    result.falls_through = !always;
  }
  return result;
}

// One pass from the last instruction to the first; true if some demand grew.
bool propagate(const std::vector<Transfer>& transfers, std::vector<Demand>& before, Slice& slice) {
  bool changed = false;
  for (std::size_t i = transfers.size(); i-- > 0;) {
    const Transfer& transfer = transfers[i];
    Demand demand;
    if (transfer.falls_through && i + 1 < transfers.size()) {
      demand |= before[i + 1];
    }
    if (transfer.target != i) {
      demand |= before[transfer.target];
    }
    const bool needed = (transfer.writes & demand).any();
    demand &= ~transfer.killed;
    demand |= transfer.roots;
    if (needed) {
      slice.contains[i] = true;
      demand |= transfer.reads;
    }
    if (demand != before[i]) {
      before[i] = demand;
      changed = true;
    }
  }
  return changed;
}

bool is_load(isa::MemoryOp op) {
  return op == isa::MemoryOp::kLoadShared || op == isa::MemoryOp::kLoadMatrix || op == isa::MemoryOp::kLoadGlobal;
}

}  // namespace

Result<Slice> backward_slice(const DecodedKernel& kernel) {
  const std::size_t count = kernel.instructions.size();
  std::vector<Transfer> transfers;
  transfers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    transfers.push_back(transfer_of(kernel.instructions[i], i));
  }
  Slice slice{std::vector<bool>(count, false)};
  std::vector<Demand> before(count);
  while (propagate(transfers, before, slice)) {
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (slice.contains[i] && is_load(kernel.instructions[i].row->memory)) {
      return fail(ErrorKind::kUsage,
                  fmt::format("The value that '{}' loads from memory decides an address, a branch or a guard of {}.",
                              kernel.text[i], kernel.name),
                  "Kernels that read pointers, semaphores or flags from memory are not supported yet.",
                  kernel.where(i));
    }
  }
  return slice;
}

}  // namespace tilesim::traces
