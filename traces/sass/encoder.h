// From decoded instructions back to 128-bit encodings, through the table that decodes them.
#pragma once

#include "model/result.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// The encoding of an instruction: its row's opcode and constant bits, and in the form of `instruction.form` its guard,
/// control field, modifiers and operands; `instruction.encoding` is not looked at. Undoes decode() for every word that
/// decode() accepts. Errors (kUsage): a form that the row lacks, an operand of another kind than the form has, a value
/// that does not fit its field, a modifier that the row lacks, a flag (sign, reuse, halves...) that the operand cannot
/// have.
[[nodiscard]] Result<Encoding> encode(const SassInstruction& instruction);

}  // namespace tilesim::traces
