#include "traces/sass/decoder.h"

#include <fmt/format.h>

#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

constexpr unsigned kGuardBit = 12;
constexpr unsigned kReuseA = 122;
constexpr unsigned kReuseSpot1 = 123;
constexpr unsigned kReuseSpot2 = 124;
constexpr unsigned kUniformFlagBit = 91;
constexpr std::int64_t kInstructionBytes = 16;

Guard decode_guard(const Encoding& word, bool uniform) {
  return {static_cast<std::uint8_t>(word.field(kGuardBit, 3)), word.bit(kGuardBit + 3), uniform};
}

Control decode_control(const Encoding& word) {
  return {static_cast<std::uint8_t>(word.field(105, 4)), word.bit(109), static_cast<std::uint8_t>(word.field(110, 3)),
          static_cast<std::uint8_t>(word.field(113, 3)), static_cast<std::uint8_t>(word.field(116, 6))};
}

Operand register_operand(const Encoding& word, unsigned first, bool uniform) {
  Operand operand;
  operand.kind = uniform ? OperandKind::kUniformRegister : OperandKind::kRegister;
  operand.index = static_cast<std::uint8_t>(word.field(first, uniform ? 6 : 8));
  return operand;
}

Operand constant_operand(const Encoding& word) {
  Operand operand;
  operand.kind = OperandKind::kConstant;
  operand.index = kRegisterRz;
  operand.bank = static_cast<std::uint8_t>(word.field(54, 5));
  operand.value = static_cast<std::int64_t>(word.field(38, 16));
  return operand;
}

void apply_sign(Operand& operand, const Encoding& word, const OperandField& field, unsigned negate, unsigned absolute) {
  operand.negated = field.negatable && word.bit(negate);
  operand.absolute = field.absolutable && word.bit(absolute);
}

Operand decode_spot1(const Encoding& word, const InstructionRow& row, const OperandField& field, Form form) {
  Operand operand;
  switch (form) {
    case Form::kImmediate:
    case Form::kImmediateC:
      operand.kind = OperandKind::kImmediate;
      operand.value = static_cast<std::int64_t>(word.field(32, 32));
      return operand;
    case Form::kConstant:
    case Form::kConstantC:
      operand = constant_operand(word);
      break;
    case Form::kUniform:
    case Form::kUniformC:
      operand = register_operand(word, 32, true);
      break;
    default:
      operand = register_operand(word, 32, row.uniform);
      operand.reuse = word.bit(kReuseSpot1);
      break;
  }
  apply_sign(operand, word, field, 63, 62);
  return operand;
}

Operand decode_spot2(const Encoding& word, const InstructionRow& row, const OperandField& field) {
  Operand operand = register_operand(word, 64, row.uniform);
  operand.reuse = word.bit(kReuseSpot2);
  apply_sign(operand, word, field, 75, 74);
  return operand;
}

Operand decode_address(const Encoding& word, const InstructionRow& row, const OperandField& field) {
  Operand operand;
  operand.kind = OperandKind::kAddress;
  operand.index = static_cast<std::uint8_t>(word.field(field.first, 8));
  operand.value = word.signed_field(field.offset, field.count);
  const bool global = field.role == Role::kAddress && isa::is_global(row.memory) && !row.local;
  operand.wide = global;
  if (field.uniform != 0) {
    const auto uniform = static_cast<std::uint8_t>(word.field(field.uniform, 6));
    if (global) {
      operand.descriptor = uniform;
    } else if (word.bit(kUniformFlagBit)) {
      operand.uniform = uniform;
    }
  }
  return operand;
}

Operand decode_predicate(const Encoding& word, const OperandField& field) {
  Operand operand;
  operand.kind = field.kind == FieldKind::kUniformPredicate ? OperandKind::kUniformPredicate : OperandKind::kPredicate;
  operand.index = static_cast<std::uint8_t>(word.field(field.first, 3));
  operand.negated = field.count == 4 && word.bit(field.first + 3U);
  return operand;
}

Operand valued(OperandKind kind, std::int64_t value) {
  Operand operand;
  operand.kind = kind;
  operand.value = value;
  return operand;
}

