// Tensor cores by nvcuda::wmma. A warp computes a tile of 16 x 16; a CTA has 4 warps side by side. Sizes are multiples
// of the tile, N of 64.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void hgemm_wmma(int m, int n, int k, const __half* a, const __half* b, float* c) {
  const int row = blockIdx.y * 16;
  const int column = blockIdx.x * 64 + threadIdx.x / 32 * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right;
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + column, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

/// Sums in half precision; B is stored transposed; C = alpha A B + beta C; fragments go through shared memory.
extern "C" __global__ void hgemm_wmma_half(int m, int n, int k, const __half* a, const __half* b, __half* c,
                                           float alpha, float beta) {
  __shared__ __align__(32) __half as[16][24];
  const int row = blockIdx.y * 16;
  const int column = blockIdx.x * 64 + threadIdx.x / 32 * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, __half> sum;
  wmma::fragment<wmma::accumulator, 16, 16, 16, __half> old;
  wmma::fill_fragment(sum, __float2half(0.0f));
  for (int i = 0; i < k; i += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
    const int t = threadIdx.x;
    *reinterpret_cast<__half2*>(&as[t / 8][t % 8 * 2]) =
        *reinterpret_cast<const __half2*>(a + (row + t / 8) * k + i + t % 8 * 2);
    __syncthreads();
    wmma::load_matrix_sync(left, &as[0][0], 24);
    wmma::load_matrix_sync(right, b + column * k + i, k);
    wmma::mma_sync(sum, left, right, sum);
    __syncthreads();
  }
  wmma::load_matrix_sync(old, c + row * n + column, n, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; ++i) {
    sum.x[i] = __hfma(__float2half(alpha), sum.x[i], __hmul(__float2half(beta), old.x[i]));
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

extern "C" __global__ void bgemm_wmma(int m, int n, int k, const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  const int row = blockIdx.y * 16;
  const int column = blockIdx.x * 64 + threadIdx.x / 32 * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + column, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

/// FP32 in memory, rounded to TF32 on the way.
extern "C" __global__ void tgemm_wmma(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = blockIdx.y * 16;
  const int column = blockIdx.x * 64 + threadIdx.x / 32 * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 8) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + column, n);
    for (int j = 0; j < left.num_elements; ++j) {
      left.x[j] = wmma::__float_to_tf32(left.x[j]);
    }
    for (int j = 0; j < right.num_elements; ++j) {
      right.x[j] = wmma::__float_to_tf32(right.x[j]);
    }
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
