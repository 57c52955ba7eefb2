// JSON of `tilesim run`.
#pragma once

#include <string>

#include "tools/lib/run.h"

namespace tilesim::reports {

/// The document of a replay, with the problem, and in `result` also `gap`, `troubleshooting`, `trust` and `sheet`.
[[nodiscard]] std::string run_json(const app::RunResult& result, bool problem_assumed);

}  // namespace tilesim::reports
