// A kernel launch: grid, block, shared memory, arguments; and what the kernel finds in its constant bank.
#pragma once

#include <cstdint>
#include <optional>

#include "model/result.h"
#include "sim/isa/stream.h"
#include "traces/emulator/arguments.h"

namespace tilesim::traces {

struct LaunchParameters {
  isa::Dim3 grid;
  isa::Dim3 block;
  std::uint64_t shared_bytes = 0;  ///< static plus dynamic shared memory of a CTA
  KernelArguments arguments;
};

/// Shared memory starts here in the shared address window: the first KiB is the system's (nvcc 13.0, sm_90; the kernels
/// add 0x400 to their shared offsets).
inline constexpr std::uint32_t kSharedBase = 0x400;

/// Where the parameter block starts in constant bank 0 of sm_90 code.
inline constexpr std::uint32_t kParameterOffset = 0x210;

/// Where a thread's local memory ends, and how much of it this version emulates.
inline constexpr std::uint32_t kStackBase = 0xfffdc0;  // any value: nothing but the code's own stack is there
inline constexpr std::uint32_t kMaximumLocalBytes = 64 * 1024;

/// CUDA's limits for compute capability 9.0: block 1,024 threads (1024, 1024, 64), grid (2^31-1, 65535, 65535), nothing
/// zero. Errors (kUsage) name the value.
[[nodiscard]] Result<void> check_launch(const LaunchParameters& launch);

/// The 32-bit word at byte `offset` of constant bank 0 as an sm_90 kernel sees it: block dimensions at 0x0, grid
/// dimensions at 0xc, the stack base at 0x28, the global descriptor at 0x208, parameters from 0x210. Nullopt for what
/// the launch does not define: other driver values, and offsets past the parameter block.
[[nodiscard]] std::optional<std::uint32_t> constant_word(const LaunchParameters& launch, std::uint32_t offset);

}  // namespace tilesim::traces
