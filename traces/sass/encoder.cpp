#include "traces/sass/encoder.h"

#include <fmt/format.h>

#include "traces/sass/instruction_table.h"
#include "traces/sass/operand_layout.h"

namespace tilesim::traces {
namespace {

constexpr std::int64_t kInstructionBytes = 16;

class Encoder {
 public:
  explicit Encoder(const SassInstruction& in) : in_(in), form_(static_cast<Form>(in.form)) {}

  Result<Encoding> run();

 private:
  void common();
  void modifiers();
  void operand(const OperandField& field);
  void value(const Operand& operand, const OperandLayout& layout);
  void addends(const Operand& operand, const OperandLayout& layout);
  void write(BitRange range, std::uint64_t value, std::string_view what);
  void wrong(std::string what) { problem_ = problem_.empty() ? std::move(what) : problem_; }

  const SassInstruction& in_;
  Form form_;
  Encoding word_;
  std::string problem_;
};

void Encoder::write(BitRange range, std::uint64_t value, std::string_view what) {
  if (range.count < 64 && value >> range.count != 0) {
    wrong(fmt::format("{} {} does not fit {} bits", what, value, range.count));
  }
  word_.set_field(range.first, range.count, value);
}

void Encoder::common() {
  const auto bits = [](int first, int count) {
    return BitRange{static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(count)};
  };
  word_ = fixed_bits(*in_.row, form_);
  word_.set_field(0, 9, in_.row->code);
  word_.set_field(9, 3, in_.form);
  write(bits(12, 3), in_.guard.predicate, "guard");
  word_.set_field(15, 1, in_.guard.negated ? 1 : 0);
  write(bits(105, 4), in_.control.stall, "stall count");
  word_.set_field(109, 1, in_.control.yield_bit ? 1 : 0);
  write(bits(110, 3), in_.control.write_scoreboard, "write scoreboard");
  write(bits(113, 3), in_.control.read_scoreboard, "read scoreboard");
  write(bits(116, 6), in_.control.wait_mask, "wait mask");
}

void Encoder::modifiers() {
  std::size_t present = 0;
  for (const ModifierField& modifier : in_.row->modifiers) {
    if (modifier.id == Modifier::kNone) {
      break;
    }
    const std::uint8_t value = in_.modifier(modifier.id);
    if (value >= modifier.names.size() || modifier.names[value] == "?") {
      wrong(fmt::format("modifier value {} means nothing", value));
    }
    word_.set_field(modifier.first, modifier.count, value);
    word_.set_field(modifier.high_bit, modifier.high_bit != 0 ? 1 : 0, value >> modifier.count);
    present += value != 0 ? 1 : 0;
  }
  for (const std::uint8_t value : in_.modifiers) {
    present -= value != 0 ? 1 : 0;
  }
  if (present != 0) {
    wrong("it has a modifier that the opcode lacks");
  }
}

// Immediates, offsets and distances, low part first.
void Encoder::value(const Operand& operand, const OperandLayout& layout) {
  const auto [low, high] = layout.value;
  const unsigned count = low.count + high.count;
  std::int64_t number = operand.value;
  if (layout.relative) {
    number -= static_cast<std::int64_t>(in_.address) + kInstructionBytes;
    if (number % 4 != 0) {
      wrong(fmt::format("its target 0x{:x} is no multiple of 4 bytes away", operand.value));
    }
    number /= 4;
  }
  const std::int64_t limit = count == 0 ? 0 : std::int64_t{1} << (layout.signed_value ? count - 1 : count);
  const std::int64_t lowest = layout.signed_value ? -limit : 0;
  if (number != 0 && (number < lowest || number >= limit)) {
    wrong(fmt::format("its value {} does not fit {} bits", number, count));
  }
  const auto bits = static_cast<std::uint64_t>(number);
  word_.set_field(low.first, low.count, bits);
  word_.set_field(high.first, high.count, high.count != 0 ? bits >> low.count : 0);
}

// What an address is made of beside register and offset.
void Encoder::addends(const Operand& operand, const OperandLayout& layout) {
  write(layout.scale, operand.scale, "scale");
  write(layout.bank, operand.bank, "constant bank");
  if (layout.descriptor.count != 0) {
    write(layout.descriptor, operand.descriptor, "descriptor");
  }
  const bool adds_uniform = operand.uniform != kUniformUrz;
  if (layout.uniform.count != 0 && (adds_uniform || layout.uniform_present.count == 0)) {
    write(layout.uniform, operand.uniform, "uniform register");
    word_.set_field(layout.uniform_present.first, layout.uniform_present.count, 1);
  } else if (adds_uniform) {
    wrong("its address has a uniform register that the form lacks");
  }
}

void Encoder::operand(const OperandField& field) {
  const OperandLayout layout = layout_of(*in_.row, field, form_);
  const Operand& operand = in_.operand(field.role);
  const bool uniform_predicate = layout.uniform_kind.count != 0 && operand.kind == OperandKind::kUniformPredicate;
  if (operand.kind != layout.kind && !uniform_predicate) {
    wrong("an operand is not of the kind that the form has");
    return;
  }
  word_.set_field(layout.uniform_kind.first, layout.uniform_kind.count, uniform_predicate ? 1 : 0);
  const unsigned flip = layout.inverted ? (1U << layout.index.count) - 1 : 0;
  if (layout.index.count != 0) {
    write(layout.index, operand.index ^ flip, "register or number");
  } else if (operand.index != layout.absent_index) {
    wrong("an operand has a register that the form lacks");
  }
  value(operand, layout);
  write(layout.negate, operand.negated ? 1 : 0, "negation");
  write(layout.absolute, operand.absolute ? 1 : 0, "absolute value");
  write(layout.reuse, operand.reuse ? 1 : 0, "reuse");
  write(layout.halves, operand.halves, "choice of halves");
  addends(operand, layout);
}

Result<Encoding> Encoder::run() {
  if (in_.row == nullptr || (in_.row->forms >> in_.form & 1) == 0) {
    return fail(ErrorKind::kUsage, "The instruction has no row in the table, or its row lacks the form.",
                "Start from a decoded instruction.");
  }
  common();
  modifiers();
  for (const OperandField& field : in_.row->operands) {
    if (field.kind == FieldKind::kNone) {
      break;
    }
    operand(field);
  }
  if (!problem_.empty()) {
    return fail(ErrorKind::kUsage, fmt::format("{} cannot be encoded: {}.", in_.row->mnemonic, problem_),
                "Check the operands against the disassembler's text of a like instruction.");
  }
  return word_;
}

}  // namespace

Result<Encoding> encode(const SassInstruction& instruction) { return Encoder(instruction).run(); }

}  // namespace tilesim::traces
