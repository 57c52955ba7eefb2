// Decoded instructions back to text in the disassembler's spelling.
#pragma once

#include <optional>
#include <string>

#include "traces/sass/instruction.h"
#include "traces/sass/instruction_table.h"
#include "traces/sass/operand_layout.h"

namespace tilesim::traces {

/// Text of a decoded instruction as `cuobjdump -sass` prints it, single spaces, no semicolon: "@!P0 FFMA R1, R2.reuse,
/// R3, R4". Branch targets are absolute hexadecimal byte offsets.
[[nodiscard]] std::string disassemble(const SassInstruction& instruction);

/// The same with all that listings leave out, so that assemble_instruction() gives the encoding back: operands that are
/// not what left_out() says, .reuse of instructions that yield, descriptors of sm_8x addresses, the bits of what is not
/// a number.
[[nodiscard]] std::string disassemble_completely(const SassInstruction& instruction);

/// The mnemonic with its modifiers: "LDG.E.128.CONSTANT". IMAD keeps its name where listings write IMAD.MOV and the
/// like, unless its operands are set.
[[nodiscard]] std::string mnemonic_text(const SassInstruction& instruction);

/// Whether listings show an operand by the modifiers alone; nothing if it hangs on its value.
[[nodiscard]] std::optional<bool> shown_by_modifiers(const SassInstruction& instruction, const OperandField& field);

/// What an operand is that the text leaves out: PT, !PT of carries, RZ, 0, all quads.
[[nodiscard]] Operand left_out(const OperandField& field, const OperandLayout& layout);

}  // namespace tilesim::traces
