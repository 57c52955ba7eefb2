// SASS text into compiled placeholders: kernels whose every instruction, stall count and scoreboard is given.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/result.h"

namespace tilesim::app {

struct AssembledCubin {
  std::string kernel;
  std::string placeholder;  ///< the cubin it was put into
  std::string path;
  std::size_t instructions = 0;
};

/// Assembles the kernels of `text` (traces/sass/assembler.h) and puts each into the first of the `placeholders` that
/// has room, cubins of nvcc 13 with one kernel. A text with one kernel may be written to a file; else, or if `out` ends
/// with a slash, they become NAME.cubin in the folder `out`. Errors: the assembler's, with "FILE:LINE"; the patcher's;
/// a kernel longer than any placeholder; what cannot be read or written.
[[nodiscard]] Result<std::vector<AssembledCubin>> assemble_into(const std::string& text,
                                                                const std::vector<std::string>& placeholders,
                                                                const std::string& out);

/// The text that assembles to a kernel of a cubin or listing; `kernel` as for choose_kernel(). Branches have byte
/// offsets. Errors: the readers' and the decoder's.
[[nodiscard]] Result<std::string> assembly_of(const std::string& file, const std::string& kernel);

}  // namespace tilesim::app
