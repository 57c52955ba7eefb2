// From a kernel source and a launch to named results.
#pragma once

#include <optional>

#include "model/gpu_spec.h"
#include "model/result.h"
#include "tools/lib/kernel_result.h"
#include "tools/lib/kernel_run.h"
#include "tools/lib/kernel_source.h"

namespace tilesim::app {

/// Simulates the kernel at `clock_mhz` (none: the spec's for the pipe that the code uses). Grid and block of the launch
/// are the source's. `kernel`, `code` and `origin` of the result are left to the caller. Errors (kUsage): a kernel that
/// does not fit the GPU; the source's and the simulator's.
[[nodiscard]] Result<KernelResult> simulate_kernel(const model::GpuSpec& gpu, const KernelSource& source,
                                                   KernelLaunch launch, std::optional<double> clock_mhz,
                                                   const Effort& effort);

}  // namespace tilesim::app
