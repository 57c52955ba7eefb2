#include "traces/sass/operand_layout.h"

namespace tilesim::traces {
namespace {

constexpr BitRange bits(int first, int count) {
  return {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(count)};
}
constexpr BitRange bit(int first) { return bits(first, 1); }

// Reuse flags of the sources in the order of their roles, wherever they stand.
constexpr int kReuseA = 122;
constexpr int kReuseB = 123;
constexpr int kReuseC = 124;

// Only what reads the banked register file when it issues can keep a source for its successor.
BitRange reuse_bit(const InstructionRow& row, int position) {
  switch (row.pipe) {
    case isa::Pipe::kUniform:
    case isa::Pipe::kXu:
    case isa::Pipe::kS2r:
    case isa::Pipe::kAdu:
    case isa::Pipe::kLsu:
    case isa::Pipe::kBranch:
    case isa::Pipe::kNone:
      return {};
    default:
      return bit(position);
  }
}

// FADD and its like add a and c: what is their second operand in the text is the third source.
bool is_third_source(const InstructionRow& row, const OperandField& field) {
  return field.kind == FieldKind::kSpot1 && (row.forms >> static_cast<unsigned>(Form::kImmediateC) & 1) != 0;
}

constexpr bool is_swapped(Form form) {
  return form == Form::kImmediateC || form == Form::kConstantC || form == Form::kUniformC;
}

OperandLayout register_layout(int first, bool uniform) {
  OperandLayout layout;
  layout.kind = uniform ? OperandKind::kUniformRegister : OperandKind::kRegister;
  layout.index = bits(first, uniform ? 6 : 8);
  return layout;
}

OperandLayout immediate_layout(int first, int count) {
  OperandLayout layout;
  layout.kind = OperandKind::kImmediate;
  layout.value[0] = bits(first, count);
  return layout;
}

OperandLayout constant_layout() {
  OperandLayout layout;
  layout.kind = OperandKind::kConstant;
  layout.absent_index = kRegisterRz;
  layout.value[0] = bits(38, 16);
  layout.bank = bits(54, 5);
  return layout;
}

void add_signs(OperandLayout& layout, const OperandField& field, int negate, int absolute, int halves) {
  layout.negate = field.negatable ? bit(negate) : BitRange{};
  layout.absolute = field.absolutable ? bit(absolute) : BitRange{};
  layout.halves = field.halves ? bits(halves, 2) : BitRange{};
}

OperandLayout spot1_layout(const InstructionRow& row, const OperandField& field, Form form) {
  OperandLayout layout;
  switch (form) {
    case Form::kImmediate:
    case Form::kImmediateC:
      return immediate_layout(32, 32);
    case Form::kConstant:
    case Form::kConstantC:
      layout = constant_layout();
      break;
    case Form::kUniform:
    case Form::kUniformC:
      layout = register_layout(32, true);
      break;
    default:
      layout = register_layout(32, row.uniform);
      layout.reuse = reuse_bit(row, is_third_source(row, field) ? kReuseC : kReuseB);
      break;
  }
  add_signs(layout, field, 63, 62, 60);
  return layout;
}

OperandLayout spot2_layout(const InstructionRow& row, const OperandField& field) {
  OperandLayout layout = register_layout(64, row.uniform);
  layout.reuse = reuse_bit(row, field.kind == FieldKind::kSourceB ? kReuseB : kReuseC);
  add_signs(layout, field, row.halves ? 84 : 75, row.halves ? 83 : 74, 81);
  return layout;
}

OperandLayout address_layout(const InstructionRow& row, const OperandField& field, Form form) {
  OperandLayout layout;
  layout.kind = OperandKind::kAddress;
  layout.index = bits(field.first, 8);
  layout.value[0] = bits(field.offset, field.count);
  layout.signed_value = true;
  layout.scale = field.scaled ? bits(78, 2) : BitRange{};
  const bool described = row.descriptor && field.role == Role::kAddress;
  layout.wide = described || field.paired;
  if (field.uniform != 0 && described) {
    layout.descriptor = bits(field.uniform, 6);
  } else if (field.uniform == kStoredUniform) {
    layout.uniform = form == Form::kImmediate ? bits(field.uniform, 6) : BitRange{};
  } else if (field.uniform != 0) {
    layout.uniform = bits(field.uniform, 6);
    layout.uniform_present = bit(91);
  }
  return layout;
}

OperandLayout predicate_layout(const OperandField& field) {
  OperandLayout layout;
  layout.kind = field.kind == FieldKind::kUniformPredicate ? OperandKind::kUniformPredicate : OperandKind::kPredicate;
  layout.index = bits(field.first, 3);
  layout.negate = field.count == 4 ? bit(field.first + 3) : BitRange{};
  layout.inverted = field.inverted;
  layout.uniform_kind = field.kind == FieldKind::kMixedPredicate ? bit(67) : BitRange{};
  return layout;
}

OperandLayout target_layout(OperandKind kind, BitRange low, BitRange high) {
  OperandLayout layout;
  layout.kind = kind;
  layout.value = {low, high};
  layout.signed_value = true;
  layout.relative = true;
  return layout;
}

OperandLayout numbered_layout(OperandKind kind, int first, int count) {
  OperandLayout layout;
  layout.kind = kind;
  layout.index = bits(first, count);
  return layout;
}

void cover(Encoding& mask, BitRange range) { mask.set_field(range.first, range.count, ~std::uint64_t{0}); }

}  // namespace

OperandLayout layout_of(const InstructionRow& row, const OperandField& field, Form form) {
  const bool register_lane = form == Form::kRegister || form == Form::kImmediateC;
  const bool register_bound = form == Form::kRegister || form == Form::kImmediate;
  switch (field.kind) {
    case FieldKind::kRegister:
      return register_layout(field.first, false);
    case FieldKind::kUniformRegister:
      return register_layout(field.first, true);
    case FieldKind::kSourceA: {
      OperandLayout layout = register_layout(24, row.uniform);
      layout.reuse = reuse_bit(row, kReuseA);
      add_signs(layout, field, 72, 73, 74);
      return layout;
    }
    case FieldKind::kSpot1:
      return spot1_layout(row, field, form);
    case FieldKind::kSourceB:
      return is_swapped(form) ? spot2_layout(row, field) : spot1_layout(row, field, form);
    case FieldKind::kSourceC:
      return is_swapped(form) ? spot1_layout(row, field, form) : spot2_layout(row, field);
    case FieldKind::kPredicate:
    case FieldKind::kUniformPredicate:
    case FieldKind::kMixedPredicate:
      return predicate_layout(field);
    case FieldKind::kImmediate:
      return immediate_layout(field.first, field.count);
    case FieldKind::kConstant: {
      OperandLayout layout = constant_layout();
      layout.index = field.first != 0 ? bits(field.first, 8) : BitRange{};
      return layout;
    }
    case FieldKind::kAddress:
      return address_layout(row, field, form);
    case FieldKind::kSpecialRegister: {
      OperandLayout layout = immediate_layout(72, 8);
      layout.kind = OperandKind::kSpecialRegister;
      return layout;
    }
    case FieldKind::kBranchTarget:
      return target_layout(OperandKind::kBranchTarget, bits(field.first, field.count), bits(34, 48));
    case FieldKind::kIndirectTarget: {
      OperandLayout layout = target_layout(OperandKind::kIndirectTarget, bits(field.first, field.count), bits(34, 48));
      layout.index = bits(24, 8);
      return layout;
    }
    case FieldKind::kSyncTarget:
      return target_layout(OperandKind::kBranchTarget, bits(34, 30), {});
    case FieldKind::kScoreboard:
      return numbered_layout(OperandKind::kScoreboard, 44, 3);
    case FieldKind::kConvergence:
      return numbered_layout(OperandKind::kConvergence, 16, 4);
    case FieldKind::kPredicateTable: {
      OperandLayout layout = immediate_layout(64, 3);
      layout.value[1] = bits(72, 5);
      return layout;
    }
    case FieldKind::kShuffleLane:
      return register_lane ? register_layout(32, false) : immediate_layout(53, 5);
    case FieldKind::kShuffleBound:
      return register_bound ? register_layout(64, false) : immediate_layout(40, 13);
    case FieldKind::kBarrierNumber:
      return register_lane ? register_layout(32, false) : immediate_layout(54, 4);
    case FieldKind::kBarrierCount:
      return register_bound ? register_layout(32, false) : immediate_layout(42, 12);
    case FieldKind::kPredicateSet: {
      OperandLayout layout;
      layout.kind = OperandKind::kPredicateSet;
      return layout;
    }
    case FieldKind::kNone:
      break;
  }
  return {};
}

Encoding covered_bits(const OperandLayout& layout) {
  Encoding mask;
  for (const BitRange& range :
       {layout.index, layout.value[0], layout.value[1], layout.negate, layout.absolute, layout.reuse, layout.halves,
        layout.scale, layout.bank, layout.uniform, layout.uniform_present, layout.descriptor, layout.uniform_kind}) {
    cover(mask, range);
  }
  return mask;
}

}  // namespace tilesim::traces
