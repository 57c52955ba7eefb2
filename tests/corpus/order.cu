// Which CTA computes which tile. 16 x 16 tiles, any sizes.

__device__ __forceinline__ void tile(int m, int n, int k, const float* a, const float* b, float* c, int tile_row,
                                     int tile_column) {
  __shared__ float as[16][17];
  __shared__ float bs[16][16];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = tile_row * 16 + y;
  const int column = tile_column * 16 + x;
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

/// A few CTAs take the tiles in turn.
extern "C" __global__ void sgemm_persistent(int m, int n, int k, const float* a, const float* b, float* c) {
  const int columns = (n + 15) / 16;
  const int tiles = (m + 15) / 16 * columns;
  for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
    tile(m, n, k, a, b, c, i / columns, i % columns);
  }
}

/// As sgemm_persistent, with tiles numbered in 64 bits, whose division is a subroutine.
extern "C" __global__ void sgemm_persistent_long(int m, int n, int k, const float* a, const float* b, float* c) {
  const long long columns = (n + 15) / 16;
  const long long tiles = (m + 15) / 16 * columns;
  for (long long i = blockIdx.x; i < tiles; i += gridDim.x) {
    tile(m, n, k, a, b, c, static_cast<int>(i / columns), static_cast<int>(i % columns));
  }
}

/// A linear grid walks through groups of four rows of tiles, column by column.
extern "C" __global__ void sgemm_grouped(int m, int n, int k, const float* a, const float* b, float* c) {
  const int columns = (n + 15) / 16;
  const int rows = (m + 15) / 16;
  const int group = blockIdx.x / (4 * columns);
  const int height = min(4, rows - 4 * group);
  const int inside = blockIdx.x - group * 4 * columns;
  tile(m, n, k, a, b, c, 4 * group + inside % height, inside / height);
}

/// CTAs draw tiles from a counter in memory.
extern "C" __global__ void sgemm_queue(int m, int n, int k, const float* a, const float* b, float* c, int* counter) {
  __shared__ int drawn;
  const int columns = (n + 15) / 16;
  const int tiles = (m + 15) / 16 * columns;
  while (true) {
    if (threadIdx.x == 0 && threadIdx.y == 0) {
      drawn = atomicAdd(counter, 1);
    }
    __syncthreads();
    const int i = drawn;
    if (i >= tiles) {
      return;
    }
    tile(m, n, k, a, b, c, i / columns, i % columns);
    __syncthreads();
  }
}
