// A kernel launch: grid, block, shared memory, arguments; and what the kernel finds in its constant bank.
#pragma once

#include <cstdint>
#include <optional>

#include "model/result.h"
#include "sim/isa/stream.h"
#include "traces/emulator/abi.h"
#include "traces/emulator/arguments.h"

namespace tilesim::traces {

struct LaunchParameters {
  isa::Dim3 grid;
  isa::Dim3 block;
  std::uint64_t shared_bytes = 0;  ///< static plus dynamic shared memory of a CTA
  KernelArguments arguments;
};

/// Where a thread's local memory ends, and how much of it this version emulates.
inline constexpr std::uint32_t kStackBase = 0xfffdc0;  // any value: nothing but the code's own stack is there
inline constexpr std::uint32_t kMaximumLocalBytes = 64 * 1024;

/// CUDA's limits for compute capability 9.0: block 1,024 threads (1024, 1024, 64), grid (2^31-1, 65535, 65535), nothing
/// zero. Errors (kUsage) name the value.
[[nodiscard]] Result<void> check_launch(const LaunchParameters& launch);

/// The 32-bit word at byte `offset` of constant bank 0 as a kernel of sm_`architecture` sees it: block dimensions at
/// 0x0, grid dimensions at 0xc, the stack base at 0x28, the global descriptor and the parameters where abi.h says.
/// Nullopt for what the launch does not define: other driver values, and offsets past the parameter block.
[[nodiscard]] std::optional<std::uint32_t> constant_word(const LaunchParameters& launch, int architecture,
                                                         std::uint32_t offset);

}  // namespace tilesim::traces
