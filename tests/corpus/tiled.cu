// Tiles of A and B in shared memory.

/// 16 x 16 tiles, sizes are multiples of 16.
extern "C" __global__ void sgemm_tiled(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float as[16][16];
  __shared__ float bs[16][16];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * 16 + y;
  const int column = blockIdx.x * 16 + x;
  float sum = 0.0f;
  for (int i = 0; i < k; i += 16) {
    as[y][x] = a[row * k + i + x];
    bs[y][x] = b[(i + y) * n + column];
    __syncthreads();
    for (int j = 0; j < 16; ++j) {
      sum += as[y][j] * bs[j][x];
    }
    __syncthreads();
  }
  c[row * n + column] = sum;
}

/// 32 x 32 tiles with every load and store predicated.
extern "C" __global__ void sgemm_tiled_ragged(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float as[32][33];
  __shared__ float bs[32][32];
  const int x = threadIdx.x;
  const int column = blockIdx.x * 32 + x;
  float sum[4] = {};
  for (int i = 0; i < k; i += 32) {
    for (int r = 0; r < 4; ++r) {
      const int y = threadIdx.y + 8 * r;
      const int row = blockIdx.y * 32 + y;
      as[y][x] = row < m && i + x < k ? a[row * k + i + x] : 0.0f;
      bs[y][x] = i + y < k && column < n ? b[(i + y) * n + column] : 0.0f;
    }
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      for (int r = 0; r < 4; ++r) {
        sum[r] += as[threadIdx.y + 8 * r][j] * bs[j][x];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) {
    const int row = blockIdx.y * 32 + threadIdx.y + 8 * r;
    if (row < m && column < n) {
      c[row * n + column] = sum[r];
    }
  }
}

/// 64 x 64 x 16 tiles, 4 x 4 elements per thread with a stride between them, 32-bit accesses, loop not unrolled.
extern "C" __global__ void __launch_bounds__(256)
    sgemm_register_tile(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float as[64][16];
  __shared__ float bs[16][64];
  const int t = threadIdx.x;
  const int x = t % 16;
  const int y = t / 16;
  a += blockIdx.y * 64 * k;
  b += blockIdx.x * 64;
  c += blockIdx.y * 64 * n + blockIdx.x * 64;
  float sum[4][4] = {};
  for (int i = 0; i < k; i += 16) {
    for (int r = 0; r < 4; ++r) {
      as[y + 16 * r][x] = a[(y + 16 * r) * k + i + x];
      bs[t / 64 + 4 * r][t % 64] = b[(i + t / 64 + 4 * r) * n + t % 64];
    }
    __syncthreads();
#pragma unroll 1
    for (int j = 0; j < 16; ++j) {
      float av[4];
      float bv[4];
      for (int r = 0; r < 4; ++r) {
        av[r] = as[y + 16 * r][j];
        bv[r] = bs[j][x + 16 * r];
      }
      for (int r = 0; r < 4; ++r) {
        for (int s = 0; s < 4; ++s) {
          sum[r][s] += av[r] * bv[s];
        }
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) {
    for (int s = 0; s < 4; ++s) {
      c[(y + 16 * r) * n + x + 16 * s] = sum[r][s];
    }
  }
}

/// 128 x 128 x 8 tiles, 8 x 8 elements per thread, 128-bit accesses throughout, A transposed on its way.
extern "C" __global__ void __launch_bounds__(256)
    sgemm_vector(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b, float* c) {
  __shared__ __align__(16) float as[8][128];
  __shared__ __align__(16) float bs[8][128];
  const int t = threadIdx.x;
  const int x = t % 16 * 8;
  const int y = t / 16 * 8;
  a += blockIdx.y * 128 * k;
  b += blockIdx.x * 128;
  c += (blockIdx.y * 128 + y) * n + blockIdx.x * 128 + x;
  float sum[8][8] = {};
  for (int i = 0; i < k; i += 8) {
    const float4 av = *reinterpret_cast<const float4*>(a + t / 2 * k + i + t % 2 * 4);
    const float4 bv = *reinterpret_cast<const float4*>(b + (i + t / 32) * n + t % 32 * 4);
    as[t % 2 * 4][t / 2] = av.x;
    as[t % 2 * 4 + 1][t / 2] = av.y;
    as[t % 2 * 4 + 2][t / 2] = av.z;
    as[t % 2 * 4 + 3][t / 2] = av.w;
    *reinterpret_cast<float4*>(&bs[t / 32][t % 32 * 4]) = bv;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float left[8];
      float right[8];
#pragma unroll
      for (int r = 0; r < 8; r += 4) {
        *reinterpret_cast<float4*>(left + r) = *reinterpret_cast<const float4*>(&as[j][y + r]);
        *reinterpret_cast<float4*>(right + r) = *reinterpret_cast<const float4*>(&bs[j][x + r]);
      }
#pragma unroll
      for (int r = 0; r < 8; ++r) {
#pragma unroll
        for (int s = 0; s < 8; ++s) {
          sum[r][s] += left[r] * right[s];
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
#pragma unroll
    for (int s = 0; s < 8; s += 4) {
      *reinterpret_cast<float4*>(c + r * n + s) = make_float4(sum[r][s], sum[r][s + 1], sum[r][s + 2], sum[r][s + 3]);
    }
  }
}

/// Body of the next two: 32 x 32 x 32 tiles, 64-bit accesses, columns of A read from shared memory.
template <int kStride, bool kSwizzle>
__device__ __forceinline__ void tile_32(int n, int k, const float* a, const float* b, float* c, float* as, float* bs) {
  const int t = threadIdx.x;
  const int x = t % 16 * 2;
  const int y = t / 16;
  const auto place = [](int row, int column) { return row * kStride + (kSwizzle ? column ^ (row & 15) << 1 : column); };
  a += blockIdx.y * 32 * k;
  b += blockIdx.x * 32;
  c += blockIdx.y * 32 * n + blockIdx.x * 32;
  float2 sum[2] = {};
  for (int i = 0; i < k; i += 32) {
    for (int r = 0; r < 32; r += 16) {
      *reinterpret_cast<float2*>(as + place(y + r, x)) = *reinterpret_cast<const float2*>(a + (y + r) * k + i + x);
      *reinterpret_cast<float2*>(bs + place(y + r, x)) = *reinterpret_cast<const float2*>(b + (i + y + r) * n + x);
    }
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      const float2 right = *reinterpret_cast<const float2*>(bs + place(j, x));
      for (int r = 0; r < 2; ++r) {
        const float left = as[place(y + 16 * r, j)];
        sum[r].x += left * right.x;
        sum[r].y += left * right.y;
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 2; ++r) {
    *reinterpret_cast<float2*>(c + (y + 16 * r) * n + x) = sum[r];
  }
}

/// Rows of shared memory padded by two elements.
extern "C" __global__ void __launch_bounds__(256)
    sgemm_padded(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ __align__(16) float as[32 * 34];
  __shared__ __align__(16) float bs[32 * 34];
  tile_32<34, false>(n, k, a, b, c, as, bs);
}

/// Columns of shared memory permuted by exclusive or with the row.
extern "C" __global__ void __launch_bounds__(256)
    sgemm_swizzled(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ __align__(16) float as[32 * 32];
  __shared__ __align__(16) float bs[32 * 32];
  tile_32<32, true>(n, k, a, b, c, as, bs);
}

/// Square tile as wide as the block, in dynamic shared memory.
extern "C" __global__ void sgemm_dynamic_shared(int m, int n, int k, const float* a, const float* b, float* c) {
  extern __shared__ float tiles[];
  const int width = blockDim.x;
  float* const as = tiles;
  float* const bs = tiles + width * (width + 1);
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * width + y;
  const int column = blockIdx.x * width + x;
  float sum = 0.0f;
  for (int i = 0; i < k; i += width) {
    as[y * (width + 1) + x] = row < m && i + x < k ? a[row * k + i + x] : 0.0f;
    bs[y * width + x] = i + y < k && column < n ? b[(i + y) * n + column] : 0.0f;
    __syncthreads();
    for (int j = 0; j < width; ++j) {
      sum += as[y * (width + 1) + j] * bs[j * width + x];
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    c[row * n + column] = sum;
  }
}
