// What the table can decode and the emulator cannot execute yet.
#pragma once

#include <optional>
#include <string>

#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// Why an instruction cannot be emulated whatever it is needed for, or nullopt: opcodes that move control or data in
/// ways that have no emulation yet, and modifiers of other opcodes that change a result and are not looked at.
[[nodiscard]] std::optional<std::string> unsupported(const SassInstruction& instruction);

}  // namespace tilesim::traces
