// What the tables of cp.async share: spans of warps, and the warps that load beside those that copy.
#pragma once

#include <cstdint>

#include "check.cuh"

constexpr int kLoaded = 16384;  // bytes that the loading warps read, in front of what is copied
constexpr int kLoadTrips = 128;

struct Span {
  long long begin, end;
};

// Eight LDSM.x4 a trip, of 4096 bytes; returns what keeps the compiler from leaving them out.
__device__ inline unsigned load_matrices(unsigned shared, int lane, int trips) {
  unsigned sum = 0;
  unsigned from = lane * 16;
  for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      unsigned a, b, c, d;
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                   : "r"(shared + from + i * 512)
                   : "memory");
      sum += a ^ b ^ c ^ d;
    }
    from = (from + 4096) & (kLoaded - 1);
  }
  return sum;
}
