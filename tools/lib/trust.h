// How far to trust a simulated tile configuration.
#pragma once

#include <optional>
#include <string>

#include "model/gpu_spec.h"
#include "model/tile_config.h"

namespace tilesim::app {

struct Trust {
  bool validated = false;               ///< a calibration kernel of this GPU, at this shape or another
  std::optional<double> error_percent;  ///< simulated over measured cycles, minus one; none = not compared yet
  std::string sentence;                 ///< all of it in words
};

/// What is known from the calibration kernels (traces/calibration/h200) about a configuration on a GPU. The recorded
/// set is another: `tilesim validate` compares with it.
[[nodiscard]] Trust trust_of(const model::TileConfig& config, const model::Problem& problem, const model::GpuSpec& gpu);

}  // namespace tilesim::app
