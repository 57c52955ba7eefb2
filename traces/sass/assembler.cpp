#include "traces/sass/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "model/nearest_name.h"
#include "traces/sass/decoder.h"
#include "traces/sass/disassembler.h"
#include "traces/sass/encoder.h"
#include "traces/sass/instruction_table.h"
#include "traces/sass/listing_lines.h"
#include "traces/sass/operand_parser.h"

namespace tilesim::traces {
namespace {

constexpr std::uint8_t kNoScoreboard = 7;
constexpr unsigned kScoreboards = 6;
constexpr std::uint64_t kInstructionBytes = 16;
constexpr std::string_view kControlRemedy =
    "Write it as [B01----:R-:W0:Y:S04]: scoreboards to wait for, read and write scoreboard, yield, stall count.";
constexpr std::string_view kTextRemedy = "Write it as 'cuobjdump -sass' prints it.";

tl::unexpected<Error> wrong(std::string message, std::string_view remedy = kTextRemedy) {
  return fail(ErrorKind::kUsage, std::move(message), std::string(remedy));
}

std::string control_text(const Control& control) {
  std::string waits(kScoreboards, '-');
  for (unsigned i = 0; i < kScoreboards; ++i) {
    waits[i] = (control.wait_mask >> i & 1) != 0 ? static_cast<char>('0' + i) : '-';
  }
  const auto scoreboard = [](std::uint8_t number) {
    return number == kNoScoreboard ? std::string("-") : std::to_string(number);
  };
  return fmt::format("[B{}:R{}:W{}:{}:S{:02}]", waits, scoreboard(control.read_scoreboard),
                     scoreboard(control.write_scoreboard), control.yield_bit ? '-' : 'Y', control.stall);
}

// Number of a scoreboard, or kNoScoreboard for '-'.
std::optional<std::uint8_t> scoreboard(char digit) {
  constexpr char kLast = '7';
  if (digit == '-') {
    return kNoScoreboard;
  }
  return digit >= '0' && digit <= kLast ? std::optional(static_cast<std::uint8_t>(digit - '0')) : std::nullopt;
}

// The field without its brackets, all places fixed.
std::optional<Control> parse_control(std::string_view text) {
  constexpr std::string_view kShape = "B------:R-:W-:-:S--";
  constexpr std::size_t kRead = 9;
  constexpr std::size_t kWrite = 12;
  constexpr std::size_t kYield = 14;
  constexpr std::size_t kStall = 17;
  if (text.size() != kShape.size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] != '-' && text[i] != kShape[i]) {
      return std::nullopt;
    }
  }
  Control control;
  for (unsigned i = 0; i < kScoreboards; ++i) {
    const char mark = text[1 + i];
    if (mark != '-' && mark != static_cast<char>('0' + i)) {
      return std::nullopt;
    }
    control.wait_mask = static_cast<std::uint8_t>(control.wait_mask | (mark == '-' ? 0U : 1U << i));
  }
  const auto read = scoreboard(text[kRead]);
  const auto write = scoreboard(text[kWrite]);
  const std::int64_t stall = parse_integer(text.substr(kStall)).value_or(-1);
  constexpr std::int64_t kMostStall = 15;
  if (!read || !write || stall < 0 || stall > kMostStall || (text[kYield] != 'Y' && text[kYield] != '-')) {
    return std::nullopt;
  }
  control.read_scoreboard = *read;
  control.write_scoreboard = *write;
  control.yield_bit = text[kYield] == '-';
  control.stall = static_cast<std::uint8_t>(stall);
  return control;
}

/// Every mnemonic with modifiers that the table knows for an architecture, and what it may stand for.
class Mnemonics {
 public:
  explicit Mnemonics(int architecture) {
    for (const InstructionRow& row : instruction_table()) {
      if (row.first_architecture <= architecture && architecture <= row.last_architecture) {
        SassInstruction instruction;
        instruction.row = &row;
        instruction.opcode = row.opcode;
        instruction.architecture = static_cast<std::int16_t>(architecture);
        enter(instruction, 0);
      }
    }
  }

  static const Mnemonics& of(int architecture) {
    static const std::array<Mnemonics, kArchitectures.size()> kAll{
        Mnemonics(kArchitectures[0]), Mnemonics(kArchitectures[1]), Mnemonics(kArchitectures[2]),
        Mnemonics(kArchitectures[3]), Mnemonics(kArchitectures[4])};
    const auto found = std::find(kArchitectures.begin(), kArchitectures.end(), architecture);
    return kAll[static_cast<std::size_t>(found - kArchitectures.begin())];
  }

