// The question "how would this tile configuration run on that GPU", before there is code: legality, generated code,
// simulation, where the time goes, what to try.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/gpu_spec.h"
#include "model/result.h"
#include "model/tile_sheet.h"
#include "tools/lib/gap.h"
#include "tools/lib/kernel_result.h"
#include "tools/lib/kernel_source.h"
#include "tools/lib/troubleshooting.h"
#include "tools/lib/trust.h"

namespace tilesim::app {

struct RunRequest {
  model::TileConfig config;
  model::Problem problem;
  std::optional<int> carveout_kb;   ///< none = the largest
  std::optional<double> clock_mhz;  ///< none = the spec's for the type
  bool detailed = false;            ///< every SM, every instruction
  bool compile = false;             ///< nvcc's code instead of generated code
  int threads = 1;                  ///< host threads
};

struct RunResult {
  model::TileSheet sheet;  ///< with the registers of the generated code
  KernelResult kernel;
  std::int64_t spilled_bytes = 0;  ///< of local memory per thread, estimated
  Gap gap;
  std::vector<Trouble> troubleshooting;  ///< the rows that apply
  Trust trust;
};

/// What a front end knows about the code of a configuration.
struct TileCode {
  const KernelSource* source = nullptr;
  std::int64_t registers = 0;  ///< per thread
  std::int64_t shared_bytes = 0;
  std::int64_t spilled_bytes = 0;  ///< per thread
  const char* origin = "estimated";
};

/// Generates (or compiles) the code and answers. Errors: an illegal configuration, as check_tile() says it; a
/// configuration for which there is no generator; the compiler's; the simulator's.
[[nodiscard]] Result<RunResult> run_tile(const model::GpuSpec& gpu, const RunRequest& request);

/// The same for code that is there already; `code` must be that of the configuration.
[[nodiscard]] Result<RunResult> run_code(const model::GpuSpec& gpu, const RunRequest& request, const TileCode& code);

}  // namespace tilesim::app
