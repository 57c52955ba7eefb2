// NVIDIA's disassembler beside ours: its text in reports, and a check of the decoder.
#pragma once

#include <cstddef>
#include <string>

#include "model/result.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/sass/decoder.h"

namespace tilesim::app {

/// Path of nvdisasm: `asked`, or for "auto" $CUDA_HOME/bin/nvdisasm, else the first in PATH. Errors: kAbsent.
[[nodiscard]] Result<std::string> find_nvdisasm(const std::string& asked);

/// How nvdisasm's text of a kernel compares with the decoder's.
struct DisassemblyCheck {
  std::string program;
  std::size_t instructions = 0;
  std::size_t different = 0;
  std::string first;  ///< the first difference: address and both texts
};

/// Has `program` print the code of `kernel`, from the ELF file `path` if it can read that, else from the cut-out
/// section, compares each instruction with the text in `decoded` and puts its text there. Targets of branches that it
/// prints as labels are not compared. Errors: kFailed: it prints no listing of these instructions.
[[nodiscard]] Result<DisassemblyCheck> take_nvdisasm_text(const std::string& program, const std::string& path,
                                                          const traces::CubinKernel& kernel,
                                                          traces::DecodedKernel& decoded);

}  // namespace tilesim::app
