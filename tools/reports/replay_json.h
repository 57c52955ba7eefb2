// The JSON form of a replay.
#pragma once

#include <string>
#include <string_view>

#include "tools/lib/kernel_result.h"
#include "tools/reports/json_document.h"

namespace tilesim::reports {

/// The document of a simulated kernel, whatever it comes from. `problem` is null; the kernel's verdict is left out.
[[nodiscard]] Json kernel_document(std::string_view command, const app::KernelResult& result);

[[nodiscard]] std::string replay_json(const app::KernelResult& result);

}  // namespace tilesim::reports
