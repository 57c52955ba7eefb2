// Decoded instructions back to text in the disassembler's spelling.
#pragma once

#include <string>

#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// Text of a decoded instruction as `cuobjdump -sass` prints it, single spaces, no semicolon: "@!P0 FFMA R1, R2.reuse,
/// R3, R4". Branch targets are absolute hexadecimal byte offsets.
[[nodiscard]] std::string disassemble(const SassInstruction& instruction);

}  // namespace tilesim::traces
