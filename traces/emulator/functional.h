// Functional mode: everything executes, on real data, so that a kernel's output can be compared with a reference.
#pragma once

#include <cstdint>
#include <span>

#include "model/result.h"
#include "traces/emulator/launch.h"
#include "traces/emulator/memory_contents.h"
#include "traces/emulator/sass_kernel.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// Runs CTAs `ctas` (linear numbers, x fastest; empty = the whole grid) in order on `memory`, the warps of a CTA in
/// turn between barriers. While CTAs wait for memory that others write, further ones are started beside them. Returns
/// the warp instructions executed. FFMA rounds once, as the hardware does. Errors as SassKernel::create() and
/// WarpStream::step(), a CTA whose warps wait at different barriers for ever, and a whole grid of more than 2^24 CTAs.
[[nodiscard]] Result<std::uint64_t> run_functional(const DecodedKernel& kernel, const LaunchParameters& launch,
                                                   DeviceMemory& memory, std::span<const std::uint64_t> ctas = {});

/// Runs all streams of a launch in the same order, in timing mode: only what addresses and branches depend on is
/// computed. Returns the warp instructions executed. Errors as run_functional().
[[nodiscard]] Result<std::uint64_t> run_streams(const SassKernel& kernel);

}  // namespace tilesim::traces
