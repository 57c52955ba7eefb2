// Compiled with a cap of 32 registers: sums and addresses spill to local memory.

/// 64 x 64 x 8 tiles, 8 x 8 elements per thread.
extern "C" __global__ void sgemm_spill(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float as[8][64];
  __shared__ float bs[8][64];
  const int t = threadIdx.x;
  const int x = t % 8 * 8;
  const int y = t / 8 * 8;
  a += blockIdx.y * 64 * k;
  b += blockIdx.x * 64;
  c += (blockIdx.y * 64 + y) * n + blockIdx.x * 64 + x;
  float sum[8][8] = {};
  for (int i = 0; i < k; i += 8) {
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      as[r][t] = a[t * k + i + r];
      bs[r][t] = b[(i + r) * n + t];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
#pragma unroll
      for (int r = 0; r < 8; ++r) {
#pragma unroll
        for (int s = 0; s < 8; ++s) {
          sum[r][s] += as[j][y + r] * bs[j][x + s];
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
#pragma unroll
    for (int s = 0; s < 8; ++s) {
      c[r * n + s] = sum[r][s];
    }
  }
}

/// A column of sums in an array at an index that is known at run time only: local memory without spills.
extern "C" __global__ void sgemm_local_array(int m, int n, int k, const float* a, const float* b, float* c) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int first = blockIdx.y * 16;
  if (column >= n) {
    return;
  }
  const int rows = m - first < 16 ? m - first : 16;
  float sum[16];
  for (int r = 0; r < 16; ++r) {
    sum[r] = 0.0f;
  }
  for (int i = 0; i < k; ++i) {
    const float right = b[i * n + column];
    for (int r = 0; r < rows; ++r) {
      sum[(r + column) % 16] += a[(first + r) * k + i] * right;
    }
  }
  for (int r = 0; r < rows; ++r) {
    c[(first + r) * n + column] = sum[(r + column) % 16];
  }
}
