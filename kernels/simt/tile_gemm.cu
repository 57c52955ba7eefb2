// One kernel of the family, `tile_gemm`, chosen by macros: see `compile`, which sets them.
// Grid (tiles along N, tiles along M), (BM/TM)*(BN/TN) threads. Pointers aligned to 4*VEC bytes, as are the rows of A
// and B. Shared memory is static up to 48 KB; beyond that the launch passes all of it as dynamic.
#include "tile_gemm.cuh"

using Kernel =
    tile_gemm_simt::TileGemm<TILE_BM, TILE_BN, TILE_BK, TILE_TM, TILE_TN, TILE_WM, TILE_WN, TILE_STAGES, TILE_VEC,
                             TILE_PAD_A, TILE_PAD_B, TILE_SWIZZLE, tile_gemm_simt::TILE_COPY, (TILE_TRANSPOSED_A != 0),
                             (TILE_TRANSPOSED_B != 0), tile_gemm_simt::TILE_RASTER, TILE_GROUP, (TILE_RAGGED != 0),
                             static_cast<tile_parts::Epilogue>(TILE_EPILOGUE), TILE_SPLIT_K>;

// nvcc ignores -maxrregcount for a kernel that states its launch bounds. The second bound makes ptxas keep to the
// registers that TILE_MIN_CTAS CTAs leave each other; at 0 it chooses, and two kernels that differ in next to nothing
// may get 53 and 69 registers.
#if TILE_REGS
#define TILE_BOUNDS
#else
#define TILE_BOUNDS __launch_bounds__(Kernel::kThreads, TILE_MIN_CTAS)
#endif

// M, N and K are named as in the command line of tilesim.
extern "C" __global__ void TILE_BOUNDS tile_gemm(int M, int N, int K, const float* __restrict__ A,
                                                 const float* __restrict__ B, float* __restrict__ C
#if TILE_EPILOGUE
                                                 ,
                                                 float alpha, float beta
#endif
) {
#if !TILE_EPILOGUE
  constexpr float alpha = 1.0F;
  constexpr float beta = 0.0F;
#endif
  Kernel::run(M, N, K, A, B, C, alpha, beta);
}
