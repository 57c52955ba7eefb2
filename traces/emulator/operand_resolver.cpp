#include "traces/emulator/operand_resolver.h"

#include <fmt/format.h>

#include <utility>

namespace tilesim::traces {
namespace {

Change change_of(const Operand& operand, OperandResolver::Arithmetic arithmetic) {
  if (arithmetic == OperandResolver::Arithmetic::kFloat) {
    if (operand.absolute) {
      return operand.negated ? Change::kFloatNegateAbsolute : Change::kFloatAbsolute;
    }
    return operand.negated ? Change::kFloatNegate : Change::kNone;
  }
  if (!operand.negated) {
    return Change::kNone;
  }
  return arithmetic == OperandResolver::Arithmetic::kInverting ? Change::kInvert : Change::kNegate;
}

}  // namespace

OperandResolver::OperandResolver(const LaunchParameters& launch) : launch_(launch) { rows_.fill(kNoDestination); }

std::uint16_t OperandResolver::row(unsigned number) {
  if (number == kRegisterRz) {
    return kNoDestination;
  }
  if (rows_[number] == kNoDestination) {
    rows_[number] = row_count_++;
  }
  return rows_[number];
}

std::array<std::uint16_t, 2> OperandResolver::destination(const Operand& operand, int count) {
  std::array<std::uint16_t, 2> result{kNoDestination, kNoDestination};
  const bool uniform = operand.kind == OperandKind::kUniformRegister;
  const unsigned zero = uniform ? kUniformUrz : kRegisterRz;
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    const unsigned number = operand.index + i;
    if (operand.index != zero && number < zero) {
      result[i] = uniform ? static_cast<std::uint16_t>(number) : row(number);
    }
  }
  return result;
}

Source OperandResolver::constant(std::uint32_t value) {
  const auto [entry, added] = constant_index_.try_emplace(value, static_cast<std::uint16_t>(constants_.size()));
  if (added) {
    constants_.emplace_back().lane.fill(value);
  }
  return {Source::Kind::kConstant, Change::kNone, entry->second};
}

std::uint32_t OperandResolver::constant_bank(const Operand& operand, int part) {
  const auto offset = static_cast<std::uint32_t>(operand.value + 4 * part);
  if (operand.bank != 0 || operand.index != kRegisterRz) {
    problem_ = operand.bank != 0 ? fmt::format("constant bank {} is not in the listing", operand.bank)
                                 : "constants at an index in a register are not supported yet";
    return 0;
  }
  const auto word = constant_word(launch_, offset);
  if (!word) {
    problem_ = fmt::format("the driver's constant c[0x0][0x{:x}] is not known", offset);
  }
  return word.value_or(0);
}

Source OperandResolver::source(const Operand& operand, int part, Arithmetic arithmetic) {
  Source result;
  switch (operand.kind) {
    case OperandKind::kRegister:
      if (operand.index != kRegisterRz) {
        const unsigned number = operand.index + static_cast<unsigned>(part);
        result = number < kRegisterRz ? Source{Source::Kind::kVector, Change::kNone, row(number)} : constant(0);
      } else {
        result = constant(0);
      }
      break;
    case OperandKind::kUniformRegister:
      if (operand.index + part < kUniformUrz) {
        result = {Source::Kind::kUniform, Change::kNone, static_cast<std::uint16_t>(operand.index + part)};
      } else {
        result = constant(0);
      }
      break;
    case OperandKind::kConstant:
      result = constant(constant_bank(operand, part));
      break;
    case OperandKind::kImmediate: {
      const auto bits = static_cast<std::uint32_t>(operand.value);
      return constant(part == 0 ? bits : bits >> 31 != 0 ? ~std::uint32_t{0} : 0);
    }
    default:
      return constant(0);
  }
  result.change = change_of(operand, arithmetic);
  return result;
}

}  // namespace tilesim::traces
