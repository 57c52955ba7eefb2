#include "tools/lib/run.h"

#include <fmt/format.h>

#include "tools/lib/compiled_tile.h"
#include "tools/lib/simulate_kernel.h"
#include "tools/lib/tile_check.h"
#include "tools/lib/tile_source.h"

namespace tilesim::app {

Result<RunResult> run_tile(const model::GpuSpec& gpu, const RunRequest& request) {
  if (const auto legal = check_tile(request.config, request.problem, gpu, request.clock_mhz, request.carveout_kb);
      !legal) {
    return tl::unexpected<Error>(legal.error());
  }
  if (request.compile) {
    const auto compiled = compile_tile(request.config, request.problem);
    if (!compiled) {
      return tl::unexpected<Error>(compiled.error());
    }
    return run_code(gpu, request,
                    TileCode{compiled->source.get(), compiled->registers, compiled->shared_bytes,
                             compiled->spilled_bytes, "compiled"});
  }
  const auto source = TileSource::create(request.config, request.problem);
  if (!source) {
    return tl::unexpected<Error>(source.error());
  }
  const traces::CodeEstimate& code = (*source)->estimate();
  return run_code(gpu, request,
                  TileCode{source->get(), code.registers, code.shared_bytes, code.spilled_bytes, "estimated"});
}

Result<RunResult> run_code(const model::GpuSpec& gpu, const RunRequest& request, const TileCode& code) {
  RunResult result;
  // The code knows better than the sheet's own estimate, and the whole report must speak of one number.
  model::TileConfig config = request.config;
  config.registers = code.registers;
  auto sheet = check_tile(config, request.problem, gpu, request.clock_mhz, request.carveout_kb);
  if (!sheet) {
    return tl::unexpected<Error>(sheet.error());
  }
  result.sheet = std::move(*sheet);
  KernelLaunch launch;
  launch.registers = static_cast<int>(code.registers);
  launch.shared_bytes = code.shared_bytes;
  launch.carveout_kb = request.carveout_kb;
  auto kernel =
      simulate_kernel(gpu, *code.source, launch, request.clock_mhz, Effort{request.detailed, false, request.threads});
  if (!kernel) {
    return tl::unexpected<Error>(kernel.error());
  }
  result.kernel = std::move(*kernel);
  result.kernel.flops = static_cast<double>(result.sheet.whole.flops.products);  // useful ones: edges are padded
  result.kernel.kernel = tile_name(config);
  result.kernel.code = code.origin;
  result.spilled_bytes = code.spilled_bytes;
  if (code.spilled_bytes > 0 && !request.compile) {
    result.kernel.notes.push_back(
        fmt::format("warning: {} B per thread are spilled: how often ptxas moves them is a rough estimate; --compile "
                    "replays what it does",
                    code.spilled_bytes));
  }
  auto gap = split_gap(result.kernel, *code.source, result.sheet, request.threads);
  if (!gap) {
    return tl::unexpected<Error>(gap.error());
  }
  result.gap = std::move(*gap);
  result.troubleshooting = find_trouble(named_metrics(result));
  result.trust = trust_of(config, request.problem, gpu);
  return result;
}

}  // namespace tilesim::app
