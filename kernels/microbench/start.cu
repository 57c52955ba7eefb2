// Kernels to be run under Nsight Compute. Some are active for a time known from their own clock: what it adds is the
// cost of starting and ending a kernel. Some write a set: what of it reaches DRAM, and when. `counted.awk` turns what
// it prints into rows: names, grids and blocks tell there which kernel is which.
#include <cstdint>

#include "check.cuh"

__device__ uint32_t now() {
  uint32_t t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

__global__ void empty() {}

// Every thread spins for kCycles from its own first instruction.
template <uint32_t kCycles>
__global__ void spin() {
  const uint32_t start = now();
  while (now() - start < kCycles) {
  }
}

// The same, but thread 0 of every CTA then stores its start and end. kShared: kilobytes that the launch asks for.
template <uint32_t kCycles, int kShared>
__global__ void spin_store(uint2* out, int n) {
  const uint32_t start = now();
  while (now() - start < kCycles) {
  }
  if (threadIdx.x == 0 && blockIdx.x < n) out[blockIdx.x] = make_uint2(start, now());
}

// Writes a set once, a mebibyte per 128 CTAs.
__global__ void fill(uint4* p, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
    __stcg(p + i, make_uint4(1, 2, 3, 4));
}

template <bool kAfterFill>
__global__ void read_other(const uint4* p, size_t n, uint32_t* out) {
  uint32_t s = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    const uint4 v = __ldcg(p + i);
    s ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (s == 0x12345) *out = s;
}

int main() {
  constexpr size_t kMiB = size_t{1} << 20, kOther = 512 * kMiB;
  uint2* out;
  uint4* memory;
  CHECK(cudaMalloc(&out, 1024 * sizeof(uint2)));
  CHECK(cudaMalloc(&memory, 1024 * kMiB));
  CHECK(cudaMemset(memory, 0, 1024 * kMiB));
  const uint4* other = memory + 512 * kMiB / sizeof(uint4);
  uint32_t* sink = reinterpret_cast<uint32_t*>(out);
  constexpr int kRepeats = 2;  // of which the first one finds its code in no cache
  for (int repeat = 0; repeat < kRepeats; repeat++) {
    for (int ctas : {1, 132, 264, 10000}) {
      for (int threads : {32, 256, 1024}) empty<<<ctas, threads>>>();
      if (ctas == 10000) continue;
      spin<1000><<<ctas, 256>>>();
      spin<2000><<<ctas, 256>>>();
      spin<5000><<<ctas, 256>>>();
      spin<20000><<<ctas, 256>>>();
      spin_store<5000, 0><<<ctas, 256>>>(out, 1024);
      spin_store<5000, 48><<<ctas, 256, 48 * 1024>>>(out, 1024);
    }
  }
  for (int repeat = 0; repeat < kRepeats; repeat++) {
    for (int mib : {8, 16, 24, 32, 40, 48, 64, 96}) {
      read_other<false><<<528, 512>>>(other, kOther / sizeof(uint4), sink);
      fill<<<unsigned(mib) * 128, 512>>>(memory, mib * kMiB / sizeof(uint4));
      read_other<true><<<528, 512>>>(other, kOther / sizeof(uint4), sink);
    }
  }
  CHECK(cudaDeviceSynchronize());
}
