// Functional mode: everything executes, on real data, so that a kernel's output can be compared with a reference.
#pragma once

#include <cstdint>
#include <span>

#include "model/result.h"
#include "traces/emulator/functional_memory.h"
#include "traces/emulator/launch.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// Runs CTAs `ctas` (linear numbers, x fastest; empty = the whole grid) one after the other on `memory`, the warps of a
/// CTA in turn between barriers. Returns the warp instructions executed. FFMA rounds once, as the hardware does. Errors
/// as SassKernel::create() and WarpStream::step(), and a CTA whose warps wait at different barriers for ever.
[[nodiscard]] Result<std::uint64_t> run_functional(const DecodedKernel& kernel, const LaunchParameters& launch,
                                                   DeviceMemory& memory, std::span<const std::uint64_t> ctas = {});

}  // namespace tilesim::traces
