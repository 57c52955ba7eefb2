// GEMM kernels from cubins as test input: launches, and the check of what they compute.
#pragma once

#include <string>

#include "model/tile_config.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/emulator/launch.h"
#include "traces/emulator/sass_kernel.h"

namespace tilesim::traces {

/// Tile, layout and shape of a launch of the SIMT or mma family.
struct Gemm {
  int bm = 0;
  int bn = 0;
  int threads = 0;
  bool transposed_a = false;  ///< A is stored K-major
  bool transposed_b = false;  ///< B is stored N-major
  int m = 0;
  int n = 0;
  int k = 0;
  model::DataType dtype = model::DataType::kF32;  ///< of A and B; C is FP32
  int parts = 1;                                  ///< of K, whose products lie behind each other in C
};

/// The kernel of a cubin that has one; fails the test otherwise.
[[nodiscard]] CubinKernel only_kernel(const std::string& path);
/// A launch with arguments M, N, K, A, B, C, alpha = 1, beta = 0.
[[nodiscard]] LaunchParameters launch_of(const CubinKernel& kernel, const Gemm& gemm);
/// Runs the grid in functional mode on random matrices, C full of huge numbers, and compares C with a product in double
/// of the elements as the type holds them, within the bound of an FP32 sum of K terms (tensor cores: of which every 8
/// are cut off at the 25th bit of the largest).
void check_product(const DecodedKernel& kernel, const LaunchParameters& launch, const Gemm& gemm);

}  // namespace tilesim::traces
