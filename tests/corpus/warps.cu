// Warps that work together or apart.

/// 4 producer warps fill two buffers, 4 consumer warps multiply; named barriers 1, 2 say "full", 3, 4 "empty".
/// 32 x 32 x 32 tiles, sizes are multiples of 32.
extern "C" __global__ void __launch_bounds__(256)
    sgemm_named_barriers(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float as[2][32][32];
  __shared__ float bs[2][32][32];
  const int t = threadIdx.x % 128;
  const int tiles = k / 32;
  if (threadIdx.x < 128) {
    for (int i = 0; i < tiles; ++i) {
      const int buffer = i % 2;
      asm volatile("bar.sync %0, 256;" ::"r"(3 + buffer) : "memory");
      for (int r = 0; r < 8; ++r) {
        const int row = t / 32 + 4 * r;
        as[buffer][row][t % 32] = a[(blockIdx.y * 32 + row) * k + i * 32 + t % 32];
        bs[buffer][row][t % 32] = b[(i * 32 + row) * n + blockIdx.x * 32 + t % 32];
      }
      __threadfence_block();
      asm volatile("bar.arrive %0, 256;" ::"r"(1 + buffer) : "memory");
    }
    return;
  }
  float sum[8] = {};
  for (int i = 0; i < 2 && i < tiles; ++i) {
    asm volatile("bar.arrive %0, 256;" ::"r"(3 + i) : "memory");
  }
  for (int i = 0; i < tiles; ++i) {
    const int buffer = i % 2;
    asm volatile("bar.sync %0, 256;" ::"r"(1 + buffer) : "memory");
    for (int j = 0; j < 32; ++j) {
      const float right = bs[buffer][j][t % 32];
      for (int r = 0; r < 8; ++r) {
        sum[r] += as[buffer][t / 32 * 8 + r][j] * right;
      }
    }
    if (i + 2 < tiles) {
      asm volatile("bar.arrive %0, 256;" ::"r"(3 + buffer) : "memory");
    }
  }
  for (int r = 0; r < 8; ++r) {
    c[(blockIdx.y * 32 + t / 32 * 8 + r) * n + blockIdx.x * 32 + t % 32] = sum[r];
  }
}

/// Two halves of the CTA with a tile and a barrier each, whose numbers are known when compiling. 16 x 16 tiles side by
/// side, sizes are multiples of 16, N of 32.
extern "C" __global__ void __launch_bounds__(512)
    sgemm_half_barriers(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float as[2][16][16];
  __shared__ float bs[2][16][16];
  const int half = threadIdx.x / 256;
  const int t = threadIdx.x % 256;
  const int x = t % 16;
  const int y = t / 16;
  const int row = blockIdx.y * 16 + y;
  const int column = blockIdx.x * 32 + half * 16 + x;
  const auto meet = [half] {
    if (half == 0) {
      asm volatile("bar.sync 1, 256;" ::: "memory");
    } else {
      asm volatile("bar.sync 2, 256;" ::: "memory");
    }
  };
  float sum = 0.0f;
  for (int i = 0; i < k; i += 16) {
    as[half][y][x] = a[row * k + i + x];
    bs[half][y][x] = b[(i + y) * n + column];
    meet();
    for (int j = 0; j < 16; ++j) {
      sum += as[half][y][j] * bs[half][j][x];
    }
    meet();
  }
  c[row * n + column] = sum;
}

/// A warp takes 4 rows and 32 columns; each lane loads a value of A and the others get it by shuffles.
extern "C" __global__ void sgemm_shuffle(int m, int n, int k, const float* a, const float* b, float* c) {
  const int lane = threadIdx.x;
  const int column = blockIdx.x * 32 + lane;
  const int first = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
  float sum[4] = {};
  for (int i = 0; i < k; i += 32) {
    float left[4];
    for (int r = 0; r < 4; ++r) {
      left[r] = first + r < m && i + lane < k ? a[(first + r) * k + i + lane] : 0.0f;
    }
    const int count = min(32, k - i);
    for (int j = 0; j < count; ++j) {
      const float right = column < n ? b[(i + j) * n + column] : 0.0f;
      for (int r = 0; r < 4; ++r) {
        sum[r] += __shfl_sync(0xffffffffu, left[r], j) * right;
      }
    }
  }
  for (int r = 0; r < 4; ++r) {
    if (first + r < m && column < n) {
      c[(first + r) * n + column] = sum[r];
    }
  }
}

