#include "traces/sass/instruction_table.h"

#include <algorithm>
#include <vector>

#include "traces/sass/instruction_rows.h"
#include "traces/sass/operand_layout.h"

namespace tilesim::traces {
namespace {

constexpr std::size_t kOpcodes = 4096;
constexpr std::size_t kForms = 8;

// Forms that read a uniform register say so in bit 91.
bool reads_uniform(const InstructionRow& row, Form form) {
  return std::any_of(row.operands.begin(), row.operands.end(), [&row, form](const OperandField& field) {
    switch (field.kind) {
      case FieldKind::kSourceB:
      case FieldKind::kSourceC:
      case FieldKind::kSpot1:
        return form == Form::kUniform || form == Form::kUniformC;
      case FieldKind::kAddress:
        return form == Form::kImmediate && field.uniform == kStoredUniform && !row.descriptor;
      default:
        return false;
    }
  });
}

Encoding covered_by_fields(const InstructionRow& row, Form form) {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  Encoding mask;
  mask.set_field(0, 16, kOnes);    // opcode, form, guard
  mask.set_field(105, 17, kOnes);  // control
  for (const ModifierField& modifier : row.modifiers) {
    mask.set_field(modifier.first, modifier.count, kOnes);
    mask.set_field(modifier.high_bit, modifier.high_bit != 0 ? 1 : 0, kOnes);
  }
  for (const OperandField& field : row.operands) {
    mask = mask | covered_bits(layout_of(row, field, form));
  }
  return mask;
}

struct Masks {
  Encoding covered;
  Encoding fixed;
};

Masks masks_of(const InstructionRow& row, Form form) {
  constexpr unsigned kReadsUniform = 91;
  const Encoding covered = covered_by_fields(row, form);
  Encoding fixed = row.fixed;
  if (reads_uniform(row, form)) {
    fixed.set_field(kReadsUniform, 1, 1);
  }
  return {covered, fixed & ~covered};
}

/// The joined table, and for each architecture the row of each opcode.
struct Table {
  std::vector<InstructionRow> rows;
  std::array<std::array<const InstructionRow*, kOpcodes>, kArchitectures.size()> index{};
  std::vector<std::array<Masks, kForms>> masks;  ///< beside the rows, by form

  Table() {
    for (const auto part :
         {rows::floating_point(), rows::integer(), rows::uniform(), rows::memory(), rows::control()}) {
      rows.insert(rows.end(), part.begin(), part.end());
    }
    for (const InstructionRow& row : rows) {
      std::array<Masks, kForms>& by_form = masks.emplace_back();
      for (std::size_t form = 0; form < kForms; ++form) {
        by_form[form] = masks_of(row, static_cast<Form>(form));
      }
    }
    for (std::size_t i = 0; i < kArchitectures.size(); ++i) {
      for (const InstructionRow& row : rows) {
        if (row.first_architecture <= kArchitectures[i] && kArchitectures[i] <= row.last_architecture) {
          enter(row, index[i]);
        }
      }
    }
  }

  static void enter(const InstructionRow& row, std::array<const InstructionRow*, kOpcodes>& by_opcode) {
    for (unsigned form = 0; form < kForms; ++form) {
      if ((row.forms >> form & 1) != 0) {
        by_opcode[row.code | form << 9] = &row;
      }
    }
  }
};

const Table& table() {
  static const Table kTable;
  return kTable;
}

const Masks& known_masks(const InstructionRow& row, Form form) {
  const std::ptrdiff_t position = &row - table().rows.data();
  return table().masks[static_cast<std::size_t>(position)][static_cast<std::size_t>(form)];
}

}  // namespace

bool is_known_architecture(int architecture) {
  return std::find(kArchitectures.begin(), kArchitectures.end(), architecture) != kArchitectures.end();
}

const InstructionRow* find_row(std::uint16_t opcode_bits, int architecture) {
  const auto found = std::find(kArchitectures.begin(), kArchitectures.end(), architecture);
  if (found == kArchitectures.end()) {
    return nullptr;
  }
  return table().index[static_cast<std::size_t>(found - kArchitectures.begin())][opcode_bits % kOpcodes];
}

std::span<const InstructionRow> instruction_table() { return table().rows; }

std::uint64_t modifier_value(const ModifierField& modifier, const Encoding& word) {
  const std::uint64_t high = modifier.high_bit != 0 ? word.field(modifier.high_bit, 1) << modifier.count : 0;
  return word.field(modifier.first, modifier.count) | high;
}

Encoding covered_bits(const InstructionRow& row, Form form) { return known_masks(row, form).covered; }

Encoding fixed_bits(const InstructionRow& row, Form form) { return known_masks(row, form).fixed; }

}  // namespace tilesim::traces
