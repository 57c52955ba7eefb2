// What this machine has to build and run kernels with.
#pragma once

namespace tilesim::app {

/// nvcc as kernels/common/compile.bash looks for it: $NVCC alone where it is set, else the toolkit's.
[[nodiscard]] bool has_nvcc();

/// An NVIDIA GPU with its driver.
[[nodiscard]] bool has_gpu();

}  // namespace tilesim::app
