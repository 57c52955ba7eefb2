#include "traces/emulator/pointer_analysis.h"

#include <array>
#include <cstring>
#include <unordered_map>

#include "traces/emulator/memory_effect.h"
#include "traces/sass/dependences.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

constexpr std::size_t kUniformOffset = 256;
constexpr std::size_t kLocal = kUniformOffset + 64;
constexpr std::int64_t kPointerBytes = 8;

// What each general register, each uniform register and local memory can point to.
using State = std::array<Allocations, kLocal + 1>;

class Analysis {
 public:
  Analysis(const DecodedKernel& kernel, const LaunchParameters& launch) : kernel_(kernel), launch_(launch) {}

  std::vector<Allocations> run(const ControlFlow& flow);

 private:
  [[nodiscard]] Allocations in_parameters(const Operand& operand, std::int64_t bytes) const;
  [[nodiscard]] static Allocations in_registers(const State& state, const RegisterRange& range);
  void apply(std::size_t index, State& state) const;
  template <class Visit>
  std::size_t walk(const ControlFlow& flow, std::size_t index, State& state, Visit visit) const;
  [[nodiscard]] Allocations address(std::size_t index, const State& state) const;

  const DecodedKernel& kernel_;
  const LaunchParameters& launch_;
};

// The pointers in `bytes` bytes of the parameter block from a constant operand on, wholly or in part.
Allocations Analysis::in_parameters(const Operand& operand, std::int64_t bytes) const {
  const auto& block = launch_.arguments.block;
  Allocations found = 0;
  const std::int64_t begin = operand.value - abi_of(kernel_.architecture).parameter_offset;
  for (std::int64_t place = begin & -kPointerBytes; operand.bank == 0 && place < begin + bytes;
       place += kPointerBytes) {
    std::uint64_t value = 0;
    if (place < 0 || static_cast<std::size_t>(place + kPointerBytes) > block.size()) {
      continue;
    }
    std::memcpy(&value, block.data() + place, sizeof value);
    for (std::size_t i = 0; i < launch_.arguments.allocations.size(); ++i) {
      const Allocation& allocation = launch_.arguments.allocations[i];
      found |= value - allocation.address < allocation.bytes ? allocation_bit(i) : 0;
    }
  }
  return found;
}

Allocations Analysis::in_registers(const State& state, const RegisterRange& range) {
  if (range.file != RegisterFile::kGeneral && range.file != RegisterFile::kUniform) {
    return 0;
  }
  Allocations found = 0;
  const std::size_t base = range.file == RegisterFile::kUniform ? kUniformOffset : 0;
  for (std::size_t i = 0; i < range.count; ++i) {
    found |= state[base + range.first + i];
  }
  return found;
}

void Analysis::apply(std::size_t index, State& state) const {
  const SassInstruction& instruction = kernel_.instructions[index];
  const MemoryEffect effect = memory_effect(instruction);
  const Dependences used = dependences(instruction);
  Allocations value = 0;
  if (effect.reads == Space::kLocal) {
    value = state[kLocal];
  } else if (effect.reads != Space::kNone) {
    value = access_bytes(instruction) >= kPointerBytes ? kOtherAllocations : 0;
  } else {
    for (const RegisterRange& range : used.reads) {
      value |= in_registers(state, range);
    }
    const bool loads = instruction.opcode == Opcode::kLdc || instruction.opcode == Opcode::kUldc;
    for (const Operand& operand : instruction.operands) {
      value |= operand.kind == OperandKind::kConstant
                   ? in_parameters(operand, loads ? access_bytes(instruction) : kPointerBytes / 2)
                   : 0;
    }
  }
  if (effect.writes == Space::kLocal) {
    state[kLocal] |= value;
  }
  const bool keeps = !instruction.guard.always();
  for (const RegisterRange& range : used.writes) {
    if (range.file == RegisterFile::kGeneral || range.file == RegisterFile::kUniform) {
      const std::size_t base = range.file == RegisterFile::kUniform ? kUniformOffset : 0;
      for (std::size_t i = 0; i < range.count; ++i) {
        Allocations& cell = state[base + range.first + i];
        cell = keeps ? cell | value : value;
      }
    }
  }
}

Allocations Analysis::address(std::size_t index, const State& state) const {
  const SassInstruction& instruction = kernel_.instructions[index];
  const MemoryEffect effect = memory_effect(instruction);
  if (effect.reads != Space::kGlobal && effect.writes != Space::kGlobal) {
    return 0;
  }
  Allocations found = 0;
  for (const RegisterRange& range : dependences(instruction).reads) {
    found |= range.role == Role::kAddress ? in_registers(state, range) : 0;
  }
  return found == 0 ? kOtherAllocations : found;
}

// Walks the block that begins at leader `index`; `visit` sees each instruction's entry state. Returns its last
// instruction.
template <class Visit>
std::size_t Analysis::walk(const ControlFlow& flow, std::size_t index, State& state, Visit visit) const {
  while (true) {
    visit(index, state);
    apply(index, state);
    const std::span<const std::uint32_t> next = flow.successors(index);
    if (next.size() != 1 || next[0] != index + 1 || flow.is_leader(next[0])) {
      return index;
    }
    ++index;
  }
}

std::vector<Allocations> Analysis::run(const ControlFlow& flow) {
  const std::size_t count = kernel_.instructions.size();
  std::unordered_map<std::uint32_t, State> entry;  // of leaders that control reaches
  std::vector<std::uint32_t> work;
  if (count != 0) {
    entry[0] = {};
    work.push_back(0);
  }
  while (!work.empty()) {
    const std::uint32_t first = work.back();
    work.pop_back();
    State state = entry.at(first);
    const std::size_t last = walk(flow, first, state, [](std::size_t, const State&) {});
    for (const std::uint32_t target : flow.successors(last)) {
      const auto [place, fresh] = entry.try_emplace(target, State{});
      bool grown = fresh;
      for (std::size_t i = 0; i < state.size(); ++i) {
        grown = grown || (state[i] & ~place->second[i]) != 0;
        place->second[i] |= state[i];
      }
      if (grown) {
        work.push_back(target);
      }
    }
  }
  std::vector<Allocations> result(count, 0);
  for (auto& [first, state] : entry) {
    walk(flow, first, state, [&](std::size_t index, const State& at) { result[index] = address(index, at); });
  }
  return result;
}

}  // namespace

std::vector<Allocations> accessed_allocations(const DecodedKernel& kernel, const ControlFlow& flow,
                                              const LaunchParameters& launch) {
  return Analysis(kernel, launch).run(flow);
}

}  // namespace tilesim::traces
