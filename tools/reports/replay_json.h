// The JSON form of a replay.
#pragma once

#include <string>

#include "tools/lib/kernel_result.h"

namespace tilesim::reports {

[[nodiscard]] std::string replay_json(const app::KernelResult& result);

}  // namespace tilesim::reports
