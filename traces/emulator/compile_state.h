// What the parts of the compiler for emulation share. Internal to the emulator.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "traces/emulator/micro_program.h"
#include "traces/emulator/operand_resolver.h"

namespace tilesim::traces {

struct CompileState {
  const DecodedKernel& kernel;
  const LaunchParameters& launch;
  OperandResolver resolver;
  MicroProgram program;
  std::optional<std::string> problem;  ///< why the instruction at hand cannot be executed

  CompileState(const DecodedKernel& decoded, const LaunchParameters& parameters)
      : kernel(decoded), launch(parameters), resolver(decoded, parameters) {}

  void reject(std::string why) { problem = std::move(why); }
  void require(bool met, const char* why) {
    if (!met) {
      reject(why);
    }
  }
  /// Rows of `count` registers from the operand's on.
  template <std::size_t N>
  void add_rows(const Operand& operand, std::size_t count, std::array<std::uint16_t, N>& out) {
    out.fill(kNoDestination);
    for (std::size_t i = 0; i < count && operand.index != kRegisterRz; ++i) {
      out[i] = resolver.row(operand.index + static_cast<unsigned>(i));
    }
  }
};

[[nodiscard]] inline PredicateSource predicate_source(const Operand& operand) {
  if (operand.kind == OperandKind::kNone) {
    return {};
  }
  return {operand.index, operand.negated, operand.kind == OperandKind::kUniformPredicate};
}

}  // namespace tilesim::traces
