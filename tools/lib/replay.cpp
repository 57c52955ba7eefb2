#include "tools/lib/replay.h"

#include "tools/lib/prepared_kernel.h"
#include "tools/lib/simulate_kernel.h"

namespace tilesim::app {

Result<KernelResult> replay(const model::GpuSpec& gpu, const ReplayRequest& request) {
  const auto prepared = prepare_replay(gpu, request);
  if (!prepared) {
    return tl::unexpected<Error>(prepared.error());
  }
  auto result = simulate_kernel(gpu, *prepared->source, prepared->launch, request.clock_mhz,
                                Effort{request.detailed, false, request.threads});
  if (!result) {
    return result;
  }
  result->kernel = prepared->kernel;
  result->code = prepared->code;
  result->origin = prepared->origin;
  result->origin_kind = prepared->origin_kind;
  result->notes.insert(result->notes.end(), prepared->notes.begin(), prepared->notes.end());
  return result;
}

}  // namespace tilesim::app