  [[nodiscard]] const std::vector<SassInstruction>* find(const std::string& text) const {
    const auto found = by_text_.find(text);
    return found == by_text_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::string near(const std::string& text) const {
    std::vector<std::string> names;
    for (const auto& entry : by_text_) {
      names.push_back(entry.first);
    }
    std::sort(names.begin(), names.end());
    return near_name(text, names);
  }

 private:
  void enter(SassInstruction& instruction, std::size_t next) {
    const auto& modifiers = instruction.row->modifiers;
    if (next == modifiers.size() || modifiers[next].id == Modifier::kNone) {
      by_text_[mnemonic_text(instruction)].push_back(instruction);
      return;
    }
    const ModifierField& modifier = modifiers[next];
    for (std::size_t value = 0; value < modifier.names.size(); ++value) {
      if (modifier.names[value] != "?") {
        instruction.modifiers[static_cast<std::size_t>(modifier.id)] = static_cast<std::uint8_t>(value);
        enter(instruction, next + 1);
      }
    }
  }

  std::unordered_map<std::string, std::vector<SassInstruction>> by_text_;
};

// Listings call an IMAD that moves, shifts or adds after what it does; the encoding is the same.
std::string without_alias(std::string mnemonic) {
  constexpr std::string_view kImad = "IMAD";
  for (const std::string_view alias : {".MOV", ".SHL", ".IADD"}) {
    if (mnemonic.starts_with(kImad) && std::string_view(mnemonic).substr(kImad.size()).starts_with(alias)) {
      mnemonic.erase(kImad.size(), alias.size());
    }
  }
  return mnemonic;
}

// Operands at top level; a pair of half-precision numbers is two of them.
std::vector<std::string_view> split_operands(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t comma = trim(text).empty() ? std::string_view::npos : 0;
  while (comma != std::string_view::npos) {
    comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    parts.push_back(trim(part).empty() ? part.substr(0, 0) : trim(part));  // each within the text, empty ones too
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

/// Fits the operands of a text to the fields of one row in one form.
class OperandFit {
 public:
  OperandFit(SassInstruction& instruction, const std::vector<std::string_view>& parts, const Labels& labels)
      : instruction_(instruction), parts_(parts), labels_(labels) {}

  // Fields from `field` on take the parts from `part` on.
  // NOLINTNEXTLINE(misc-no-recursion): at most as deep as a row has operands
  bool run(std::size_t field, std::size_t part) {
    const auto& operands = instruction_.row->operands;
    if (field == operands.size() || operands[field].kind == FieldKind::kNone) {
      return part == parts_.size();
    }
    const OperandField& expected = operands[field];
    const OperandLayout layout = layout_of(*instruction_.row, expected, static_cast<Form>(instruction_.form));
    Operand& operand = instruction_.operands[static_cast<std::size_t>(expected.role)];
    for (const std::size_t count : {1U, 2U}) {
      const bool pair = layout.kind == OperandKind::kImmediate && expected.format == Format::kHalfPair;
      if (part + count > parts_.size() || (count == 2 && !pair)) {
        break;
      }
      const char* first = parts_[part].data();
      const std::string_view& last = parts_[part + count - 1];
      const std::string_view text(first, static_cast<std::size_t>(last.data() + last.size() - first));
      const auto parsed = parse_operand(text, instruction_, expected, layout, labels_);
      if (parsed) {
        operand = *parsed;
        if (run(field + 1, part + count)) {
          return true;
        }
      }
    }
    if (shown_by_modifiers(instruction_, expected).value_or(false)) {
      return false;
    }
    operand = left_out(expected, layout);
    return run(field + 1, part);
  }

 private:
  SassInstruction& instruction_;
  const std::vector<std::string_view>& parts_;
  const Labels& labels_;
};

struct LineText {
  Control control;
  std::string_view guard;  ///< without the @
  std::string mnemonic;
  std::vector<std::string_view> operands;
};

Result<LineText> split_line(std::string_view line) {
  LineText text;
  const std::size_t close = line.find(']');
  const auto control = line.starts_with('[') && close != std::string_view::npos
                           ? parse_control(line.substr(1, close - 1))
                           : std::nullopt;
  if (!control) {
    return wrong(fmt::format("'{}' does not begin with a control field.", line), kControlRemedy);
  }
  text.control = *control;
  line = trim(line.substr(close + 1));
  if (line.starts_with('@')) {
    const std::size_t space = line.find(' ');
    text.guard = line.substr(1, space == std::string_view::npos ? space : space - 1);
    line = space == std::string_view::npos ? std::string_view{} : trim(line.substr(space));
  }
  const std::size_t space = line.find(' ');
  text.mnemonic = without_alias(std::string(line.substr(0, space)));
  text.operands = split_operands(space == std::string_view::npos ? std::string_view{} : line.substr(space));
  return text;
}

std::optional<Guard> parse_guard(std::string_view text, bool uniform) {
  Guard guard;
  guard.uniform = uniform;
  if (text.empty()) {
    return guard;
  }
  guard.negated = text.front() == '!';
  text.remove_prefix(guard.negated ? 1 : 0);
  const std::string_view prefix = uniform ? "UP" : "P";
  if (!text.starts_with(prefix)) {
    return std::nullopt;
  }
  text.remove_prefix(prefix.size());
  if (text.size() != 1 || (text != "T" && (text.front() < '0' || text.front() > '6'))) {
    return std::nullopt;
  }
  guard.predicate = text == "T" ? kPredicatePt : static_cast<std::uint8_t>(text.front() - '0');
  return guard;
}

// The word, if it says just what the instruction does: fields that share bits must agree.
Result<Encoding> encode_exactly(const SassInstruction& instruction) {
  auto word = encode(instruction);
  if (!word) {
    return word;
  }
  const auto again = decode(*word, instruction.address, instruction.architecture);
  if (!again) {
    return tl::unexpected<Error>(again.error());
  }
  if (again->operands != instruction.operands) {
    return wrong(fmt::format("{} cannot be encoded: its operands contradict each other.", instruction.row->mnemonic));
  }
  return word;
}

Result<Encoding> assemble_text(std::string_view line, std::uint64_t address, int architecture, const Labels& labels) {
  const auto text = split_line(line);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  const Mnemonics& known = Mnemonics::of(architecture);
  const auto* candidates = known.find(text->mnemonic);
  if (candidates == nullptr) {
    const std::string near = known.near(text->mnemonic);
    return wrong(fmt::format("'{}' is no instruction of sm_{} that the table knows.", text->mnemonic, architecture),
                 near.empty() ? std::string(kTextRemedy) : fmt::format("Did you mean {}?", near));
  }
  std::optional<Error> refused;
  for (SassInstruction instruction : *candidates) {
    instruction.address = address;
    instruction.control = text->control;
    const auto guard = parse_guard(text->guard, has_uniform_guard(*instruction.row));
    if (!guard) {
      return wrong(fmt::format("'@{}' is no guard of {}.", text->guard, text->mnemonic),
                   "Write @P0 to @P6, @!P0 or @PT; on the uniform datapath @UP0.");
    }
    instruction.guard = *guard;
    for (std::uint8_t form = 0; form < 8; ++form) {
      instruction.form = form;
      if ((instruction.row->forms >> form & 1) == 0 || !OperandFit(instruction, text->operands, labels).run(0, 0)) {
        continue;
      }
      auto word = encode_exactly(instruction);
      if (word) {
        return word;
      }
      refused = refused ? refused : word.error();
    }
  }
  if (refused) {
    return tl::unexpected<Error>(*refused);
  }
  return wrong(fmt::format("{} does not take the operands '{}'.", text->mnemonic, fmt::join(text->operands, ", ")));
}

bool is_name(std::string_view text) {
  return !text.empty() && (text.front() < '0' || text.front() > '9') &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
                  c == '$' || c == '+' || c == '-';
         });
}

class TextAssembler {
 public:
  TextAssembler(std::string file, int architecture) : file_(std::move(file)), architecture_(architecture) {}