std::int64_t branch_target(const Encoding& word, std::uint64_t address) {
  const std::uint64_t words = word.field(16, 8) | word.field(34, 48) << 8;
  const auto distance = static_cast<std::int64_t>(words << 8) >> 8;  // sign of 56 bits
  return static_cast<std::int64_t>(address) + kInstructionBytes + distance * 4;
}

Operand decode_operand(const Encoding& word, const InstructionRow& row, const OperandField& field, Form form,
                       std::uint64_t address) {
  const bool swapped = form == Form::kImmediateC || form == Form::kConstantC || form == Form::kUniformC;
  switch (field.kind) {
    case FieldKind::kRegister:
      return register_operand(word, field.first, false);
    case FieldKind::kUniformRegister:
      return register_operand(word, field.first, true);
    case FieldKind::kSourceA: {
      Operand operand = register_operand(word, 24, row.uniform);
      operand.reuse = word.bit(kReuseA);
      apply_sign(operand, word, field, 72, 73);
      return operand;
    }
    case FieldKind::kSpot1:
      return decode_spot1(word, row, field, form);
    case FieldKind::kSourceB:
      return swapped ? decode_spot2(word, row, field) : decode_spot1(word, row, field, form);
    case FieldKind::kSourceC:
      return swapped ? decode_spot1(word, row, field, form) : decode_spot2(word, row, field);
    case FieldKind::kPredicate:
    case FieldKind::kUniformPredicate:
      return decode_predicate(word, field);
    case FieldKind::kImmediate:
      return valued(OperandKind::kImmediate, static_cast<std::int64_t>(word.field(field.first, field.count)));
    case FieldKind::kConstant: {
      Operand operand = constant_operand(word);
      if (field.first != 0) {
        operand.index = static_cast<std::uint8_t>(word.field(field.first, 8));
      }
      return operand;
    }
    case FieldKind::kAddress:
      return decode_address(word, row, field);
    case FieldKind::kSpecialRegister:
      return valued(OperandKind::kSpecialRegister, static_cast<std::int64_t>(word.field(72, 8)));
    case FieldKind::kBranchTarget:
      return valued(OperandKind::kBranchTarget, branch_target(word, address));
    case FieldKind::kScoreboard: {
      Operand operand = valued(OperandKind::kScoreboard, 0);
      operand.index = static_cast<std::uint8_t>(word.field(44, 3));
      return operand;
    }
    case FieldKind::kMixedPredicate: {
      Operand operand = decode_predicate(word, field);
      operand.kind = word.bit(67) ? OperandKind::kUniformPredicate : OperandKind::kPredicate;
      return operand;
    }
    case FieldKind::kPredicateTable:
      return valued(OperandKind::kImmediate, static_cast<std::int64_t>(word.field(72, 5) << 3 | word.field(64, 3)));
    case FieldKind::kSyncTarget:
      return valued(OperandKind::kBranchTarget,
                    static_cast<std::int64_t>(address) + kInstructionBytes + word.signed_field(34, 30) * 4);
    case FieldKind::kConvergence: {
      Operand operand = valued(OperandKind::kConvergence, 0);
      operand.index = static_cast<std::uint8_t>(word.field(16, 4));
      return operand;
    }
    case FieldKind::kNone:
      break;
  }
  return {};
}

constexpr std::string_view kOpcodeRemedy =
    "This version knows the instructions of sm_90 FP32 and mma.sync GEMM kernels; report the instruction to have it "
    "added.";

tl::unexpected<Error> unknown_bits(const InstructionRow& row, const Encoding& odd) {
  return fail(ErrorKind::kUsage,
              fmt::format("{} has encoding bits that are not understood (0x{:016x} in the first word, 0x{:016x} in the "
                          "second).",
                          row.mnemonic, odd.low, odd.high),
              std::string(kOpcodeRemedy));
}

}  // namespace

