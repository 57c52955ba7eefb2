#include "traces/sass/operand_parser.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "traces/emulator/half_precision.h"
#include "traces/sass/listing_lines.h"

namespace tilesim::traces {
namespace {

constexpr std::int64_t kInstructionBytes = 16;
constexpr std::int64_t kWordMask = 0xffffffff;

bool take_prefix(std::string_view& text, std::string_view prefix) {
  const bool there = text.starts_with(prefix);
  text.remove_prefix(there ? prefix.size() : 0);
  return there;
}
bool take_suffix(std::string_view& text, std::string_view suffix) {
  const bool there = text.ends_with(suffix);
  text.remove_suffix(there ? suffix.size() : 0);
  return there;
}

// "R12" after its prefix; `last` is the name of the number that means none.
std::optional<std::uint8_t> numbered(std::string_view text, std::string_view prefix, std::string_view none,
                                     std::uint8_t none_number) {
  if (!take_prefix(text, prefix)) {
    return std::nullopt;
  }
  if (text == none) {
    return none_number;
  }
  std::uint8_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = !text.empty() && error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}
std::optional<std::uint8_t> register_number(std::string_view text) { return numbered(text, "R", "Z", kRegisterRz); }
std::optional<std::uint8_t> uniform_number(std::string_view text) { return numbered(text, "UR", "Z", kUniformUrz); }

std::optional<double> real(std::string_view text) {
  if (text == "+QNAN" || text == "-QNAN") {
    return std::copysign(std::nan(""), text.front() == '-' ? -1.0 : 1.0);
  }
  if (text == "+INF" || text == "-INF") {
    return text.front() == '-' ? -INFINITY : INFINITY;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = !text.empty() && error == std::errc{} && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool is_hexadecimal(std::string_view text) { return text.starts_with("0x") || text.starts_with("-0x"); }

std::optional<std::int64_t> half_pair(std::string_view text, const SassInstruction& instruction) {
  const auto type = instruction.modifier(Modifier::kPackedType) != 0 ? HalfType::kBfloat16 : HalfType::kFloat16;
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) {
    return std::nullopt;
  }
  const auto high = real(trim(text.substr(0, comma)));
  const auto low = real(trim(text.substr(comma + 1)));
  if (!high || !low) {
    return std::nullopt;
  }
  const std::uint16_t pair[] = {to_half(*low, type), to_half(*high, type)};
  if (std::isinf(half_to_float(pair[0], type)) != std::isinf(*low) ||
      std::isinf(half_to_float(pair[1], type)) != std::isinf(*high)) {
    return std::nullopt;  // too large
  }
  return std::int64_t{pair[1]} << 16 | pair[0];
}

std::optional<std::int64_t> immediate(std::string_view text, const SassInstruction& instruction,
                                      const OperandField& field) {
  const bool is_real = field.format == Format::kFloat || field.format == Format::kHalfPair;
  if (!is_real || is_hexadecimal(text)) {
    const auto number = parse_integer(text);
    return number && *number < 0 && *number >= -(std::int64_t{1} << 31) ? *number & kWordMask : number;
  }
  if (field.format == Format::kHalfPair) {
    return half_pair(text, instruction);
  }
  const auto number = real(text);
  const bool fits = number && (std::isinf(*number) || std::abs(*number) <= std::numeric_limits<float>::max());
  return fits || (number && std::isnan(*number))
             ? std::optional<std::int64_t>(std::bit_cast<std::uint32_t>(static_cast<float>(*number)))
             : std::nullopt;
}

// "[...]" without its brackets.
std::optional<std::string_view> bracketed(std::string_view text) {
  return take_prefix(text, "[") && take_suffix(text, "]") ? std::optional(text) : std::nullopt;
}

// c[0x0][R1+0x210]; half precision writes a space in between.
bool constant(std::string_view text, Operand& operand) {
  constexpr std::int64_t kOffsetMask = 0xffff;
  const std::size_t middle = text.find(']');
  if (!take_prefix(text, "c[") || middle == std::string_view::npos) {
    return false;
  }
  const auto bank = parse_integer(text.substr(0, middle - 2));
  const auto inside = bracketed(trim(text.substr(middle - 1)));
  constexpr std::int64_t kMostBanks = 255;
  if (!bank || *bank < 0 || *bank > kMostBanks || !inside) {
    return false;
  }
  operand.bank = static_cast<std::uint8_t>(*bank);
  const std::size_t plus = inside->find('+');
  const auto first = register_number(inside->substr(0, plus));
  operand.index = first.value_or(kRegisterRz);
  if (first && plus == std::string_view::npos) {
    return true;
  }
  const auto offset = parse_integer(first ? inside->substr(plus + 1) : *inside);
  operand.value = offset.value_or(0) < 0 ? *offset & kOffsetMask : offset.value_or(0);
  return offset && *offset >= -(kOffsetMask + 1) / 2;
}

struct Summands {
  bool offset = false;
  bool general = false;
  bool uniform = false;
};

// One summand of an address, of which there is one of each kind at most.
bool summand(std::string_view text, const OperandLayout& layout, Summands& seen, Operand& operand) {
  constexpr std::string_view kScales[] = {"", ".X4", ".X8", ".X16"};
  if (const auto uniform = uniform_number(text)) {
    operand.uniform = *uniform;
    return !std::exchange(seen.uniform, true);
  }
  if (const auto offset = parse_integer(text)) {
    operand.value = *offset;
    return !std::exchange(seen.offset, true);
  }
  take_suffix(text, layout.wide ? ".64" : "");
  for (std::uint8_t scale = 1; scale < 4; ++scale) {
    if (take_suffix(text, kScales[scale])) {
      operand.scale = scale;
      break;
    }
  }
  const auto number = register_number(text);
  operand.index = number.value_or(kRegisterRz);
  return number.has_value() && !std::exchange(seen.general, true);
}

bool address(std::string_view text, const OperandLayout& layout, Operand& operand) {
  operand.index = kRegisterRz;
  if (layout.descriptor.count != 0 && take_prefix(text, "desc[")) {
    const std::size_t close = text.find(']');
    const auto descriptor = uniform_number(text.substr(0, close));
    if (!descriptor || close == std::string_view::npos) {
      return false;
    }
    operand.descriptor = *descriptor;
    text.remove_prefix(close + 1);
  }
  auto inside = bracketed(text);
  if (!inside) {
    return false;
  }
  Summands seen;
  while (true) {
    const std::size_t plus = inside->find('+');
    if (!summand(inside->substr(0, plus), layout, seen, operand)) {
      return false;
    }
    if (plus == std::string_view::npos) {
      break;
    }
    inside->remove_prefix(plus + 1);
  }
  // An absolute address is written without its sign.
  constexpr std::int64_t kOffsets = std::int64_t{1} << 24;
  operand.value -=
      operand.index == kRegisterRz && operand.value >= kOffsets / 2 && operand.value < kOffsets ? kOffsets : 0;
  return true;
}

std::optional<std::int64_t> special_register(std::string_view text, int architecture) {
  constexpr std::int64_t kNumbers = 256;
  for (std::int64_t number = 0; number < kNumbers; ++number) {
    if (!text.empty() && special_register_name(number, architecture) == text) {
      return number;
    }
  }
  return take_prefix(text, "SR") ? parse_integer(text) : std::nullopt;
}

std::optional<std::int64_t> target(std::string_view text, const Labels& labels) {
  constexpr std::int64_t kFarthest = std::int64_t{1} << 60;  // no field reaches that far
  const auto label = labels.find(text);
  const auto value =
      label != labels.end() ? std::optional(static_cast<std::int64_t>(label->second)) : parse_integer(text);
  return value && *value > -kFarthest && *value < kFarthest ? value : std::nullopt;
}

// BRX says how far its target is, RET where.
bool indirect_target(std::string_view text, const SassInstruction& instruction, const Labels& labels,
                     Operand& operand) {
  const std::size_t space = text.find(' ');
  const auto number = register_number(text.substr(0, space));
  const auto value = space == std::string_view::npos ? std::nullopt : target(trim(text.substr(space)), labels);
  if (!number || !value) {
    return false;
  }
  operand.index = *number;
  operand.value = *value;
  if (instruction.opcode == Opcode::kBrx) {
    operand.value += static_cast<std::int64_t>(instruction.address) + kInstructionBytes;
  }
  return true;
}

bool set_index(std::optional<std::uint8_t> number, Operand& operand) {
  operand.index = number.value_or(0);
  return number.has_value();
}
bool set_value(std::optional<std::int64_t> number, Operand& operand) {
  operand.value = number.value_or(0);
  return number.has_value();
}

bool plain(std::string_view text, const SassInstruction& instruction, const OperandField& field,
           const OperandLayout& layout, const Labels& labels, Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kRegister:
      return set_index(register_number(text), operand);
    case OperandKind::kUniformRegister:
      return set_index(uniform_number(text), operand);
    case OperandKind::kPredicate:
      return set_index(numbered(text, "P", "T", kPredicatePt), operand);
    case OperandKind::kUniformPredicate:
      return set_index(numbered(text, "UP", "T", kPredicatePt), operand);
    case OperandKind::kScoreboard:
      return set_index(numbered(text, "SB", "", 0), operand);
    case OperandKind::kConvergence:
      return set_index(numbered(text, "B", "", 0), operand);
    case OperandKind::kImmediate:
      return set_value(immediate(text, instruction, field), operand);
    case OperandKind::kSpecialRegister:
      return set_value(special_register(text, instruction.architecture), operand);
    case OperandKind::kBranchTarget:
      return set_value(target(text, labels), operand);
    case OperandKind::kIndirectTarget:
      return indirect_target(text, instruction, labels, operand);
    case OperandKind::kConstant:
      return constant(text, operand);
    case OperandKind::kAddress:
      return address(text, layout, operand);
    case OperandKind::kPredicateSet:
      return text == "PR";
    case OperandKind::kNone:
      break;
  }
  return false;
}

void take_halves(std::string_view& text, const OperandLayout& layout, Operand& operand) {
  constexpr std::uint8_t kLow = 2;
  constexpr std::uint8_t kHigh = 3;
  if (layout.halves.count != 0) {
    operand.halves = take_suffix(text, ".H0_H0") ? kLow : take_suffix(text, ".H1_H1") ? kHigh : operand.halves;
  }
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const bool negative = take_prefix(text, "-");
  const int base = take_prefix(text, "0x") ? 16 : 10;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || text.front() == '-' || error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return negative ? -value : value;
}

std::optional<Operand> parse_operand(std::string_view text, const SassInstruction& instruction,
                                     const OperandField& field, const OperandLayout& layout, const Labels& labels) {
  Operand operand;
  operand.kind = layout.kind;
  operand.wide = layout.wide;
  operand.index = layout.index.count == 0 ? layout.absent_index : std::uint8_t{0};
  if (layout.uniform_kind.count != 0 && (text.starts_with("UP") || text.starts_with("!UP"))) {
    operand.kind = OperandKind::kUniformPredicate;
  }
  if (layout.negate.count != 0) {
    operand.negated = take_prefix(text, "-") || take_prefix(text, "~") || take_prefix(text, "!");
  }
  take_halves(text, layout, operand);
  operand.reuse = layout.reuse.count != 0 && take_suffix(text, ".reuse");
  if (layout.absolute.count != 0 && take_prefix(text, "|")) {
    operand.absolute = take_suffix(text, "|");
    if (!operand.absolute) {
      return std::nullopt;
    }
  }
  take_halves(text, layout, operand);
  if (!plain(text, instruction, field, layout, labels, operand)) {
    return std::nullopt;
  }
  return operand;
}

}  // namespace tilesim::traces
