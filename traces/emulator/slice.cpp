#include "traces/emulator/slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>

#include "traces/sass/dependences.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

constexpr std::size_t kInstructionBytes = 16;
constexpr std::size_t kFileOffset[] = {0, 256, 264, 328};  // by RegisterFile
// Words of local memory that the stack pointer and a constant address; one more bit stands for all others.
constexpr std::size_t kLocalOffset = 336;
constexpr std::size_t kLocalWords = 256;
constexpr std::size_t kOtherLocal = kLocalOffset + kLocalWords;
using Demand = std::bitset<kOtherLocal + 1>;

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

constexpr std::size_t kAlways = 14;  // context of demand that holds whatever the predicates are
constexpr std::size_t kContexts = 15;

/// Demanded values by context: 2p and 2p + 1 are "only where Pp holds" and "only where it does not".
using Demands = std::array<Demand, kContexts>;

// What one instruction does to demand, precomputed.
struct Transfer {
  Demand writes;
  Demand reads;  // all sources
  Demand roots;  // address, condition
  Demand guard;  // the guard's own predicate
  std::size_t context = kAlways;
  bool kills = true;            // its writes leave nothing of the old value in its context
  std::uint32_t redefined = 0;  // predicates it writes, as a bit mask
  bool falls_through = true;
  std::size_t target = 0;  // instruction index; own index = none
};

// Which local words LDL reads or STL writes, and whether a store leaves nothing of what they held.
struct LocalAccess {
  Demand words;
  bool whole = false;
};

LocalAccess local_access(const SassInstruction& instruction, bool fixed_stack) {
  const Operand& address = instruction.operand(Role::kAddress);
  const int bytes = access_bytes(instruction);
  LocalAccess result;
  const std::int64_t last = (address.value + bytes - 1) / 4;
  if (!fixed_stack || address.index != kStackPointer || address.value < 0 ||
      last >= static_cast<std::int64_t>(kLocalWords)) {
    for (std::size_t word = kLocalOffset; word <= kOtherLocal; ++word) {
      result.words.set(word);
    }
    return result;
  }
  for (std::int64_t word = address.value / 4; word <= last; ++word) {
    result.words.set(kLocalOffset + static_cast<std::size_t>(word));
  }
  result.whole = bytes >= 4 && address.value % 4 == 0;
  return result;
}

// True if the stack pointer has its final value before the first access to local memory.
bool has_fixed_stack(const DecodedKernel& kernel) {
  bool accessed = false;
  for (const SassInstruction& instruction : kernel.instructions) {
    accessed = accessed || instruction.row->local;
    for (const RegisterRange& range : dependences(instruction).writes) {
      if (accessed && range.file == RegisterFile::kGeneral && range.first <= kStackPointer &&
          kStackPointer < range.first + range.count) {
        return false;
      }
    }
  }
  return true;
}

