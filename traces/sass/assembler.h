// SASS text to machine code, through the table that decodes it: what listings print, with the control field in front.
//
//   .kernel loop                    // a function begins
//   .registers 32                   // per thread, as the launch gives them out
//   [B------:R-:W0:-:S02] LDS R4, [R2]
//   again:                          // a label
//   [B0-----:R-:W-:-:S04] IADD3 R4, R4, -0x1, RZ
//   [B------:R-:W-:Y:S05] @P0 BRA again
//   [B------:R-:W-:-:S05] EXIT ;
//
// The control field: B, the scoreboards 0 to 5 that the instruction waits for, a '-' for each of the others; R and W,
// the scoreboard that is released when its sources have been read and when its result is there, or '-'; 'Y' if the
// scheduler may go on with another warp (bit 109 is 0), else '-'; S, the stall count with two digits. `.reuse` stands
// at the operand. All of it must be there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "traces/sass/encoding.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// The line that assembles to the instruction.
[[nodiscard]] std::string assembly_line(const SassInstruction& instruction);

/// One line, without labels; `address` is its place in the function, from which branches count. Errors (kUsage, without
/// `where`) name what is wrong: the control field, a mnemonic or modifiers that the table lacks for the architecture,
/// operands that no form of it has, values that do not fit.
[[nodiscard]] Result<Encoding> assemble_line(std::string_view line, std::uint64_t address, int architecture = 90);

struct AssembledKernel {
  std::string name;
  std::vector<Encoding> code;
  int registers = 0;       ///< .registers; 0 = not given
  std::uint32_t line = 0;  ///< of .kernel
};

/// The functions of a text; `//` begins a comment, a semicolon may end a line. Errors (kUsage, `where` = "FILE:LINE"):
/// assemble_line()'s; code before .kernel; a kernel without code or twice; a label twice or missing; an unknown
/// directive; a register count outside 1 to 255.
[[nodiscard]] Result<std::vector<AssembledKernel>> assemble(std::string_view text, const std::string& file,
                                                            int architecture = 90);

}  // namespace tilesim::traces
