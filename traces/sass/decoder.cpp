#include "traces/sass/decoder.h"

#include <fmt/format.h>

#include "sim/isa/program.h"
#include "traces/sass/instruction_table.h"
#include "traces/sass/operand_layout.h"

namespace tilesim::traces {
namespace {

constexpr std::int64_t kInstructionBytes = 16;

Guard decode_guard(const Encoding& word, bool uniform) {
  return {static_cast<std::uint8_t>(word.field(12, 3)), word.bit(15), uniform};
}

Control decode_control(const Encoding& word) {
  return {static_cast<std::uint8_t>(word.field(105, 4)), word.bit(109), static_cast<std::uint8_t>(word.field(110, 3)),
          static_cast<std::uint8_t>(word.field(113, 3)), static_cast<std::uint8_t>(word.field(116, 6))};
}

std::uint8_t read(const Encoding& word, BitRange range) {
  return static_cast<std::uint8_t>(word.field(range.first, range.count));
}
bool is_set(const Encoding& word, BitRange range) { return range.count != 0 && word.bit(range.first); }

std::int64_t decode_value(const Encoding& word, const OperandLayout& layout, std::uint64_t address) {
  const auto [low, high] = layout.value;
  const unsigned count = low.count + high.count;
  if (count == 0) {
    return 0;
  }
  std::uint64_t value = word.field(low.first, low.count) | word.field(high.first, high.count) << low.count;
  if (layout.signed_value) {
    const std::uint64_t sign = std::uint64_t{1} << (count - 1);
    value = (value ^ sign) - sign;
  }
  const auto number = static_cast<std::int64_t>(value);
  return layout.relative ? static_cast<std::int64_t>(address) + kInstructionBytes + number * 4 : number;
}

Operand decode_operand(const Encoding& word, const OperandLayout& layout, std::uint64_t address) {
  Operand operand;
  operand.kind = is_set(word, layout.uniform_kind) ? OperandKind::kUniformPredicate : layout.kind;
  operand.index = layout.index.count != 0 ? read(word, layout.index) : layout.absent_index;
  if (layout.inverted) {
    operand.index = static_cast<std::uint8_t>(operand.index ^ ((1U << layout.index.count) - 1));
  }
  operand.value = decode_value(word, layout, address);
  operand.negated = is_set(word, layout.negate);
  operand.absolute = is_set(word, layout.absolute);
  operand.reuse = is_set(word, layout.reuse);
  operand.halves = read(word, layout.halves);
  operand.scale = read(word, layout.scale);
  operand.bank = read(word, layout.bank);
  operand.wide = layout.wide;
  const bool adds_uniform =
      layout.uniform.count != 0 && (layout.uniform_present.count == 0 || is_set(word, layout.uniform_present));
  operand.uniform = adds_uniform ? read(word, layout.uniform) : kUniformUrz;
  operand.descriptor = layout.descriptor.count != 0 ? read(word, layout.descriptor) : kUniformUrz;
  return operand;
}

constexpr std::string_view kOpcodeRemedy =
    "This version knows the instructions of FP32 and mma.sync GEMM kernels for sm_80, sm_86, sm_89 and sm_90; report "
    "the "
    "instruction to have it added.";

// What an operand can be by its bits and never is; null if it makes sense.
const char* oddity_of(const OperandField& field, const Operand& operand, const OperandLayout& layout,
                      const Encoding& word) {
  constexpr std::uint8_t kNoHalves = 1;
  if (operand.halves == kNoHalves) {
    return "a source of unknown halves";
  }
  if (operand.kind == OperandKind::kConstant && field.kind != FieldKind::kConstant && operand.value % 4 != 0) {
    return "a constant at an offset that is no multiple of 4";
  }
  if (field.paired && operand.index == kRegisterRz && operand.value != 0) {
    return "an address without a register";
  }
  const bool adds = is_set(word, layout.uniform_present);
  if (adds && operand.uniform == kUniformUrz) {
    return "an address that adds URZ";
  }
  return layout.uniform_present.count != 0 && !adds && read(word, layout.uniform) != 0
             ? "a uniform register that the address does not add"
             : nullptr;
}

tl::unexpected<Error> unknown_opcode(std::uint16_t opcode_bits, int architecture) {
  if (!is_known_architecture(architecture)) {
    return fail(ErrorKind::kUsage, fmt::format("Code for sm_{} is not understood.", architecture),
                "Compile for sm_80, sm_86, sm_89 or sm_90.");
  }
  for (const int other : kArchitectures) {
    if (const InstructionRow* row = find_row(opcode_bits, other); row != nullptr) {
      return fail(
          ErrorKind::kUsage,
          fmt::format("{} (opcode 0x{:03x}) is no instruction of sm_{}.", row->mnemonic, opcode_bits, architecture),
          "Check that the code is for the architecture that its file names.");
    }
  }
  return fail(ErrorKind::kUsage, fmt::format("Opcode 0x{:03x} is not known.", opcode_bits), std::string(kOpcodeRemedy));
}

tl::unexpected<Error> unknown_bits(const InstructionRow& row, const Encoding& odd) {
  return fail(ErrorKind::kUsage,
              fmt::format("{} has encoding bits that are not understood (0x{:016x} in the first word, 0x{:016x} in the "
                          "second).",
                          row.mnemonic, odd.low, odd.high),
              std::string(kOpcodeRemedy));
}

}  // namespace

Result<SassInstruction> decode(const Encoding& encoding, std::uint64_t address, int architecture) {
  const auto opcode_bits = static_cast<std::uint16_t>(encoding.field(0, 12));
  const InstructionRow* row = find_row(opcode_bits, architecture);
  if (row == nullptr) {
    return unknown_opcode(opcode_bits, architecture);
  }
  const auto form = static_cast<Form>(opcode_bits >> 9);
  const Encoding odd_mask = ~covered_bits(*row, form);
  const Encoding odd = encoding & odd_mask;
  if (const Encoding fixed = fixed_bits(*row, form); odd != fixed) {
    return unknown_bits(*row, {odd.low ^ fixed.low, odd.high ^ fixed.high});
  }
  SassInstruction instruction;
  instruction.address = address;
  instruction.encoding = encoding;
  instruction.opcode = row->opcode;
  instruction.row = row;
  instruction.form = static_cast<std::uint8_t>(form);
  instruction.architecture = static_cast<std::int16_t>(architecture);
  instruction.guard = decode_guard(encoding, has_uniform_guard(*row));
  instruction.control = decode_control(encoding);
  for (const ModifierField& modifier : row->modifiers) {
    if (modifier.id == Modifier::kNone) {
      break;
    }
    const std::uint64_t value = modifier_value(modifier, encoding);
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
    const OperandLayout layout = layout_of(*row, field, form);
    const Operand operand = decode_operand(encoding, layout, address);
    if (const char* oddity = oddity_of(field, operand, layout, encoding)) {
      return fail(ErrorKind::kUsage, fmt::format("{} has {}.", row->mnemonic, oddity), std::string(kOpcodeRemedy));
    }
    instruction.operands[static_cast<std::size_t>(field.role)] = operand;
  }
  return instruction;
}

namespace {

// NOP with the control field of an instruction: what it waits for and what waits for it stays.
Encoding nop_in_place_of(const Encoding& word) {
  constexpr unsigned kControlFirst = 105;
  constexpr unsigned kControlBits = 17;
  Encoding nop{0x0000000000007918, 0};
  nop.set_field(kControlFirst, kControlBits, word.field(kControlFirst, kControlBits));
  return nop;
}

bool scoreboards_exist(const SassInstruction& in) {
  const auto is_one = [](unsigned number) { return number < isa::kScoreboards; };
  const auto is_one_or_none = [is_one](unsigned number) { return is_one(number) || number == isa::kNoScoreboard; };
  const bool waits = in.row->control == isa::ControlOp::kWaitGroups;
  return is_one_or_none(in.control.write_scoreboard) && is_one_or_none(in.control.read_scoreboard) &&
         (!waits || is_one(in.operand(Role::kA).index));
}

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

Result<DecodedKernel> decode_kernel(const ListedKernel& kernel, Unknown unknown) {
  DecodedKernel decoded;
  decoded.file = kernel.file;
  decoded.name = kernel.name;
  decoded.architecture = kernel.architecture;
  decoded.instructions.reserve(kernel.instructions.size());
  const auto end = static_cast<std::int64_t>(kernel.instructions.size()) * kInstructionBytes;
  for (const ListedInstruction& listed : kernel.instructions) {
    auto instruction = decode(listed.encoding, listed.address, kernel.architecture);
    if (!instruction && unknown == Unknown::kDoesNothing) {
      decoded.unknown.push_back(static_cast<std::uint32_t>(decoded.instructions.size()));
      instruction = decode(nop_in_place_of(listed.encoding), listed.address, kernel.architecture);
    }
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
    if (!scoreboards_exist(*instruction)) {
      return tl::unexpected<Error>(in_listing({ErrorKind::kUsage,
                                               "The instruction names a scoreboard that there is not: they are 0 to 5.",
                                               "Pass the code as the compiler made it.",
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