Result<SassInstruction> decode(const Encoding& encoding, std::uint64_t address) {
  const auto opcode_bits = static_cast<std::uint16_t>(encoding.field(0, 12));
  const InstructionRow* row = find_row(opcode_bits);
  if (row == nullptr) {
    return fail(ErrorKind::kUsage, fmt::format("Opcode 0x{:03x} is not known.", opcode_bits),
                std::string(kOpcodeRemedy));
  }
  const auto form = static_cast<Form>(opcode_bits >> 9);
  const Encoding odd_mask = ~covered_bits(*row, form);
  const Encoding odd = encoding & odd_mask;
  if (odd != (row->fixed & odd_mask)) {
    return unknown_bits(*row,
                        {odd.low ^ (row->fixed.low & odd_mask.low), odd.high ^ (row->fixed.high & odd_mask.high)});
  }
  SassInstruction instruction;
  instruction.address = address;
  instruction.encoding = encoding;
  instruction.opcode = row->opcode;
  instruction.row = row;
  instruction.guard =
      decode_guard(encoding, row->uniform && row->opcode != Opcode::kS2ur && row->opcode != Opcode::kVoteu);
  instruction.control = decode_control(encoding);
  for (const ModifierField& modifier : row->modifiers) {
    if (modifier.id == Modifier::kNone) {
      break;
    }
    const std::uint64_t value = encoding.field(modifier.first, modifier.count);
    if (value >= modifier.names.size() || modifier.names[value] == "?") {
      return fail(ErrorKind::kUsage,
                  fmt::format("{} has an unknown modifier: {} in bits {}-{}.", row->mnemonic, value, modifier.first,
                              modifier.first + modifier.count - 1),
                  std::string(kOpcodeRemedy));
    }
    instruction.modifiers[static_cast<std::size_t>(modifier.id)] = static_cast<std::uint8_t>(value);
  }
  for (const OperandField& field : row->operands) {
    if (field.kind == FieldKind::kNone) {
      break;
    }
    instruction.operands[static_cast<std::size_t>(field.role)] = decode_operand(encoding, *row, field, form, address);
  }
  return instruction;
}

namespace {

Error in_listing(Error error, const ListedKernel& kernel, const ListedInstruction& listed) {
  const std::string text = listed.text.empty() ? std::string("(no text)") : listed.text;
  error.message =
      fmt::format("{} (instruction '{}' at 0x{:x} of {})", error.message, text, listed.address, kernel.name);
  error.where = code_place(kernel.file, kernel.name, listed.line, listed.address);
  return error;
}

}  // namespace

std::string code_place(const std::string& file, const std::string& name, std::uint32_t line, std::uint64_t address) {
  return line != 0 ? fmt::format("{}:{}", file, line) : fmt::format("{}:{}+0x{:x}", file, name, address);
}

Result<DecodedKernel> decode_kernel(const ListedKernel& kernel) {
  DecodedKernel decoded;
  decoded.file = kernel.file;
  decoded.name = kernel.name;
  decoded.architecture = kernel.architecture;
  decoded.instructions.reserve(kernel.instructions.size());
  const auto end = static_cast<std::int64_t>(kernel.instructions.size()) * kInstructionBytes;
  for (const ListedInstruction& listed : kernel.instructions) {
    auto instruction = decode(listed.encoding, listed.address);
    if (!instruction) {
      return tl::unexpected<Error>(in_listing(std::move(instruction.error()), kernel, listed));
    }
    const Operand& target = instruction->operand(Role::kB);
    if (target.kind == OperandKind::kBranchTarget &&
        (target.value < 0 || target.value >= end || target.value % kInstructionBytes != 0)) {
      return tl::unexpected<Error>(
          in_listing({ErrorKind::kUsage,
                      fmt::format("Branch target {:#x} is outside the function.", target.value),
                      "Pass the whole function.",
                      {}},
                     kernel, listed));
    }
    decoded.instructions.push_back(*instruction);
    decoded.text.push_back(listed.text);
    decoded.lines.push_back(listed.line);
  }
  const Opcode last = decoded.instructions.empty() ? Opcode::kExit : decoded.instructions.back().opcode;
  if (last != Opcode::kNop && last != Opcode::kBra && last != Opcode::kExit) {
    return tl::unexpected<Error>(in_listing(
        {ErrorKind::kUsage, "The code is cut: the function does not end here.", "Pass the whole function.", {}}, kernel,
        kernel.instructions.back()));
  }
  return decoded;
}

}  // namespace tilesim::traces
