// K is split over the grid's z: each CTA multiplies a part, then the parts are added. 16 x 16 tiles, any sizes.

__device__ __forceinline__ float part(int m, int n, int k, const float* a, const float* b, int row, int column) {
  __shared__ float as[16][17];
  __shared__ float bs[16][16];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int length = (k + gridDim.z - 1) / gridDim.z;
  const int first = blockIdx.z * length;
  const int last = min(k, first + length);
  float sum = 0.0f;
  for (int i = first; i < last; i += 16) {
    as[y][x] = row < m && i + x < last ? a[row * k + i + x] : 0.0f;
    bs[y][x] = i + y < last && column < n ? b[(i + y) * n + column] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 16; ++j) {
      sum += as[y][j] * bs[j][x];
    }
    __syncthreads();
  }
  return sum;
}

/// The parts are added to C by atomics, in any order.
extern "C" __global__ void sgemm_splitk_atomic(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  const float sum = part(m, n, k, a, b, row, column);
  if (row < m && column < n) {
    atomicAdd(c + row * n + column, sum);
  }
}

/// The CTAs of a tile add to C one after the other: each waits until the tile's semaphore names it.
extern "C" __global__ void sgemm_splitk_semaphore(int m, int n, int k, const float* a, const float* b, float* c,
                                                  int* semaphores) {
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  const float sum = part(m, n, k, a, b, row, column);
  const bool leader = threadIdx.x == 0 && threadIdx.y == 0;
  int* const semaphore = semaphores + blockIdx.y * gridDim.x + blockIdx.x;
  if (leader) {
    int turn = -1;
    while (turn != static_cast<int>(blockIdx.z)) {
      asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(turn) : "l"(semaphore) : "memory");
    }
  }
  __syncthreads();
  if (row < m && column < n) {
    float* const out = c + row * n + column;
    *out = blockIdx.z == 0 ? sum : *out + sum;
  }
  __threadfence();
  __syncthreads();
  if (leader) {
    const int next = blockIdx.z + 1 == gridDim.z ? 0 : blockIdx.z + 1;
    asm volatile("st.global.release.gpu.b32 [%0], %1;" ::"l"(semaphore), "r"(next) : "memory");
  }
}

/// Each CTA leaves its part in a workspace; the last of a tile, by a counter, adds them up.
extern "C" __global__ void sgemm_splitk_last(int m, int n, int k, const float* a, const float* b, float* c,
                                             volatile float* workspace, unsigned* counters) {
  __shared__ bool last;
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  const float sum = part(m, n, k, a, b, row, column);
  const bool inside = row < m && column < n;
  if (inside) {
    workspace[(blockIdx.z * m + row) * n + column] = sum;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    last = atomicInc(counters + blockIdx.y * gridDim.x + blockIdx.x, gridDim.z - 1) == gridDim.z - 1;
  }
  __syncthreads();
  if (last && inside) {
    float total = 0.0f;
    for (unsigned z = 0; z < gridDim.z; ++z) {
      total += workspace[(z * m + row) * n + column];
    }
    c[row * n + column] = total;
  }
}
