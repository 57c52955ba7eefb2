// One kernel of the family, `tile_gemm`, chosen by macros: see `compile`, which sets them.
// Grid (tiles along N, tiles along M), (BM/WM)*(BN/WN) warps. Pointers and the rows of A and B are aligned to a vector
// of VEC elements, C to 8 bytes. Shared memory is static up to 48 KB; beyond that the launch passes all of it as
// dynamic.
#include "tile_mma.cuh"

using Kernel =
    tile_gemm_mma::TileMma<tile_gemm_mma::TILE_TYPE, TILE_BM, TILE_BN, TILE_BK, TILE_WM, TILE_WN, TILE_STAGES, TILE_VEC,
                           TILE_PAD_A, TILE_PAD_B, TILE_SWIZZLE, (TILE_ASYNC != 0), (TILE_TRANSPOSED_A != 0),
                           (TILE_TRANSPOSED_B != 0), tile_parts::TILE_RASTER, TILE_GROUP, (TILE_RAGGED != 0),
                           static_cast<tile_parts::Epilogue>(TILE_EPILOGUE), TILE_SPLIT_K>;

// nvcc ignores -maxrregcount for a kernel that states its launch bounds.
#if TILE_REGS
#define TILE_BOUNDS
#else
#define TILE_BOUNDS __launch_bounds__(Kernel::kThreads, TILE_MIN_CTAS)
#endif

// M, N and K are named as in the command line of tilesim. The elements of A and B are those of TILE_TYPE.
extern "C" __global__ void TILE_BOUNDS tile_gemm(int M, int N, int K, const unsigned char* __restrict__ A,
                                                 const unsigned char* __restrict__ B, float* __restrict__ C
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
