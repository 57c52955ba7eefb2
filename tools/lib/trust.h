// How far to trust a simulated tile configuration.
#pragma once

#include <optional>
#include <string>

#include "model/gpu_spec.h"
#include "model/tile_config.h"

namespace tilesim::app {

struct Trust {
  bool validated = false;               ///< the same kernel was measured on this GPU, at this shape or another
  std::optional<double> error_percent;  ///< simulated over measured cycles, minus one; none = not compared yet
  std::string sentence;                 ///< all of it in words
};

/// What the table of measured tiles says about a configuration on a GPU.
[[nodiscard]] Trust trust_of(const model::TileConfig& config, const model::Problem& problem, const model::GpuSpec& gpu);

}  // namespace tilesim::app
