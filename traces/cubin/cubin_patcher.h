// Puts other machine code into a compiled kernel: the code section, and what the driver must know of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/result.h"
#include "traces/sass/encoding.h"

namespace tilesim::traces {

struct CubinPatch {
  std::string kernel;              ///< whose code is replaced; empty = the only one
  std::span<const Encoding> code;  ///< for the cubin's architecture
  int registers = 0;               ///< per thread; 0 = as the cubin has it
};

/// Instructions that a kernel of a cubin (nvcc 13) has room for. Errors: parse_cubin()'s; no such kernel.
[[nodiscard]] Result<std::size_t> room_of(std::span<const std::byte> cubin, const std::string& file,
                                          const std::string& kernel);

/// The cubin with the code of a kernel replaced and filled up with NOPs; the register count, the offsets of the EXITs
/// and, where the code needs more, the number of barriers are changed with it. Shared memory, parameters and launch
/// bounds stay those of the placeholder. Errors (kUsage, `where` = `file`): those of room_of(); code that does not
/// decode or does not fit; no EXIT where the placeholder lists some, or more of them than it has; registers that the
/// code uses and the count does not cover; a cubin of CUDA 11 or 12, which keeps the number of barriers elsewhere.
[[nodiscard]] Result<std::vector<std::byte>> patch_cubin(std::span<const std::byte> cubin, const std::string& file,
                                                         const CubinPatch& patch);

}  // namespace tilesim::traces
