// Text and JSON of `tilesim trace kernels`.
#pragma once

#include <string>

#include "tools/cli/colour.h"
#include "tools/lib/kernel_list.h"

namespace tilesim::reports {

/// A table with one kernel a line, then the parameters of each.
[[nodiscard]] std::string kernel_list_text(const app::KernelList& list, const cli::Palette& palette);

/// The same as data; what a listing does not tell is null.
[[nodiscard]] std::string kernel_list_json(const app::KernelList& list);

}  // namespace tilesim::reports
