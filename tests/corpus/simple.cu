// One output element per thread, without shared memory.

/// Neighbouring threads take neighbouring rows: reads of A and writes of C are spread over lines.
extern "C" __global__ void sgemm_naive(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && column < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
      sum += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = sum;
  }
}

/// Neighbouring threads take neighbouring columns.
extern "C" __global__ void sgemm_coalesced(int m, int n, int k, const float* __restrict__ a,
                                           const float* __restrict__ b, float* __restrict__ c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && column < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
      sum += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = sum;
  }
}

/// The loop is kept as it stands.
extern "C" __global__ void sgemm_rolled(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && column < n) {
    float sum = 0.0f;
#pragma unroll 1
    for (int i = 0; i < k; ++i) {
      sum += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = sum;
  }
}

/// Threads without an element leave at once, and so do those that have nothing to sum up.
extern "C" __global__ void sgemm_early_exit(int m, int n, int k, const float* a, const float* b, float* c) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  if (column >= n) {
    return;
  }
  for (int row = blockIdx.y * 8 + threadIdx.y; row < blockIdx.y * 8 + 8; row += 4) {
    if (row >= m) {
      return;
    }
    float* const out = c + row * n + column;
    *out = 0.0f;
    if (k == 0) {
      continue;
    }
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
      sum = fmaf(a[row * k + i], b[i * n + column], sum);
    }
    *out = sum;
  }
}

/// 64-bit sizes and indices.
extern "C" __global__ void sgemm_long_index(long long m, long long n, long long k, const float* a, const float* b,
                                            float* c) {
  const long long row = static_cast<long long>(blockIdx.y) * blockDim.y + threadIdx.y;
  const long long column = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) {
    return;
  }
  float sum = 0.0f;
  for (long long i = 0; i < k; ++i) {
    sum += a[row * k + i] * b[i * n + column];
  }
  c[row * n + column] = sum;
}

struct GemmArguments {
  const float* a;
  const float* b;
  float* c;
  int m, n, k;
  int lda, ldb, ldc;
  float alpha, beta;
};

/// All arguments in one structure.
extern "C" __global__ void sgemm_struct(const GemmArguments gemm) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= gemm.m || column >= gemm.n) {
    return;
  }
  float sum = 0.0f;
  for (int i = 0; i < gemm.k; ++i) {
    sum += gemm.a[row * gemm.lda + i] * gemm.b[i * gemm.ldb + column];
  }
  float* const out = gemm.c + row * gemm.ldc + column;
  *out = gemm.alpha * sum + gemm.beta * *out;
}

/// A and B are stored transposed, sizes are unsigned, the grid is linear.
extern "C" __global__ void sgemm_tt_linear(unsigned m, unsigned n, unsigned k, const float* a, const float* b,
                                           float* c) {
  const unsigned element = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = element / n;
  const unsigned column = element % n;
  if (row >= m) {
    return;
  }
  float sum = 0.0f;
  for (unsigned i = 0; i < k; ++i) {
    sum += a[i * m + row] * b[column * k + i];
  }
  c[row * n + column] = sum;
}
