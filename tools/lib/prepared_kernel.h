// A kernel with its launch and what reports say about it: ready to be simulated or recorded.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/gpu_spec.h"
#include "model/result.h"
#include "tools/lib/kernel_result.h"
#include "tools/lib/kernel_run.h"
#include "tools/lib/kernel_source.h"
#include "tools/lib/replay.h"
#include "tools/lib/run.h"
#include "traces/trace/launch_record.h"

namespace tilesim::app {

struct PreparedKernel {
  std::unique_ptr<KernelSource> source;
  KernelLaunch launch;
  std::string kernel;       ///< demangled
  std::string code;         ///< "compiled", "estimated" or "approximate"
  std::string origin;       ///< file that the code comes from; empty for generated code
  std::string origin_kind;  ///< what that file is
  std::vector<std::string> notes;
};

/// From a listing, a cubin or a trace. Errors: the file's, the launch's; code, launch and GPU that do not go together.
[[nodiscard]] Result<PreparedKernel> prepare_replay(const model::GpuSpec& gpu, const ReplayRequest& request);

/// From a tile configuration, generated or compiled. Errors: an illegal configuration, no generator, no compiler.
[[nodiscard]] Result<PreparedKernel> prepare_tile(const model::GpuSpec& gpu, const RunRequest& request);

/// simulate_kernel(), with the names and notes of what was prepared in the result.
[[nodiscard]] Result<KernelResult> simulate_prepared(const model::GpuSpec& gpu, const PreparedKernel& prepared,
                                                     std::optional<double> clock_mhz, const Effort& effort);

/// What a trace of it says besides the instructions.
[[nodiscard]] traces::LaunchRecord record_of(const PreparedKernel& prepared);

}  // namespace tilesim::app
