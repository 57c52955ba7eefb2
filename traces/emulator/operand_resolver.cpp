#include "traces/emulator/operand_resolver.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace tilesim::traces {
namespace {

using Arithmetic = OperandResolver::Arithmetic;

Change change_of(const Operand& operand, Arithmetic arithmetic, int part) {
  if (arithmetic == Arithmetic::kFloat || arithmetic == Arithmetic::kHalf || arithmetic == Arithmetic::kDouble) {
    if (arithmetic == Arithmetic::kDouble && part == 0) {  // the sign stands in the high word
      return Change::kNone;
    }
    const bool half = arithmetic == Arithmetic::kHalf;
    if (operand.absolute) {
      return operand.negated ? (half ? Change::kHalfNegateAbsolute : Change::kFloatNegateAbsolute)
                             : (half ? Change::kHalfAbsolute : Change::kFloatAbsolute);
    }
    return !operand.negated ? Change::kNone : half ? Change::kHalfNegate : Change::kFloatNegate;
  }
  if (!operand.negated) {
    return Change::kNone;
  }
  return arithmetic == Arithmetic::kInverting ? Change::kInvert : Change::kNegate;
}

}  // namespace

OperandResolver::OperandResolver(const DecodedKernel& kernel, const LaunchParameters& launch)
    : kernel_(kernel), launch_(launch) {
  rows_.fill(kNoDestination);
}

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
  return {Source::Kind::kConstant, Change::kNone, Halves::kBoth, entry->second};
}

std::uint32_t OperandResolver::constant_bank(const Operand& operand, int part) {
  const auto offset = static_cast<std::uint32_t>(operand.value + 4 * part);
  if (operand.bank == 0) {
    const auto word = constant_word(launch_, kernel_.architecture, offset);
    if (!word) {
      problem_ = fmt::format("the driver's constant c[0x0][0x{:x}] is not known", offset);
    }
    return word.value_or(0);
  }
  const auto bank = kernel_.constant_banks.find(operand.bank);
  if (bank == kernel_.constant_banks.end() || offset + sizeof(std::uint32_t) > bank->second.size()) {
    problem_ = fmt::format("constant bank {} is not known (a listing has none, a cubin has)", operand.bank);
    return 0;
  }
  std::uint32_t word = 0;
  std::memcpy(&word, bank->second.data() + offset, sizeof word);
  return word;
}

Source OperandResolver::source(const Operand& operand, int part, Arithmetic arithmetic) {
  Source result;
  switch (operand.kind) {
    case OperandKind::kRegister:
      if (operand.index != kRegisterRz) {
        const unsigned number = operand.index + static_cast<unsigned>(part);
        result = number < kRegisterRz ? Source{Source::Kind::kVector, Change::kNone, Halves::kBoth, row(number)}
                                      : constant(0);
      } else {
        result = constant(0);
      }
      break;
    case OperandKind::kUniformRegister:
      if (operand.index + part < kUniformUrz) {
        result = {Source::Kind::kUniform, Change::kNone, Halves::kBoth,
                  static_cast<std::uint16_t>(operand.index + part)};
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
  result.change = change_of(operand, arithmetic, part);
  result.halves = operand.halves == 2 ? Halves::kLowTwice : operand.halves == 3 ? Halves::kHighTwice : Halves::kBoth;
  return result;
}

}  // namespace tilesim::traces
