// One SM and its L1: latency and capacity by a chase of pointers, misses and stores per cycle. Prints rows.
#include <numeric>
#include <random>

#include "measure.cuh"

using namespace measure;

namespace {

constexpr int kWarps = 16, kWindow = 100000, kWarmUp = 5000;

// The low half of an address is what was loaded, so nothing but the load stands between two loads.
__device__ uint32_t next(uint32_t low, uint32_t high) {
  uint32_t v;
  asm volatile("{ .reg .b64 a; mov.b64 a, {%1, %2}; ld.global.ca.u32 %0, [a]; }"
               : "=r"(v)
               : "r"(low), "r"(high)
               : "memory");
  return v;
}

// Loads of a trip, and one more time as many: what the loop itself takes drops out of the difference.
constexpr int kTrip = 64, kTrips = 64;

template <int kLoads>
__device__ uint32_t trips(uint32_t& low, uint32_t high) {
  const uint32_t start = now();
#pragma unroll 1
  for (int i = 0; i < kTrips; i++) {
#pragma unroll
    for (int j = 0; j < kLoads; j++) low = next(low, high);
  }
  wait_for(low);
  return now() - start;
}

// Twice, so that the second finds its code in the instruction cache.
__global__ void chase(uint32_t low, uint32_t high, int warm, uint32_t* out) {
  for (int i = 0; i < warm; i++) low = next(low, high);
#pragma unroll 1
  for (int pass = 0; pass < 2; pass++) {
    const uint32_t few = trips<kTrip>(low, high), many = trips<2 * kTrip>(low, high);
    out[0] = many - few;
  }
  out[1] = low;
}

// Lines that no load of the CTA finds in the L1, one per lane. The first data come late: the start is left out.
__global__ void line_per_lane(const char* base, uint2* out) {
  const char* p = base + threadIdx.x / 32 * 262144 + threadIdx.x % 32 * kLine;
  uint32_t requests = 0, seen = 0;
  __syncthreads();
  const uint32_t begin = now();
  uint32_t start = begin, t = begin;
  for (int at = 0; t - begin < kWarmUp + kWindow; at = (at + 4) % 64) {
    uint32_t v[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[j]) : "l"(p + (at + j) * 4096) : "memory");
#pragma unroll
    for (int j = 0; j < 4; j++) seen ^= v[j];
    t = now();
    requests += 4;
    if (start == begin && t - begin >= kWarmUp) {
      start = t;
      requests = 0;
    }
  }
  if (seen == 0x12345) out[0].x = seen;
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = make_uint2(requests, t - start);
}

// Stores of whole sectors, 512 bytes per warp and request. Until the queue is full they go quicker: that is left out.
__global__ void whole_sectors(char* base, uint2* out) {
  char* p = base + threadIdx.x / 32 * 262144 + threadIdx.x % 32 * 16;
  uint32_t requests = 0;
  __syncthreads();
  const uint32_t begin = now();
  uint32_t start = begin, t = begin;
  for (int at = 0; t - begin < kWarmUp + kWindow; at = (at + 8) % 512) {
#pragma unroll
    for (int j = 0; j < 8; j++)
      asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p + (at + j) * 512), "r"(at) : "memory");
    t = now();
    requests += 8;
    if (start == begin && t - begin >= kWarmUp) {
      start = t;
      requests = 0;
    }
  }
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = make_uint2(requests, t - start);
}

// Requests per cycle of a CTA: of its warps, each over its own time.
double rate(const uint2* device) {
  double sum = 0;
  for (const uint2& v : to_host(device, kWarps)) sum += double(v.x) / v.y;
  return sum;
}

// A ring through all lines of `bytes` in random order; returns the low half of the address of its start.
uint32_t make_ring(char* base, size_t bytes) {
  const size_t n = bytes / kLine;
  std::vector<uint32_t> order(n), memory(bytes / 4);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  const uint32_t low = uint32_t(reinterpret_cast<uintptr_t>(base));
  for (size_t i = 0; i < n; i++) memory[order[i] * (kLine / 4)] = low + order[(i + 1) % n] * kLine;
  CHECK(cudaMemcpy(base, memory.data(), bytes, cudaMemcpyHostToDevice));
  return low + order[0] * kLine;
}

void chases(char* base) {
  const uint32_t high = uint32_t(reinterpret_cast<uintptr_t>(base) >> 32);
  uint32_t* out = device_array<uint32_t>(2);
  CHECK(cudaFuncSetAttribute(chase, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxL1));
  double shortest = 0, capacity = 0;
  for (int kb : {16, 64, 128, 160, 176, 192, 200, 208, 216, 224, 240, 256, 288}) {
    const uint32_t start = make_ring(base, size_t(kb) * 1024);
    const int lines = kb * 8;
    std::vector<double> cycles;
    for (int i = 0; i < kRepeats; i++) {
      chase<<<1, 1>>>(start, high, 2 * lines, out);
      CHECK(cudaDeviceSynchronize());
      cycles.push_back(to_host(out, 1)[0] / double(kTrip * kTrips));
    }
    row("l1_chase", text("32-bit; %d KiB", kb), cycles, "cycles", kClockRead / (kTrip * kTrips));
    if (shortest == 0) shortest = median(cycles);
    if (median(cycles) < 1.05 * shortest) capacity = kb * 1024.0;
  }
  row("l1_chase_capacity", "largest set of hits", {capacity}, "B");
}

}  // namespace

int main() {
  heading();
  // Both halves of 16 MiB cannot cross a multiple of 4 GiB.
  char* base = device_array<char>(16 * kMiB);
  if (reinterpret_cast<uintptr_t>(base) >> 32 != (reinterpret_cast<uintptr_t>(base) + 8 * kMiB - 1) >> 32)
    base += 8 * kMiB;
  chases(base);
  uint2* out = device_array<uint2>(kWarps);
  std::vector<double> lines, sectors;
  for (int i = -1; i < kRepeats; i++) {
    line_per_lane<<<1, kWarps * 32>>>(base, out);
    CHECK(cudaDeviceSynchronize());
    if (i >= 0) lines.push_back(32 * rate(out));
    whole_sectors<<<1, kWarps * 32>>>(base, out);
    CHECK(cudaDeviceSynchronize());
    if (i >= 0) sectors.push_back(1 / (16 * rate(out)));
  }
  row("l1_miss_lines", "32 lanes on 32 lines; 16 warps", lines, "lines/cycle");
  row("l1_store", "whole sectors; 16 per request; 16 warps", sectors, "cycles");
}
