#include "traces/emulator/slice.h"

#include <algorithm>
#include <array>
#include <bitset>

#include "traces/emulator/memory_effect.h"
#include "traces/sass/dependences.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

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
  return role == Role::kAddress || role == Role::kSharedAddress || instruction.row->control != isa::ControlOp::kNone ||
         is_jump(instruction.opcode) || (role == Role::kPredicateIn && instruction.row->memory != isa::MemoryOp::kNone);
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
  bool stores = false;          // what it stores is demanded
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

Transfer transfer_of(const SassInstruction& instruction, bool fixed_stack) {
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
  return result;
}

// Demand before an instruction from the demand after it; true if the instruction's result is needed.
bool step_back(const Transfer& transfer, Demands& demands) {
  bool needed = transfer.stores;
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

class Analysis {
 public:
  Analysis(const DecodedKernel& kernel, const LaunchParameters& launch);

  [[nodiscard]] const Slice& slice() const { return slice_; }
  [[nodiscard]] const std::vector<Transfer>& transfers() const { return transfers_; }
  [[nodiscard]] const Demands& before(std::size_t index) const { return before_[index]; }

 private:
  bool propagate();
  bool extend_memory();

  const DecodedKernel& kernel_;
  ControlFlow flow_;
  std::vector<Allocations> accessed_;  // by global accesses
  std::vector<Transfer> transfers_;
  std::vector<Demands> before_;
  Slice slice_;
};

Analysis::Analysis(const DecodedKernel& kernel, const LaunchParameters& launch)
    : kernel_(kernel), flow_(kernel), before_(kernel.instructions.size()) {
  const bool fixed_stack = has_fixed_stack(kernel);
  for (const SassInstruction& instruction : kernel.instructions) {
    transfers_.push_back(transfer_of(instruction, fixed_stack));
  }
  slice_.contains.assign(kernel.instructions.size(), false);
  accessed_ = accessed_allocations(kernel, flow_, launch);
  do {
    while (propagate()) {
    }
  } while (extend_memory());
}

// One pass from the last instruction to the first; true if some demand grew.
bool Analysis::propagate() {
  bool changed = false;
  for (std::size_t i = transfers_.size(); i-- > 0;) {
    Demands demands{};
    for (const std::uint32_t next : flow_.successors(i)) {
      for (std::size_t context = 0; context < kContexts; ++context) {
        demands[context] |= before_[next][context];
      }
    }
    if (step_back(transfers_[i], demands)) {
      slice_.contains[i] = true;
    }
    if (demands != before_[i]) {
      before_[i] = demands;
      changed = true;
    }
  }
  return changed;
}

// Adds the memory that instructions of the slice read, then the stores that reach it; true if there is a new one.
bool Analysis::extend_memory() {
  DemandedMemory& memory = slice_.memory;
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    if (slice_.contains[i]) {
      const MemoryEffect effect = memory_effect(kernel_.instructions[i]);
      memory.shared = memory.shared || effect.reads == Space::kShared;
      memory.global |= effect.reads == Space::kGlobal ? accessed_[i] : 0;
    }
  }
  bool grown = false;
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const Space writes = memory_effect(kernel_.instructions[i]).writes;
    const bool demanded = (writes == Space::kShared && memory.shared) ||
                          (writes == Space::kGlobal && may_overlap(accessed_[i], memory.global));
    memory.global_written = memory.global_written || (demanded && writes == Space::kGlobal);
    grown = grown || (demanded && !transfers_[i].stores);
    transfers_[i].stores = demanded;
  }
  return grown;
}

}  // namespace

Slice backward_slice(const DecodedKernel& kernel, const LaunchParameters& launch) {
  return Analysis(kernel, launch).slice();
}

std::optional<std::vector<std::uint32_t>> loop_carried_slice(const DecodedKernel& kernel,
                                                             const LaunchParameters& launch, std::uint32_t branch) {
  const Analysis analysis(kernel, launch);
  if (analysis.slice().memory.any()) {
    return std::nullopt;
  }
  const ControlFlow flow(kernel);
  const auto target = *std::min_element(flow.successors(branch).begin(), flow.successors(branch).end());
  Demands demands{};
  for (const std::uint32_t next : flow.successors(branch)) {
    for (std::size_t context = 0; context < kContexts; ++context) {
      demands[context] |= analysis.before(next)[context];
    }
  }
  step_back(analysis.transfers()[branch], demands);
  std::vector<std::uint32_t> needed;
  for (std::size_t i = branch; i-- > target;) {
    if (flow.successors(i).size() != 1 || flow.successors(i)[0] != i + 1) {
      return std::nullopt;
    }
    Transfer transfer = analysis.transfers()[i];
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
