// What Nsight Compute's report sections call their metrics.
#pragma once

#include <string>
#include <string_view>

namespace tilesim::traces {

/// The metric that a row of a report is about: its name if the row is called by it (with or without a label in front),
/// else the one that the label stands for; empty if the label is not known. `unit` is the row's base unit: one label
/// stands for a share or for a rate.
[[nodiscard]] std::string metric_of_label(std::string_view label, std::string_view unit);

}  // namespace tilesim::traces
