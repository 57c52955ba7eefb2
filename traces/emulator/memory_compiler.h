// Compiles what accesses memory, and HMMA, for emulation. Internal to the emulator.
#pragma once

#include "traces/emulator/compile_state.h"

namespace tilesim::traces {

/// Each function adds the instruction's operation to the program and returns its action. `needed`: its data are.
class MemoryCompiler {
 public:
  explicit MemoryCompiler(CompileState& state) : state_(state) {}

  Action add_memory(const SassInstruction& in, bool needed);
  Action add_atomic(const SassInstruction& in, bool needed);
  Action add_matrix(const SassInstruction& in);

 private:
  Action add_local(const SassInstruction& in, MemoryOperation out, bool needed);
  void add_copy(const SassInstruction& in, MemoryOperation& out);
  void classify_atomic(const SassInstruction& in, MemoryOperation& out);
  MemoryOperation memory_operation(const SassInstruction& in);

  CompileState& state_;
};

}  // namespace tilesim::traces
