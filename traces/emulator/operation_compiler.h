// Compiles what computes: opcode, modifiers and operands to an Operation. Internal to the emulator.
#pragma once

#include "traces/emulator/compile_state.h"

namespace tilesim::traces {

class OperationCompiler {
 public:
  explicit OperationCompiler(CompileState& state) : state_(state) {}

  /// The instruction's operation. What cannot be executed is rejected in the state.
  Operation operation(const SassInstruction& in);

 private:
  using Arithmetic = OperandResolver::Arithmetic;

  void specialise(const SassInstruction& in, Operation& out);
  void load_constant(const SassInstruction& in, Operation& out);
  void load_indexed_constant(const SassInstruction& in, Operation& out);
  void read_special(const SassInstruction& in, Operation& out);
  void add_high_words(const SassInstruction& in, Operation& out, Arithmetic arithmetic);

  CompileState& state_;
};

}  // namespace tilesim::traces
