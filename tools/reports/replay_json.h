// The JSON form of a replay.
#pragma once

#include <string>

#include "tools/lib/replay.h"

namespace tilesim::reports {

[[nodiscard]] std::string replay_json(const app::ReplayResult& result);

}  // namespace tilesim::reports
