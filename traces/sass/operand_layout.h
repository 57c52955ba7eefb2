// Where the parts of an operand stand in the 128-bit word. Decoder, encoder and the check for bits that no field covers
// read the table through this, so that they cannot disagree.
#pragma once

#include <array>
#include <cstdint>

#include "traces/sass/instruction.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {

/// Bits [first, first + count) of the word; count 0 = not there.
struct BitRange {
  std::uint8_t first = 0;
  std::uint8_t count = 0;
};

struct OperandLayout {
  OperandKind kind = OperandKind::kNone;
  std::uint8_t absent_index = 0;    ///< number of the register if there are no bits for it
  BitRange index;                   ///< Operand::index
  std::array<BitRange, 2> value{};  ///< Operand::value, low part first
  bool signed_value = false;
  bool relative = false;  ///< the value is a distance in words of 4 bytes from the next instruction
  bool inverted = false;  ///< all bits of the index are inverted
  bool wide = false;      ///< Operand::wide
  BitRange negate;
  BitRange absolute;
  BitRange reuse;
  BitRange halves;
  BitRange scale;
  BitRange bank;
  BitRange uniform;
  BitRange uniform_present;  ///< the uniform register is added if this bit is set
  BitRange descriptor;
  BitRange uniform_kind;  ///< a uniform predicate if this bit is set
};

[[nodiscard]] OperandLayout layout_of(const InstructionRow& row, const OperandField& field, Form form);

/// All its bits.
[[nodiscard]] Encoding covered_bits(const OperandLayout& layout);

}  // namespace tilesim::traces
