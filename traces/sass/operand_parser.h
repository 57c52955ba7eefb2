// The operands of an instruction's text, as disassembler.h writes them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "traces/sass/instruction.h"
#include "traces/sass/instruction_table.h"
#include "traces/sass/operand_layout.h"

namespace tilesim::traces {

/// Byte offsets of labels in the function, for branches.
using Labels = std::map<std::string, std::uint64_t, std::less<>>;

/// The operand that `text` names where the form has one of `layout`; nothing if it is none of that kind. Row, modifiers
/// and address of `instruction` are set. Numbers are decimal or, after 0x, hexadecimal; a number in place of a real one
/// gives its bits if it is hexadecimal. Values out of range are left to the encoder.
[[nodiscard]] std::optional<Operand> parse_operand(std::string_view text, const SassInstruction& instruction,
                                                   const OperandField& field, const OperandLayout& layout,
                                                   const Labels& labels);

/// A number with sign, decimal or hexadecimal; nothing if the text holds anything else or does not fit 64 bits with
/// its sign.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace tilesim::traces
