// A tile configuration as nvcc compiles it: kernels/simt or kernels/mma, replayed from its machine code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "model/result.h"
#include "model/tile_config.h"
#include "tools/lib/sass_source.h"

namespace tilesim::app {

/// Sources of the kernels: $TILESIM_KERNELS, else those beside the installed program, else the folder that TileSim was
/// built from. It may not be there.
[[nodiscard]] std::filesystem::path kernels_folder();

struct CompiledTile {
  std::unique_ptr<SassSource> source;
  std::int64_t registers = 0;      ///< per thread, as ptxas reports them
  std::int64_t shared_bytes = 0;   ///< of a CTA
  std::int64_t spilled_bytes = 0;  ///< stack frame per thread
};

/// The kernel in `cubin`, which kernels/simt/compile or kernels/mma/compile made of the configuration, launched for the
/// problem. Errors (kUsage): the cubin's, a kernel that is not `tile_gemm`, code that cannot be emulated.
[[nodiscard]] Result<CompiledTile> load_compiled_tile(const std::filesystem::path& cubin,
                                                      const model::TileConfig& config, const model::Problem& problem);

/// Compiles the configuration with nvcc ($NVCC, $CUDA_HOME/bin or PATH) and loads it. Errors: kAbsent without nvcc or
/// without the kernels' sources (see kernels_folder()); kUsage for what they do not cover: batches, split-K but where K
/// holds whole slices of every part and alpha is 1, beta 0.
[[nodiscard]] Result<CompiledTile> compile_tile(const model::TileConfig& config, const model::Problem& problem);

}  // namespace tilesim::app
