// A small program to profile: fills two matrices and multiplies them twice, at two sizes.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kTile = 32;

__global__ void fill(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    values[i] = static_cast<float>(i % 7);
  }
}

template <int kBlock>
__global__ void gemm(int n, const float* a, const float* b, float* c) {
  __shared__ float tile_a[kBlock][kBlock];
  __shared__ float tile_b[kBlock][kBlock];
  const int row = blockIdx.y * kBlock + threadIdx.y;
  const int column = blockIdx.x * kBlock + threadIdx.x;
  float sum = 0.0F;
  for (int k = 0; k < n; k += kBlock) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < kBlock; ++i) {
      sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    }
    __syncthreads();
  }
  c[row * n + column] = sum;
}

int main() {
  constexpr int kLargest = 2048;
  constexpr int kCount = kLargest * kLargest;
  float* matrices[3] = {};
  for (float*& matrix : matrices) {
    if (cudaMalloc(&matrix, sizeof(float) * kCount) != cudaSuccess) {
      std::fprintf(stderr, "gemm: no GPU, or no memory on it\n");
      return 4;
    }
    fill<<<kCount / 256, 256>>>(matrix, kCount);
  }
  for (const int n : {1024, kLargest}) {
    std::printf("n, %d, \"quoted, with comma\"\n", n);
    gemm<kTile><<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(n, matrices[0], matrices[1], matrices[2]);
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