  Result<std::vector<AssembledKernel>> run(std::string_view text);

 private:
  struct Line {
    std::string_view text;
    std::uint32_t number = 0;
  };

  [[nodiscard]] tl::unexpected<Error> at(std::uint32_t line, Error error) const {
    error.where = fmt::format("{}:{}", file_, line);
    return tl::unexpected<Error>(std::move(error));
  }
  [[nodiscard]] tl::unexpected<Error> at(std::uint32_t line, std::string message, std::string remedy) const {
    return at(line, Error{ErrorKind::kUsage, std::move(message), std::move(remedy), {}});
  }
  Result<void> line(std::string_view text, std::uint32_t number);
  Result<void> directive(std::string_view text, std::uint32_t number);
  Result<void> close();

  std::string file_;
  int architecture_;
  std::vector<AssembledKernel> kernels_;
  std::vector<Line> code_;  // of the last kernel
  Labels labels_;
};

Result<void> TextAssembler::directive(std::string_view text, std::uint32_t number) {
  const std::size_t space = text.find_first_of(" \t");
  const std::string_view name = text.substr(0, space);
  const std::string_view value = space == std::string_view::npos ? std::string_view{} : trim(text.substr(space));
  if (name == ".kernel") {
    if (auto done = close(); !done) {
      return done;
    }
    const auto same = [value](const AssembledKernel& kernel) { return kernel.name == value; };
    if (!is_name(value) || std::any_of(kernels_.begin(), kernels_.end(), same)) {
      return at(number, fmt::format("Kernel name '{}' is no name or is there already.", value),
                "Give every kernel a name of its own, of letters, digits and _.$+-.");
    }
    AssembledKernel kernel;
    kernel.name = std::string(value);
    kernel.line = number;
    kernels_.push_back(std::move(kernel));
    return {};
  }
  constexpr std::int64_t kMostRegisters = 255;
  const auto count = parse_integer(value);
  if (name != ".registers" || kernels_.empty() || !count || *count < 1 || *count > kMostRegisters) {
    return at(number, fmt::format("'{}' is no directive.", text),
              "Write .kernel NAME, and in a kernel .registers N with 1 to 255 registers per thread.");
  }
  kernels_.back().registers = static_cast<int>(*count);
  return {};
}

Result<void> TextAssembler::line(std::string_view text, std::uint32_t number) {
  text = trim(text.substr(0, text.find("//")));
  if (text.ends_with(';')) {
    text = trim(text.substr(0, text.size() - 1));
  }
  if (text.empty()) {
    return {};
  }
  const bool is_label = text.ends_with(':') && is_name(text.substr(0, text.size() - 1));
  if (text.starts_with('.') && !is_label) {
    return directive(text, number);
  }
  if (kernels_.empty()) {
    return at(number, "Code stands before the first kernel.", "Begin with a line '.kernel NAME'.");
  }
  if (is_label) {
    const auto [label, is_new] =
        labels_.emplace(std::string(text.substr(0, text.size() - 1)), code_.size() * kInstructionBytes);
    if (!is_new) {
      return at(number, fmt::format("Label {} is there already.", label->first), "Give every label a name of its own.");
    }
    return {};
  }
  code_.push_back({text, number});
  return {};
}

// Assembles the last kernel, whose labels are all known now.
Result<void> TextAssembler::close() {
  if (kernels_.empty()) {
    return {};
  }
  AssembledKernel& kernel = kernels_.back();
  if (code_.empty()) {
    return at(kernel.line, fmt::format("Kernel {} has no code.", kernel.name), "Give it at least an EXIT.");
  }
  for (const Line& line : code_) {
    const auto word = assemble_text(line.text, kernel.code.size() * kInstructionBytes, architecture_, labels_);
    if (!word) {
      return at(line.number, word.error());
    }
    kernel.code.push_back(*word);
  }
  code_.clear();
  labels_.clear();
  return {};
}

Result<std::vector<AssembledKernel>> TextAssembler::run(std::string_view text) {
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    ++number;
    if (auto done = line(text.substr(0, end), number); !done) {
      return tl::unexpected<Error>(done.error());
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (auto done = close(); !done) {
    return tl::unexpected<Error>(done.error());
  }
  if (kernels_.empty()) {
    return at(number, "There is no kernel.", "Begin with a line '.kernel NAME'.");
  }
  return std::move(kernels_);
}

tl::unexpected<Error> unknown_architecture(int architecture) {
  return fail(ErrorKind::kUsage, fmt::format("Code for sm_{} cannot be assembled.", architecture),
              "Assemble for sm_80, sm_86, sm_87, sm_89 or sm_90.");
}

}  // namespace

std::string assembly_line(const SassInstruction& instruction) {
  return control_text(instruction.control) + " " + disassemble_completely(instruction);
}

Result<Encoding> assemble_line(std::string_view line, std::uint64_t address, int architecture) {
  if (!is_known_architecture(architecture)) {
    return unknown_architecture(architecture);
  }
  return assemble_text(trim(line), address, architecture, {});
}

Result<std::vector<AssembledKernel>> assemble(std::string_view text, const std::string& file, int architecture) {
  if (!is_known_architecture(architecture)) {
    return unknown_architecture(architecture);
  }
  return TextAssembler(file, architecture).run(text);
}

}  // namespace tilesim::traces
