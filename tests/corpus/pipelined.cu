// The next tiles are on their way while the present ones are multiplied.

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// 64 x 64 x 8 tiles in two buffers, filled through registers.
extern "C" __global__ void __launch_bounds__(256)
    sgemm_double_register(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b, float* c) {
  __shared__ __align__(16) float as[2][8][64];
  __shared__ __align__(16) float bs[2][8][64];
  const int t = threadIdx.x;
  const int x = t % 16 * 4;
  const int y = t / 16 * 4;
  const float* from_a = a + (blockIdx.y * 64 + t / 4) * k + t % 4 * 2;
  const float* from_b = b + t / 32 * n + blockIdx.x * 64 + t % 32 * 2;
  float2 next_a = *reinterpret_cast<const float2*>(from_a);
  float2 next_b = *reinterpret_cast<const float2*>(from_b);
  float sum[4][4] = {};
  const auto store = [&](int buffer) {
    as[buffer][t % 4 * 2][t / 4] = next_a.x;
    as[buffer][t % 4 * 2 + 1][t / 4] = next_a.y;
    *reinterpret_cast<float2*>(&bs[buffer][t / 32][t % 32 * 2]) = next_b;
  };
  store(0);
  __syncthreads();
  int buffer = 0;
  for (int i = 8; i <= k; i += 8) {
    if (i < k) {
      next_a = *reinterpret_cast<const float2*>(from_a + i);
      next_b = *reinterpret_cast<const float2*>(from_b + i * n);
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float4 left = *reinterpret_cast<const float4*>(&as[buffer][j][y]);
      const float4 right = *reinterpret_cast<const float4*>(&bs[buffer][j][x]);
      const float lefts[4] = {left.x, left.y, left.z, left.w};
      const float rights[4] = {right.x, right.y, right.z, right.w};
#pragma unroll
      for (int r = 0; r < 4; ++r) {
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          sum[r][s] += lefts[r] * rights[s];
        }
      }
    }
    buffer ^= 1;
    if (i < k) {
      store(buffer);
      __syncthreads();
    }
  }
  for (int r = 0; r < 4; ++r) {
    *reinterpret_cast<float4*>(c + (blockIdx.y * 64 + y + r) * n + blockIdx.x * 64 + x) =
        make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
  }
}

/// 64 x 64 x 16 tiles in three buffers, filled by cp.async of 16 bytes.
extern "C" __global__ void __launch_bounds__(256)
    sgemm_async(int m, int n, int k, const float* a, const float* b, float* c) {
  constexpr int kStages = 3;
  __shared__ __align__(16) float as[kStages][64][20];
  __shared__ __align__(16) float bs[kStages][16][64];
  const int t = threadIdx.x;
  const int x = t % 16 * 4;
  const int y = t / 16 * 4;
  const auto copy = [&](int stage, int i) {
    const float* from_a = a + (blockIdx.y * 64 + t / 4) * k + i + t % 4 * 4;
    const float* from_b = b + (i + t / 16) * n + blockIdx.x * 64 + x;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&as[stage][t / 4][t % 4 * 4])),
                 "l"(from_a));
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared_address(&bs[stage][t / 16][x])),
                 "l"(from_b));
  };
  const int tiles = k / 16;
  for (int stage = 0; stage < kStages - 1; ++stage) {
    if (stage < tiles) {
      copy(stage, stage * 16);
    }
    asm volatile("cp.async.commit_group;");
  }
  float sum[4][4] = {};
  for (int tile = 0; tile < tiles; ++tile) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2));
    __syncthreads();
    const int next = tile + kStages - 1;
    if (next < tiles) {
      copy(next % kStages, next * 16);
    }
    asm volatile("cp.async.commit_group;");
    const int stage = tile % kStages;
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      const float4 right = *reinterpret_cast<const float4*>(&bs[stage][j][x]);
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float left = as[stage][y + r][j];
        sum[r][0] += left * right.x;
        sum[r][1] += left * right.y;
        sum[r][2] += left * right.z;
        sum[r][3] += left * right.w;
      }
    }
  }
  for (int r = 0; r < 4; ++r) {
    *reinterpret_cast<float4*>(c + (blockIdx.y * 64 + y + r) * n + blockIdx.x * 64 + x) =
        make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
  }
}

/// 32 x 32 x 16 tiles in two buffers, filled by cp.async of 4 bytes that write zeros outside the matrices.
extern "C" __global__ void __launch_bounds__(128)
    sgemm_async_ragged(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float as[2][32][17];
  __shared__ float bs[2][16][32];
  const int t = threadIdx.x;
  const int first_row = blockIdx.y * 32;
  const int first_column = blockIdx.x * 32;
  const auto copy = [&](int buffer, int i) {
    for (int r = 0; r < 4; ++r) {
      const int row = t / 16 + 8 * r;
      const int inner = i + t % 16;
      const bool inside = first_row + row < m && inner < k;
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(&as[buffer][row][t % 16])),
                   "l"(inside ? a + (first_row + row) * k + inner : a), "r"(inside ? 4 : 0));
    }
    for (int r = 0; r < 4; ++r) {
      const int row = t / 32 + 4 * r;
      const int column = first_column + t % 32;
      const bool inside = i + row < k && column < n;
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(&bs[buffer][row][t % 32])),
                   "l"(inside ? b + (i + row) * n + column : b), "r"(inside ? 4 : 0));
    }
    asm volatile("cp.async.commit_group;");
  };
  copy(0, 0);
  float sum[8] = {};
  int buffer = 0;
  for (int i = 0; i < k; i += 16) {
    if (i + 16 < k) {
      copy(buffer ^ 1, i + 16);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_all;");
    }
    __syncthreads();
    for (int j = 0; j < 16; ++j) {
      const float right = bs[buffer][j][t % 32];
      for (int r = 0; r < 8; ++r) {
        sum[r] += as[buffer][t / 32 * 8 + r][j] * right;
      }
    }
    __syncthreads();
    buffer ^= 1;
  }
  for (int r = 0; r < 8; ++r) {
    const int row = first_row + t / 32 * 8 + r;
    if (row < m && first_column + t % 32 < n) {
      c[row * n + first_column + t % 32] = sum[r];
    }
  }
}
