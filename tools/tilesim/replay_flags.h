// The flags that name machine code and its launch.
#pragma once

#include <string>
#include <vector>

#include "model/result.h"
#include "tools/cli/invocation.h"
#include "tools/cli/subcommand.h"
#include "tools/lib/replay.h"

namespace tilesim::cli {

/// --sass, --cubin, --kernel, --grid, --block, --smem, --args. `--regs` and `--carveout` are the caller's, who may
/// share them with a tile configuration.
[[nodiscard]] std::vector<Flag> code_flags(const std::string& group);

/// The code and its launch, --regs and --carveout included. Errors (kUsage) name flag and value.
[[nodiscard]] Result<app::ReplayRequest> code_request_from(const Invocation& invocation);

}  // namespace tilesim::cli
