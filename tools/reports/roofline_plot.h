// The roofline as a picture of characters.
#pragma once

#include <string>

#include "model/roofline.h"

namespace tilesim::reports {

/// A log-log plot, `height` lines high, with ridge and problem marked and the axes labelled.
[[nodiscard]] std::string roofline_plot(const model::Roofline& roofline, int height = 8, int width = 60);

}  // namespace tilesim::reports
