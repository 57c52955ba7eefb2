// Machine code or a tile configuration: what questions about either choose between.
#pragma once

#include <string>
#include <vector>

#include "model/result.h"
#include "tools/cli/invocation.h"
#include "tools/cli/subcommand.h"

namespace tilesim::cli {

/// --regs, --carveout and --compile: what code_flags(), tile_flags() and problem_flags() leave to a subcommand that
/// takes all of them. The first two mean something for both kinds of kernel.
[[nodiscard]] std::vector<Flag> code_or_tile_flags(const std::string& group);

/// True for machine code, false for a tile configuration. Error (kUsage): flags of both, but for those named in
/// `shared`, which mean something to the subcommand besides.
[[nodiscard]] Result<bool> asks_for_code(const Invocation& invocation, const std::vector<std::string>& shared = {});

}  // namespace tilesim::cli
