// Kernels whose active time is known from their own clock, to be run under Nsight Compute: what it adds is the cost of
// starting and ending a kernel. Prints, per launch, the cycles that the CTAs measured themselves.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

__device__ uint32_t now() {
  uint32_t t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

__global__ void empty() {}

// Every thread spins for `cycles` from its own first instruction.
__global__ void spin(uint32_t cycles) {
  const uint32_t start = now();
  while (now() - start < cycles) {
  }
}

// The same, but thread 0 of every CTA then stores its start and end.
__global__ void spin_store(uint32_t cycles, uint2* out, int n) {
  const uint32_t start = now();
  while (now() - start < cycles) {
  }
  if (threadIdx.x == 0 && blockIdx.x < n) out[blockIdx.x] = make_uint2(start, now());
}

int main() {
  uint2* out;
  cudaMalloc(&out, 1024 * sizeof(uint2));
  for (int repeat = 0; repeat < 3; repeat++) {
    for (int ctas : {1, 132, 264}) {
      for (int threads : {32, 256, 1024}) empty<<<ctas, threads>>>();
      for (uint32_t cycles : {1000, 2000, 5000, 20000}) spin<<<ctas, 256>>>(cycles);
      spin_store<<<ctas, 256>>>(5000, out, 1024);
      spin_store<<<ctas, 256, 48 * 1024>>>(5000, out, 1024);
    }
  }
  const cudaError_t status = cudaDeviceSynchronize();
  std::vector<uint2> host(264);
  cudaMemcpy(host.data(), out, host.size() * sizeof(uint2), cudaMemcpyDeviceToHost);
  uint32_t longest = 0;
  for (const uint2& v : host) longest = std::max(longest, v.y - v.x);
  printf("longest spin of the last launch: %u cycles; %s\n", longest, cudaGetErrorString(status));
}
