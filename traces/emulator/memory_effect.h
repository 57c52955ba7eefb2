// What an instruction does to memory, as far as its streams care.
#pragma once

#include <cstdint>

#include "traces/sass/instruction.h"

namespace tilesim::traces {

enum class Space : std::uint8_t { kNone, kShared, kGlobal, kLocal };

/// Which memory an instruction reads into registers or into shared memory, and which it writes.
struct MemoryEffect {
  Space reads = Space::kNone;
  Space writes = Space::kNone;
};

/// ATOM and RED in all forms.
[[nodiscard]] bool is_atomic(Opcode opcode);

/// The effect of a memory instruction; two kNone for everything else. LDGSTS reads global and writes shared memory,
/// atomics do both to one.
[[nodiscard]] MemoryEffect memory_effect(const SassInstruction& instruction);

}  // namespace tilesim::traces
