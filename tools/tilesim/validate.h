// The three questions of `tilesim validate`.
#pragma once

#include <vector>

#include "model/result.h"
#include "tools/cli/invocation.h"
#include "tools/cli/subcommand.h"
#include "tools/tilesim/gpu_flags.h"

namespace tilesim::cli {

/// Predictions against a folder of recordings.
[[nodiscard]] std::vector<Flag> recorded_flags();
[[nodiscard]] Result<ExitCode> validate_recorded(const Invocation& invocation, const Setting& setting);

}  // namespace tilesim::cli
