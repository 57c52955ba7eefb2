// Half precision on the CUDA cores.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

/// One element per thread, summed in FP32.
extern "C" __global__ void hgemm_simple(int m, int n, int k, const __half* a, const __half* b, __half* c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && column < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
      sum += __half2float(a[row * k + i]) * __half2float(b[i * n + column]);
    }
    c[row * n + column] = __float2half(sum);
  }
}

extern "C" __global__ void bgemm_simple(int m, int n, int k, const __nv_bfloat16* a, const __nv_bfloat16* b,
                                        __nv_bfloat16* c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && column < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
      sum += __bfloat162float(a[row * k + i]) * __bfloat162float(b[i * n + column]);
    }
    c[row * n + column] = __float2bfloat16(sum);
  }
}

/// Two columns per thread, summed in packed half precision. N is even.
extern "C" __global__ void hgemm_packed(int m, int n, int k, const __half* a, const __half2* b, __half2* c, float alpha,
                                        float beta) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && column < n / 2) {
    __half2 sum = __float2half2_rn(0.0f);
    for (int i = 0; i < k; ++i) {
      sum = __hfma2(__half2half2(a[row * k + i]), b[i * (n / 2) + column], sum);
    }
    __half2* const out = c + row * (n / 2) + column;
    *out = __hadd2(__hmul2(__float2half2_rn(alpha), sum), __hmul2(__float2half2_rn(beta), *out));
  }
}

extern "C" __global__ void bgemm_packed(int m, int n, int k, const __nv_bfloat16* a, const __nv_bfloat162* b,
                                        __nv_bfloat162* c, float alpha, float beta) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && column < n / 2) {
    __nv_bfloat162 sum = __float2bfloat162_rn(0.0f);
    for (int i = 0; i < k; ++i) {
      sum = __hfma2(__bfloat162bfloat162(a[row * k + i]), b[i * (n / 2) + column], sum);
    }
    __nv_bfloat162* const out = c + row * (n / 2) + column;
    *out = __hadd2(__hmul2(__float2bfloat162_rn(alpha), sum), __hmul2(__float2bfloat162_rn(beta), *out));
  }
}

/// 32 x 32 x 16 tiles of shared memory, 16-bit accesses there, FP32 out. Sizes are multiples of 32, K of 16.
extern "C" __global__ void __launch_bounds__(256)
    hgemm_tiled(int m, int n, int k, const __half* a, const __half* b, float* c) {
  __shared__ __half as[32][16];
  __shared__ __half bs[16][32];
  const int t = threadIdx.x;
  const int x = t % 32;
  const int y = t / 32;
  float sum[4] = {};
  for (int i = 0; i < k; i += 16) {
    for (int r = 0; r < 2; ++r) {
      as[t / 16 + 16 * r][t % 16] = a[(blockIdx.y * 32 + t / 16 + 16 * r) * k + i + t % 16];
      bs[y + 8 * r][x] = b[(i + y + 8 * r) * n + blockIdx.x * 32 + x];
    }
    __syncthreads();
    for (int j = 0; j < 16; ++j) {
      const float right = __half2float(bs[j][x]);
      for (int r = 0; r < 4; ++r) {
        sum[r] += __half2float(as[y * 4 + r][j]) * right;
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) {
    c[(blockIdx.y * 32 + y * 4 + r) * n + blockIdx.x * 32 + x] = sum[r];
  }
}
