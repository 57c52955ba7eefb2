// Many products in one launch, one for each z of the grid. 16 x 16 tiles, any sizes.

__device__ __forceinline__ void one_product(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float as[16][17];
  __shared__ float bs[16][16];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * 16 + y;
  const int column = blockIdx.x * 16 + x;
  float sum = 0.0f;
  for (int i = 0; i < k; i += 16) {
    as[y][x] = row < m && i + x < k ? a[row * k + i + x] : 0.0f;
    bs[y][x] = i + y < k && column < n ? b[(i + y) * n + column] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 16; ++j) {
      sum += as[y][j] * bs[j][x];
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    c[row * n + column] = sum;
  }
}

/// The matrices' addresses stand in arrays.
extern "C" __global__ void sgemm_batched_pointers(int m, int n, int k, const float* const* a, const float* const* b,
                                                  float* const* c) {
  one_product(m, n, k, a[blockIdx.z], b[blockIdx.z], c[blockIdx.z]);
}

/// The matrices follow each other at a fixed distance, in elements.
extern "C" __global__ void sgemm_batched_strided(int m, int n, int k, const float* a, long long stride_a,
                                                 const float* b, long long stride_b, float* c, long long stride_c) {
  one_product(m, n, k, a + blockIdx.z * stride_a, b + blockIdx.z * stride_b, c + blockIdx.z * stride_c);
}
