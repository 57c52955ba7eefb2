// What the calibration programs share: clocks of the device, grids that sit on every SM, rows.
// A row is `name,param,value,unit,spread`: the median of the repeats, and smallest..largest of them, widened by what
// they are measured in.
#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "check.cuh"

namespace measure {

constexpr int kRepeats = 5;
constexpr int kOneCtaPerSm = 200 * 1024;  // bytes of dynamic shared memory that keep a second CTA away
constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kGiB = size_t{1} << 30;
constexpr int kLine = 128;

__device__ inline uint32_t now() {
  uint32_t t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

__device__ inline uint64_t now64() {
  uint64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

// Goes on when v is there: a clock behind a load does not wait for its data.
__device__ inline void wait_for(uint32_t v) {
  if (v == 0x12345) asm volatile("nanosleep.u32 0;" ::: "memory");
}

__device__ inline uint64_t nanoseconds() {
  uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}

__device__ inline uint32_t sm_id() {
  uint32_t id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

// __syncthreads for a clock behind it: BAR.SYNC does not hold up the clock, but a load from shared memory.
__device__ inline void cta_meet() {
  __shared__ volatile uint32_t anything;
  __syncthreads();
  wait_for(anything);
}

// Returns in all CTAs of a grid at once; `arrived` is zero before. All of them must fit on the GPU.
__device__ inline void grid_meet(unsigned* arrived) {
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (*reinterpret_cast<volatile unsigned*>(arrived) < gridDim.x) {
    }
  }
  __syncthreads();
}

__device__ inline uint4 load_l2(const char* p) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p)
               : "memory");
  return v;
}

__device__ inline uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

// cp.async of 16 bytes that leaves the L1 out, and groups of them.
__device__ inline void copy_past_l1(uint32_t to, const char* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kUnderWay>
__device__ inline void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kUnderWay) : "memory");
}

// Cycles from before a load past the L1 until its data is used, about four more than the load itself takes.
__device__ inline uint32_t timed_load(const char* p) {
  __shared__ volatile uint32_t sink;
  uint32_t v;
  const uint32_t start = now();
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  sink = v;
  return now() - start;
}

// A load of the L2 takes up to 320 cycles, with a copy from the other partition up to 500; DRAM at least 480, 690 in
// the mean.
constexpr uint32_t kLocal = 380, kHit = 510;

__global__ void read_once(const uint4* p, size_t n, uint32_t* out) {
  uint32_t s = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    const uint4 v = __ldcg(p + i);
    s ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (s == 0x12345) *out = s;
}

inline int sm_count() {
  static const int count = [] {
    int n = 0;
    CHECK(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
    return n;
  }();
  return count;
}

template <class T>
T* device_array(size_t n) {
  T* p = nullptr;
  CHECK(cudaMalloc(&p, n * sizeof(T)));
  CHECK(cudaMemset(p, 0, n * sizeof(T)));
  return p;
}

template <class T>
std::vector<T> to_host(const T* device, size_t n) {
  std::vector<T> host(n);
  CHECK(cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

template <class T>
T* to_device(const std::vector<T>& host) {
  T* p = device_array<T>(host.size());
  CHECK(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

// A counter that is zero.
inline unsigned* fresh_counter() {
  static unsigned* counter = device_array<unsigned>(1);
  CHECK(cudaMemset(counter, 0, sizeof(unsigned)));
  return counter;
}

// Puts other lines into the L2: reads 256 MiB that nothing else uses.
inline void flush_l2() {
  static const size_t bytes = 256 * kMiB;
  static uint4* other = device_array<uint4>(bytes / 16);
  static uint32_t* out = device_array<uint32_t>(1);
  read_once<<<264, 1024>>>(other, bytes / 16, out);
  CHECK(cudaDeviceSynchronize());
}

// Seconds that `work` takes on the device, by events.
template <class Work>
double seconds(Work work) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (begin == nullptr) {
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  CHECK(cudaEventRecord(begin));
  work();
  CHECK(cudaEventRecord(end));
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaGetLastError());
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  return ms / 1e3;
}

__attribute__((format(printf, 1, 2))) inline std::string text(const char* format, ...) {
  char buffer[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

inline void heading() { printf("name,param,value,unit,spread\n"); }

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The resolution of %globaltimer and of events.
constexpr double kTickNs = 32;

// Cycles around the clock that S2UR takes to read it, which is what the compiler makes of now(); CS2R takes fewer.
constexpr double kClockRead = 36;

// `step`: what the repeats are measured in, which widens the spread: a tick of the timer, a read of the
// clock, the distance of sizes tried.
inline void row(const char* name, const std::string& param, const std::vector<double>& repeats, const char* unit,
                double step = 0) {
  if (repeats.empty()) return;
  const auto [least, most] = std::minmax_element(repeats.begin(), repeats.end());
  printf("%s,%s,%.9g,%s,%.9g..%.9g\n", name, param.c_str(), median(repeats), unit, *least - step, *most + step);
  fflush(stdout);
}

// The means of the lower and the upper of two groups of values, parted where both are nearest to their own mean. The
// largest twentieth is left out: refreshes and the like belong to neither.
struct Groups {
  double lower, upper;
};
inline Groups two_groups(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.resize(std::max<size_t>(2, values.size() * 19 / 20));
  Groups g{values[values.size() / 10], values[values.size() * 9 / 10]};
  for (int step = 0; step < 50; ++step) {
    double sum[2] = {0, 0};
    int n[2] = {0, 0};
    for (const double v : values) {
      const int upper = v - g.lower > g.upper - v;
      sum[upper] += v;
      n[upper]++;
    }
    if (n[0] == 0 || n[1] == 0) break;
    g = {sum[0] / n[0], sum[1] / n[1]};
  }
  return g;
}

}  // namespace measure
