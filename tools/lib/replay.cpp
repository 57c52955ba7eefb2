#include "tools/lib/replay.h"

#include "tools/lib/prepared_kernel.h"

namespace tilesim::app {

Result<KernelResult> replay(const model::GpuSpec& gpu, const ReplayRequest& request) {
  const auto prepared = prepare_replay(gpu, request);
  if (!prepared) {
    return tl::unexpected<Error>(prepared.error());
  }
  return simulate_prepared(gpu, *prepared, request.clock_mhz, Effort{request.detailed, false, request.threads});
}

}  // namespace tilesim::app
