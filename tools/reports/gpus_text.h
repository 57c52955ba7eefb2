// Text about GPU specs.
#pragma once

#include <string>

#include "model/gpu_spec.h"
#include "tools/cli/colour.h"

namespace tilesim::reports {

/// The shipped specs, one line each.
[[nodiscard]] std::string gpu_list(const cli::Palette& palette);

/// "262..296".
[[nodiscard]] std::string spread_text(const model::Spread& spread);

/// Every number of a spec with unit, confidence and source, and with the spread where any has one.
[[nodiscard]] std::string gpu_table(const model::GpuSpec& spec, const cli::Palette& palette);

/// How many numbers rest on what: "61 measured, 20 datasheet, 1 fitted, 9 guess".
[[nodiscard]] std::string confidence_counts(const model::GpuSpec& spec);

}  // namespace tilesim::reports
