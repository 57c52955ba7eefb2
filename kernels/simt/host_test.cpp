// Runs the kernel of tile_gemm.cuh on the CPU and compares C with a plain triple loop: `host-test` builds this for a
// set of configurations. What it cannot show: reads of C's neighbours that happen to be mapped, and anything about
// warps.
#include <algorithm>
#include <cstdio>
#include <limits>

#include "../common/host_cta.h"

namespace tile_gemm_simt {

template <int kCount>
void store_vector(float* to, const float (&from)[kCount]) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(from) != 0) std::abort();
  std::memcpy(to, from, sizeof(from));
}

}  // namespace tile_gemm_simt

#include "tile_gemm.cuh"

using Kernel =
    tile_gemm_simt::TileGemm<TILE_BM, TILE_BN, TILE_BK, TILE_TM, TILE_TN, TILE_WM, TILE_WN, TILE_STAGES, TILE_VEC,
                             TILE_PAD_A, TILE_PAD_B, TILE_SWIZZLE, tile_gemm_simt::TILE_COPY, (TILE_TRANSPOSED_A != 0),
                             (TILE_TRANSPOSED_B != 0), tile_parts::TILE_RASTER, TILE_GROUP, (TILE_RAGGED != 0),
                             static_cast<tile_parts::Epilogue>(TILE_EPILOGUE), TILE_SPLIT_K>;

namespace {

// An allocation that ends where the matrix ends and starts 16-byte aligned, with NaN before it.
std::vector<float> random_matrix(int count) {
  std::vector<float> matrix(static_cast<std::size_t>(count));
  for (float& value : matrix) value = static_cast<float>(std::rand() % 17 - 8);
  return matrix;
}

// What an earlier CTA left in shared memory must not be taken for this one's.
template <class Sums>
void poison() {
  if constexpr (tile_gemm_simt::TILE_COPY != tile_gemm_simt::kDirect) {
    std::fill_n(Sums::shared_a(), Sums::kFloatsA, std::numeric_limits<float>::quiet_NaN());
    std::fill_n(Sums::shared_b(), Sums::kFloatsB, std::numeric_limits<float>::quiet_NaN());
  }
}

bool check(int m, int n, int k) {
  const std::vector<float> a = random_matrix(m * k);
  const std::vector<float> b = random_matrix(k * n);
  const std::vector<float> before = random_matrix(TILE_SPLIT_K * m * n);
  std::vector<float> c = before;
  const float alpha = TILE_EPILOGUE ? 2.0F : 1.0F;
  const float beta = TILE_EPILOGUE == 1 ? 3.0F : 0.0F;
  gridDim = {static_cast<unsigned>((n + TILE_BN - 1) / TILE_BN), static_cast<unsigned>((m + TILE_BM - 1) / TILE_BM),
             TILE_SPLIT_K};
  host_cta::body = [&] { Kernel::run(m, n, k, a.data(), b.data(), c.data(), alpha, beta); };
  for (unsigned cta = 0; cta < gridDim.x * gridDim.y * gridDim.z; ++cta) {
    blockIdx = {cta % gridDim.x, cta / gridDim.x % gridDim.y, cta / gridDim.x / gridDim.y};
    poison<Kernel::Sums>();
    host_cta::run_cta();
  }
  // Small whole numbers: every order of summing gives the same.
  int wrong = 0;
  const int depth = k / TILE_SPLIT_K;
  for (int line = 0; line < TILE_SPLIT_K * m; ++line) {
    const int row = line % m;
    const int first = line / m * depth;
    for (int column = 0; column < n; ++column) {
      float sum = 0.0F;
      for (int i = first; i < first + depth; ++i) {
        sum +=
            a[TILE_TRANSPOSED_A ? i * m + row : row * k + i] * b[TILE_TRANSPOSED_B ? column * k + i : i * n + column];
      }
      const float expected = alpha * sum + beta * before[line * n + column];
      if (!(c[line * n + column] == expected)) ++wrong;
    }
  }
  if (wrong > 0) std::printf("%dx%dx%d: %d elements of C are wrong\n", m, n, k, wrong);
  return wrong == 0;
}

}  // namespace

int main() {
  host_cta::fibers.resize(Kernel::kThreads);
  bool good = check(2 * TILE_BM, 3 * TILE_BN, 5 * TILE_SPLIT_K * TILE_BK) &&
              check(3 * TILE_BM, TILE_BN, TILE_SPLIT_K * TILE_BK);
  if (TILE_RAGGED) {
    constexpr int kVec = TILE_VEC;
    good = good && check(TILE_BM + 3 * kVec, 2 * TILE_BN - kVec, 3 * TILE_BK + kVec) && check(kVec, kVec, kVec) &&
           check(3 * TILE_BM - kVec, TILE_BN / 2 / kVec * kVec, 2 * TILE_BK - kVec) && check(4 * kVec, 4 * kVec, 0);
  }
  return good ? 0 : 1;
}
