#include "traces/emulator/memory_compiler.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/sass/dependences.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {

// LDGSTS: the shared side, and the predicate that chooses between data and zeros.
void MemoryCompiler::add_copy(const SassInstruction& in, MemoryOperation& out) {
  out.shared_low = state_.resolver.row(in.operand(Role::kSharedAddress).index);
  out.shared_offset = static_cast<std::int32_t>(in.operand(Role::kSharedAddress).value);
  out.bypass = in.modifier(Modifier::kAccess) == 0;
  out.copies = predicate_source(in.operand(Role::kPredicateIn));
  state_.require(out.bytes >= 4, "copies of less than 4 bytes do not exist");
}

Action MemoryCompiler::add_matrix(const SassInstruction& in) {
  constexpr std::uint8_t kDepths[] = {8, 16, 4};  // by Modifier::kMatrixShape
  MatrixOperation out;
  out.type = static_cast<MatrixOperation::Type>(in.modifier(Modifier::kMatrixType));
  out.depth = kDepths[in.modifier(Modifier::kMatrixShape)];
  out.half_accumulator = in.modifier(Modifier::kAccumulator) == 0;
  const std::size_t parts = out.depth / (out.type == MatrixOperation::Type::kTf32 ? 4U : 8U);
  state_.add_rows(in.operand(Role::kA), 2 * parts, out.a);
  state_.add_rows(in.operand(Role::kB), parts, out.b);
  state_.add_rows(in.operand(Role::kC), out.half_accumulator ? 2 : 4, out.c);
  state_.add_rows(in.operand(Role::kDestination), out.half_accumulator ? 2 : 4, out.d);
  state_.program.operand_index.push_back(static_cast<std::uint32_t>(state_.program.matrices.size()));
  state_.program.matrices.push_back(out);
  return Action::kMatrix;
}

// Address, data rows and what is done with the word in memory.
Action MemoryCompiler::add_atomic(const SassInstruction& in, bool needed) {
  MemoryOperation out = memory_operation(in);
  AtomicOperation& atomic = out.atomic;
  atomic.global = in.opcode != Opcode::kAtoms && in.opcode != Opcode::kAtomsCas;
  out.moves = needed;
  classify_atomic(in, out);
  const std::size_t words = out.bytes / 4U;
  if (needed) {
    const bool swaps =
        in.opcode == Opcode::kAtomsCas || in.opcode == Opcode::kAtomgCas;  // [address], comparand, new value
    state_.add_rows(in.operand(swaps ? Role::kC : Role::kB), words, out.words);
    state_.add_rows(in.operand(Role::kB), swaps ? words : 0, atomic.comparand);
    const Operand& result = in.operand(Role::kDestination);
    state_.add_rows(result, result.kind == OperandKind::kRegister ? words : 0, atomic.result);
  }
  state_.program.operand_index.push_back(static_cast<std::uint32_t>(state_.program.memory.size()));
  state_.program.memory.push_back(out);
  return Action::kAtomic;
}

// Kind, type and width, from the names of the table.
void MemoryCompiler::classify_atomic(const SassInstruction& in, MemoryOperation& out) {
  using Kind = AtomicOperation::Kind;
  using Type = AtomicOperation::Type;
  const std::uint8_t number = in.modifier(Modifier::kAtomic);
  std::string_view type;
  for (const ModifierField& field : in.row->modifiers) {
    if (field.id == Modifier::kAtomicType || field.id == Modifier::kFloatAtomicType) {
      type = field.names[in.modifier(field.id)];
      if (field.id == Modifier::kFloatAtomicType) {
        state_.require(number == 0, "atomic minimum and maximum of floats are not supported yet");
      }
    }
  }
  out.atomic.kind = in.opcode == Opcode::kAtomgCas || (in.opcode == Opcode::kAtomsCas && number == 0)
                        ? Kind::kCompareSwap
                    : in.opcode == Opcode::kAtomsCas ? Kind::kTrySwap
                                                     : static_cast<Kind>(number);
  const bool wide = type == "64" || type == "S64";
  out.bytes = wide ? 8 : 4;
  if (type.empty() || type == "64") {
    out.atomic.type = Type::kUnsigned;
  } else if (type == "S32" || type == "S64") {
    out.atomic.type = Type::kSigned;
  } else if (type == "F32.FTZ.RN" || type == "F32.RN") {
    out.atomic.type = Type::kFloat;
  } else if (type == "F16x2.RN") {
    out.atomic.type = Type::kHalves;
  } else if (type == "BF16x2.RN") {
    out.atomic.type = Type::kBfloats;
  } else {
    state_.reject(fmt::format("atomics of type {} are not supported yet", type));
  }
}

Action MemoryCompiler::add_local(const SassInstruction& in, MemoryOperation out, bool needed) {
  if (needed) {
    state_.add_rows(in.operand(out.store ? Role::kB : Role::kDestination), std::max(1U, out.bytes / 4U), out.words);
  }
  state_.program.operand_index.push_back(static_cast<std::uint32_t>(state_.program.memory.size()));
  state_.program.memory.push_back(out);
  return needed ? Action::kSpill : Action::kLocal;
}

// Address and width.
MemoryOperation MemoryCompiler::memory_operation(const SassInstruction& in) {
  constexpr std::uint8_t kShifts[] = {0, 2, 3, 4};  // of .X1, .X4, .X8, .X16
  const Operand& address = in.operand(Role::kAddress);
  MemoryOperation out;
  out.low = state_.resolver.row(address.index);
  if (address.wide && address.index != kRegisterRz) {
    out.high = state_.resolver.row(address.index + 1U);
  }
  out.uniform = address.uniform;
  out.shift = kShifts[address.scale & 3];
  out.offset = static_cast<std::int32_t>(address.value);
  out.bytes = static_cast<std::uint8_t>(access_bytes(in));
  return out;
}

Action MemoryCompiler::add_memory(const SassInstruction& in, bool needed) {
  MemoryOperation out = memory_operation(in);
  const isa::MemoryOp memory = in.row->memory;
  out.store = memory == isa::MemoryOp::kStoreShared || memory == isa::MemoryOp::kStoreGlobal;
  out.sign = in.modifier(Modifier::kWidth) == 1 || in.modifier(Modifier::kWidth) == 3;
  const Operand& condition = in.operand(Role::kPredicateIn);
  state_.require(memory == isa::MemoryOp::kCopyAsync || condition.kind == OperandKind::kNone ||
                     (condition.index == kPredicatePt && !condition.negated),
                 "its predicate is not supported yet");
  if (in.row->local) {
    return add_local(in, out, needed);
  }
  if (memory == isa::MemoryOp::kCopyAsync) {
    add_copy(in, out);
  } else if (memory == isa::MemoryOp::kLoadMatrix) {
    out.matrices = static_cast<std::uint8_t>(1U << in.modifier(Modifier::kMatrixCount));
    out.transposed = in.modifier(Modifier::kTranspose) != 0;
  }
  out.moves = needed;
  if (needed && memory != isa::MemoryOp::kCopyAsync) {
    const std::size_t count = out.matrices != 0 ? out.matrices : std::max(1U, out.bytes / 4U);
    state_.add_rows(in.operand(out.store ? Role::kB : Role::kDestination), count, out.words);
  }
  state_.program.operand_index.push_back(static_cast<std::uint32_t>(state_.program.memory.size()));
  state_.program.memory.push_back(out);
  return memory == isa::MemoryOp::kCopyAsync ? Action::kCopy
         : isa::is_global(memory)            ? Action::kGlobal
                                             : Action::kShared;
}

}  // namespace tilesim::traces
