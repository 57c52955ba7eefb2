// Uses something of every installed library; 0 if it works.
#include "model/gpu_spec.h"
#include "sim/isa/program.h"
#include "sim/warp_state.h"
#include "tools/lib/replay.h"
#include "traces/emulator/arguments.h"

int main() {
  const auto gpu = tilesim::model::find_gpu_spec("h200");
  const auto arguments = tilesim::traces::parse_arguments("i32:4,ptr:1KiB");
  const auto replayed = tilesim::app::replay(*gpu, {});  // no listing: an error, but everything has to link
  const bool fine = gpu && arguments && !replayed && !tilesim::sim::to_string(tilesim::sim::WarpState::kWait).empty() &&
                    tilesim::isa::Program{}.instructions.empty();
  return fine ? 0 : 1;
}