/// A warp takes an element; its lanes share K and add up by shuffles: exclusive or within half a warp, then down.
extern "C" __global__ void sgemm_reduce(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.y + threadIdx.y;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int i = threadIdx.x; i < k; i += 32) {
    sum += a[row * k + i] * b[i * n + column];
  }
  for (int distance = 8; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, distance, 16);
  }
  sum += __shfl_down_sync(0xffffffffu, sum, 16);
  if (threadIdx.x == 0) {
    c[row * n + column] = sum;
  }
}

/// As sgemm_reduce, by running sums: shuffles up. The last lane stores.
extern "C" __global__ void sgemm_scan(int m, int n, int k, const float* a, const float* b, float* c) {
  const int lane = threadIdx.x;
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.y + threadIdx.y;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int i = lane; i < k; i += 32) {
    sum += a[row * k + i] * b[i * n + column];
  }
#pragma unroll 1
  for (int distance = 1; distance < 32; distance *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, sum, distance);
    sum += lane >= distance ? other : 0.0f;
  }
  if (lane == 31) {
    c[row * n + column] = sum;
  }
}

/// Lanes of a warp walk K in different directions, and jump over zeros of A.
extern "C" __global__ void sgemm_divergent(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) {
    return;
  }
  float sum = 0.0f;
  if (column % 2 == 0) {
#pragma unroll 1
    for (int i = 0; i < k; ++i) {
      const float left = a[row * k + i];
      if (left != 0.0f) {
        sum += left * b[i * n + column];
      }
    }
  } else {
#pragma unroll 1
    for (int i = k - 1; i >= 0; --i) {
      const float left = a[row * k + i];
      if (left != 0.0f) {
        sum = __fadd_rn(sum, __fmul_rn(left, b[i * n + column]));
      }
    }
  }
  c[row * n + column] = sum;
}

/// Lanes leave the first loop after different trips and make up for it in the second.
extern "C" __global__ void sgemm_uneven_trips(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) {
    return;
  }
  const int middle = min(k, column % 32);
  float sum = 0.0f;
  float rest = 0.0f;
  int i = 0;
#pragma unroll 1
  while (i < middle) {
    sum += a[row * k + i] * b[i * n + column];
    ++i;
  }
#pragma unroll 1
  do {
    if (i >= k) {
      break;
    }
    rest += a[row * k + i] * b[i * n + column];
    ++i;
  } while (true);
  c[row * n + column] = sum + rest;
}

/// A warp votes which of 32 values of A are not zero and goes through those only.
extern "C" __global__ void sgemm_vote(int m, int n, int k, const float* a, const float* b, float* c) {
  const int lane = threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * 32 + lane;
  if (row >= m) {
    return;
  }
  float sum = 0.0f;
  for (int i = 0; i < k; i += 32) {
    const float left = i + lane < k ? a[row * k + i + lane] : 0.0f;
    unsigned present = __ballot_sync(0xffffffffu, left != 0.0f);
    if (__all_sync(0xffffffffu, left == 0.0f)) {
      continue;
    }
    while (present != 0) {
      const int j = __ffs(static_cast<int>(present)) - 1;
      present &= present - 1;
      const float right = column < n ? b[(i + j) * n + column] : 0.0f;
      sum += __shfl_sync(0xffffffffu, left, j) * right;
    }
  }
  if (column < n) {
    c[row * n + column] = sum;
  }
}

/// Warps split K; their sums meet in shared memory, by atomics there.
extern "C" __global__ void sgemm_shared_atomic(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float sums[32];
  const int lane = threadIdx.x;
  const int row = blockIdx.y;
  const int column = blockIdx.x * 32 + lane;
  if (threadIdx.y == 0) {
    sums[lane] = 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.y; i < k; i += blockDim.y) {
    sum += column < n ? a[row * k + i] * b[i * n + column] : 0.0f;
  }
  atomicAdd(sums + lane, sum);
  __syncthreads();
  if (threadIdx.y == 0 && column < n) {
    c[row * n + column] = sums[lane];
  }
}
