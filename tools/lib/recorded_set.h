// Where the shipped recordings are.
#pragma once

#include <filesystem>

#include "model/result.h"

namespace tilesim::app {

/// The folder that $TILESIM_RECORDED names, else share/tilesim/recorded/h200 of the installation that the running
/// program belongs to, else traces/recorded/h200 of the source tree that it was built from. Error (kAbsent): none is
/// there.
[[nodiscard]] Result<std::filesystem::path> shipped_recordings();

}  // namespace tilesim::app
