#include "sim/warp_state.h"

namespace tilesim::sim {

std::string_view to_string(WarpState state) {
  switch (state) {
    case WarpState::kSelected:
      return "selected";
    case WarpState::kNotSelected:
      return "not_selected";
    case WarpState::kWait:
      return "wait";
    case WarpState::kShortScoreboard:
      return "short_scoreboard";
    case WarpState::kLongScoreboard:
      return "long_scoreboard";
    case WarpState::kMioThrottle:
      return "mio_throttle";
    case WarpState::kLgThrottle:
      return "lg_throttle";
    case WarpState::kMathPipeThrottle:
      return "math_pipe_throttle";
    case WarpState::kDispatchStall:
      return "dispatch_stall";
    case WarpState::kBarrier:
      return "barrier";
    case WarpState::kNoInstruction:
      return "no_instruction";
    case WarpState::kBranchResolving:
      return "branch_resolving";
    case WarpState::kDrain:
      return "drain";
    case WarpState::kImcMiss:
      return "imc_miss";
  }
  return "unknown";
}

}  // namespace tilesim::sim
