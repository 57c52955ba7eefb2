#include "tools/tilesim/code_or_tile.h"

#include "tools/tilesim/launch_flags.h"
#include "tools/tilesim/replay_flags.h"
#include "tools/tilesim/tile_flags.h"

namespace tilesim::cli {

std::vector<Flag> code_or_tile_flags(const std::string& group) {
  return {{"regs", "N", "registers per thread of a listing; with a tile a cap", group, {}, false},
          carveout_flag(group),
          {"compile", "", "nvcc's code of kernels/ instead of generated code; needs nvcc", group, {}, false}};
}

Result<bool> asks_for_code(const Invocation& invocation, const std::vector<std::string>& shared) {
  const bool code = invocation.has("sass") || invocation.has("cubin");
  std::vector<Flag> others = code ? tile_flags() : code_flags("");
  if (code) {
    const std::vector<Flag> problem = problem_flags();
    others.insert(others.end(), problem.begin(), problem.end());
    others.push_back({"compile", "", "", "", {}, false});
  }
  const auto done =
      refuse(invocation, others, code ? "does not go with --sass and --cubin" : "does not go with a tile configuration",
             "give machine code or a tile, not both", shared);
  return done ? Result<bool>(code) : tl::unexpected<Error>(done.error());
}

}  // namespace tilesim::cli
