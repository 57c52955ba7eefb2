// What happens to the sums before they are stored. 16 x 16 tiles, any sizes.

__device__ __forceinline__ float product(int m, int n, int k, const float* a, const float* b, int row, int column) {
  __shared__ float as[16][17];
  __shared__ float bs[16][16];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
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
  return sum;
}

/// C is read only where beta is not zero.
extern "C" __global__ void sgemm_alpha_beta(int m, int n, int k, float alpha, const float* a, const float* b,
                                            float beta, float* c) {
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  const float sum = product(m, n, k, a, b, row, column);
  if (row < m && column < n) {
    float* const out = c + row * n + column;
    *out = beta == 0.0f ? alpha * sum : alpha * sum + beta * *out;
  }
}

/// An activation chosen at run time: 0 none, 1 ReLU, 2 clamp to [-1, 1], 3 sigmoid, 4 GELU by tanh, 5 square root.
extern "C" __global__ void sgemm_activation(int m, int n, int k, const float* a, const float* b, float* c,
                                            const float* bias, int activation) {
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  float sum = product(m, n, k, a, b, row, column);
  if (row >= m || column >= n) {
    return;
  }
  if (bias != nullptr) {
    sum += bias[column];
  }
  switch (activation) {
    case 1:
      sum = fmaxf(sum, 0.0f);
      break;
    case 2:
      sum = fminf(fmaxf(sum, -1.0f), 1.0f);
      break;
    case 3:
      sum = 1.0f / (1.0f + __expf(-sum));
      break;
    case 4:
      sum = 0.5f * sum * (1.0f + tanhf(0.7978845608f * (sum + 0.044715f * sum * sum * sum)));
      break;
    case 5:
      sum = sqrtf(fabsf(sum));
      break;
    default:
      break;
  }
  c[row * n + column] = sum;
}

/// Divides each sum, which takes a subroutine for extreme values.
extern "C" __global__ void sgemm_divide(int m, int n, int k, const float* a, const float* b, float* c, float divisor) {
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  const float sum = product(m, n, k, a, b, row, column);
  if (row < m && column < n) {
    c[row * n + column] = sum / divisor;
  }
}

/// Sums in double precision.
extern "C" __global__ void sgemm_double_sum(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  if (row < m && column < n) {
    double sum = 0.0;
    for (int i = 0; i < k; ++i) {
      sum += static_cast<double>(a[row * k + i]) * static_cast<double>(b[i * n + column]);
    }
    c[row * n + column] = static_cast<float>(sum);
  }
}