Transfer transfer_of(const SassInstruction& instruction, std::size_t index, bool fixed_stack) {
  Transfer result;
  const Dependences used = dependences(instruction);
  for (const RegisterRange& range : used.writes) {
    add(result.writes, range);
    if (range.file == RegisterFile::kPredicate) {
      result.redefined |= 1U << range.first;
    }
  }
  for (const RegisterRange& range : used.reads) {
    add(result.reads, range);
    if (decides_control_or_address(instruction, range.role)) {
      add(result.roots, range);
    }
  }
  add(result.guard, guard_range(instruction));
  const Guard& guard = instruction.guard;
  const bool unconditional = guard.always();
  const bool own =
      (result.redefined >> guard.predicate & 1) != 0;  // the guard it reads is not the one it leaves behind
  if (!unconditional && !guard.uniform && guard.predicate != kPredicatePt && !own) {
    result.context = 2U * guard.predicate + (guard.negated ? 1 : 0);
  }
  result.kills = unconditional || result.context != kAlways;
  if (instruction.row->local) {
    const LocalAccess local = local_access(instruction, fixed_stack);
    if (instruction.row->memory == isa::MemoryOp::kStoreGlobal) {
      result.writes |= local.words;
      result.kills = result.kills && local.whole;
    } else {
      result.reads |= local.words;
    }
  }
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

// Demand before an instruction from the demand after it; true if the instruction's result is needed.
bool step_back(const Transfer& transfer, Demands& demands) {
  bool needed = false;
  for (std::size_t context = 0; context < kContexts; ++context) {
    const bool opposite = transfer.context != kAlways && context == (transfer.context ^ 1U);
    needed = needed || (!opposite && (transfer.writes & demands[context]).any());
    if (transfer.kills && (transfer.context == kAlways || transfer.context == context)) {
      demands[context] &= ~transfer.writes;
    }
  }
  for (std::size_t predicate = 0; predicate < kPredicatePt; ++predicate) {
    if ((transfer.redefined >> predicate & 1) != 0) {  // above here the predicate has another value
      for (const std::size_t context : {2 * predicate, 2 * predicate + 1}) {
        demands[kAlways] |= demands[context];
        demands[context].reset();
      }
    }
  }
  demands[transfer.context] |= needed ? transfer.roots | transfer.reads : transfer.roots;
  demands[kAlways] |= transfer.guard;
  return needed;
}

// One pass from the last instruction to the first; true if some demand grew.
bool propagate(const std::vector<Transfer>& transfers, std::vector<Demands>& before, Slice& slice) {
  bool changed = false;
  for (std::size_t i = transfers.size(); i-- > 0;) {
    const Transfer& transfer = transfers[i];
    Demands demands{};
    for (std::size_t context = 0; context < kContexts; ++context) {
      if (transfer.falls_through && i + 1 < transfers.size()) {
        demands[context] |= before[i + 1][context];
      }
      if (transfer.target != i) {
        demands[context] |= before[transfer.target][context];
      }
    }
    if (step_back(transfer, demands)) {
      slice.contains[i] = true;
    }
    if (demands != before[i]) {
      before[i] = demands;
      changed = true;
    }
  }
  return changed;
}

bool is_load(const InstructionRow& row) {
  return row.memory == isa::MemoryOp::kLoadShared || row.memory == isa::MemoryOp::kLoadMatrix ||
         (row.memory == isa::MemoryOp::kLoadGlobal && !row.local);
}

struct Analysis {
  std::vector<Transfer> transfers;
  std::vector<Demands> before;
  Slice slice;
};

Analysis analyse(const DecodedKernel& kernel) {
  const std::size_t count = kernel.instructions.size();
  const bool fixed_stack = has_fixed_stack(kernel);
  Analysis result;
  result.transfers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    result.transfers.push_back(transfer_of(kernel.instructions[i], i, fixed_stack));
  }
  result.before.resize(count);
  result.slice.contains.assign(count, false);
  while (propagate(result.transfers, result.before, result.slice)) {
  }
  return result;
}

}  // namespace

Result<Slice> backward_slice(const DecodedKernel& kernel) {
  Slice slice = analyse(kernel).slice;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    if (slice.contains[i] && is_load(*kernel.instructions[i].row)) {
      return fail(ErrorKind::kUsage,
                  fmt::format("The value that '{}' loads from memory decides an address, a branch or a guard of {}.",
                              kernel.text[i], kernel.name),
                  "Kernels that read pointers, semaphores or flags from memory are not supported yet.",
                  kernel.where(i));
    }
  }
  return slice;
}

std::optional<std::vector<std::uint32_t>> loop_carried_slice(const DecodedKernel& kernel, std::uint32_t branch) {
  const Analysis analysis = analyse(kernel);
  const std::size_t target = analysis.transfers[branch].target;
  Demands demands = analysis.before[target];
  if (branch + 1 < analysis.before.size()) {
    for (std::size_t context = 0; context < kContexts; ++context) {
      demands[context] |= analysis.before[branch + 1][context];
    }
  }
  step_back(analysis.transfers[branch], demands);
  std::vector<std::uint32_t> needed;
  for (std::size_t i = branch; i-- > target;) {
    const isa::ControlOp control = kernel.instructions[i].row->control;
    if (control == isa::ControlOp::kBranch || control == isa::ControlOp::kExit) {
      return std::nullopt;
    }
    Transfer transfer = analysis.transfers[i];
    transfer.roots.reset();
    const Demands after = demands;
    if (step_back(transfer, demands)) {
      needed.push_back(static_cast<std::uint32_t>(i));
    } else {
      demands = after;  // neither its guard nor what it would overwrite matters
    }
  }
  std::reverse(needed.begin(), needed.end());
  return needed;
}

}  // namespace tilesim::traces
