// DRAM: latency and its groups, streams, short segments, and when lines that were written leave the L2. Prints rows.
#include <unistd.h>

#include <random>

#include "measure.cuh"

using namespace measure;

namespace {

constexpr size_t kBytes = 16 * kGiB;

char* buffer;
uint32_t* sink;

__global__ void random_lines(const char* base, const uint32_t* lines, int n, uint16_t* cycles, double* ghz) {
  const uint64_t c0 = now64(), t0 = nanoseconds();
  for (int i = 0; i < n; i++) cycles[i] = uint16_t(min(timed_load(base + size_t(lines[i]) * 4096), 65535u));
  *ghz = double(now64() - c0) / double(nanoseconds() - t0);
}

__global__ void __launch_bounds__(512) read_stream(const uint4* p, size_t n, uint32_t* out) {
  constexpr int kAhead = 8;
  const size_t all = size_t(gridDim.x) * blockDim.x;
  uint32_t s = 0;
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  for (; i + (kAhead - 1) * all < n; i += kAhead * all) {
    uint4 v[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; j++) v[j] = __ldcg(p + i + j * all);
#pragma unroll
    for (int j = 0; j < kAhead; j++) s ^= v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
  }
  for (; i < n; i += all) s ^= __ldcg(p + i).x;
  if (s == 0x12345) *out = s;
}

// All passes are one stream, so that no thread waits at the end of a pass. A stride is shorter than two sets.
__global__ void __launch_bounds__(512) write_stream(uint4* p, size_t n, int passes) {
  const size_t all = size_t(gridDim.x) * blockDim.x, first = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  size_t at = first < n ? first : first - n;
#pragma unroll 4
  for (size_t i = first; i < n * passes; i += all) {
    __stcg(p + at, make_uint4(passes, passes, passes, passes));
    at += all;
    if (at >= n) at -= n;
  }
}

__global__ void __launch_bounds__(512) copy_stream(const uint4* from, uint4* to, size_t n) {
  constexpr int kAhead = 8;
  const size_t all = size_t(gridDim.x) * blockDim.x;
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  for (; i + (kAhead - 1) * all < n; i += kAhead * all) {
    uint4 v[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; j++) v[j] = __ldcs(from + i + j * all);
#pragma unroll
    for (int j = 0; j < kAhead; j++) __stcs(to + i + j * all, v[j]);
  }
  for (; i < n; i += all) __stcs(to + i, __ldcs(from + i));
}

// Segments of kSegment bytes, 4 KiB apart.
template <int kSegment, bool kWrite>
__global__ void __launch_bounds__(512) segments(char* p, size_t n, uint32_t* out) {
  constexpr int kLanes = kSegment / 16, kAhead = 4;
  const size_t all = size_t(gridDim.x) * blockDim.x / kLanes;
  const auto place = [p](size_t segment) {
    return reinterpret_cast<uint4*>(p + segment * 4096 + threadIdx.x % kLanes * 16);
  };
  uint32_t s = 0;
  size_t i = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) / kLanes;
  if constexpr (kWrite) {
    for (; i < n; i += all) __stcg(place(i), make_uint4(1, 2, 3, 4));
  } else {
    for (; i + (kAhead - 1) * all < n; i += kAhead * all) {
      uint4 v[kAhead];
#pragma unroll
      for (int j = 0; j < kAhead; j++) v[j] = __ldcg(place(i + j * all));
#pragma unroll
      for (int j = 0; j < kAhead; j++) s ^= v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
    }
    for (; i < n; i += all) s ^= __ldcg(place(i)).x;
  }
  if (s == 0x12345) *out = s;
}

void latency() {
  constexpr int kLoads = 8192;
  std::mt19937_64 random(3);
  uint16_t* device = device_array<uint16_t>(kLoads);
  double* ghz = device_array<double>(1);
  std::vector<double> cycles_mean, mean, fast, slow;
  for (int repeat = 0; repeat < kRepeats; repeat++) {
    std::vector<uint32_t> lines(kLoads);
    for (uint32_t& line : lines) line = uint32_t(random() % (kBytes / 2 / 4096));
    uint32_t* list = to_device(lines);
    flush_l2();
    random_lines<<<1, 1>>>(buffer, list, kLoads, device, ghz);
    CHECK(cudaDeviceSynchronize());
    const double clock = to_host(ghz, 1)[0];
    std::vector<double> ns;
    double sum = 0, count = 0;
    for (const uint16_t c : to_host(device, kLoads)) {
      if (c >= 480) {  // a few lines are there already
        sum += c - 4;
        count += 1;
        ns.push_back(std::min(c - 4.0, 1000.0) / clock);  // a refresh does not move the groups
      }
    }
    const Groups g = two_groups(ns);
    cycles_mean.push_back(sum / count);
    mean.push_back(sum / count / clock);
    fast.push_back(g.lower);
    slow.push_back(g.upper);
    CHECK(cudaFree(list));
  }
  row("dram_latency", "random lines of 8 GiB; mean in cycles", cycles_mean, "cycles");
  row("dram_latency", "random lines of 8 GiB; mean in ns", mean, "ns");
  row("dram_latency_group", "fast", fast, "ns");
  row("dram_latency_group", "slow", slow, "ns");
}

// Rates of `bytes` over the time of `work`.
template <class Work>
std::vector<double> rates(double bytes, Work work) {
  std::vector<double> values;
  for (int i = -1; i < kRepeats; i++) {
    const double s = seconds(work);
    if (i >= 0) values.push_back(bytes / s);
  }
  return values;
}

void streams() {
  const size_t bytes = 8 * kGiB, n = bytes / 16;
  auto* p = reinterpret_cast<uint4*>(buffer);
  for (int grid : {264, 528, 2112}) {
    row("dram_read", text("8 GiB; %d CTAs of 512", grid), rates(bytes, [&] { read_stream<<<grid, 512>>>(p, n, sink); }),
        "B/s");
    row("dram_write", text("8 GiB; %d CTAs of 512", grid), rates(bytes, [&] { write_stream<<<grid, 512>>>(p, n, 1); }),
        "B/s");
    row("dram_copy", text("8 GiB read and written; %d CTAs of 512", grid),
        rates(2.0 * bytes, [&] { copy_stream<<<grid, 512>>>(p, p + n, n); }), "B/s");
  }
}

template <int kSegment>
void short_segments() {
  const size_t n = kBytes / 4096;
  row("dram_read_segments", text("%d B of 4 KiB; useful", kSegment),
      rates(double(n) * kSegment, [&] { segments<kSegment, false><<<528, 512>>>(buffer, n, sink); }), "B/s");
  row("dram_write_segments", text("%d B of 4 KiB; useful", kSegment),
      rates(double(n) * kSegment, [&] { segments<kSegment, true><<<528, 512>>>(buffer, n, sink); }), "B/s");
}

// A set is written over and over: at the rate of the L2 as long as it stays there, else at that of DRAM. And what a
// stream of reads takes longer because lines that were written have to leave, each against a clean one just before.
void write_back() {
  auto* p = reinterpret_cast<uint4*>(buffer);
  auto* other = p + kGiB / 16;
  const size_t read = 512 * kMiB;
  auto read_other = [&] { read_stream<<<528, 512>>>(other, read / 16, sink); };
  const auto after = [&](int pause_ms, auto before) {
    flush_l2();
    before();
    CHECK(cudaDeviceSynchronize());
    usleep(unsigned(pause_ms) * 1000);
    return seconds(read_other) * 1e9;
  };
  const auto nothing = [] {};
  std::vector<double> clean;
  for (int i = -1; i < kRepeats; i++) {
    const double ns = after(0, nothing);
    if (i >= 0) clean.push_back(ns);
  }
  row("dram_after_clean", "512 MiB read after reads", clean, "ns", kTickNs);
  for (int mib : {4, 8, 16, 24, 28, 32, 36, 40, 44, 48, 56, 64, 96, 128}) {
    const size_t n = mib * kMiB / 16;
    const int passes = std::max(2, 2048 / mib);
    row("l2_rewrite", text("%d MiB written over and over", mib),
        rates(double(passes) * mib * kMiB, [&] { write_stream<<<528, 512>>>(p, n, passes); }), "B/s");
    for (int pause_ms : {0, 10}) {
      std::vector<double> extra;
      for (int i = 0; i < 3; i++) {
        const double without = after(pause_ms, nothing);
        extra.push_back(after(pause_ms, [&] { write_stream<<<528, 512>>>(p, n, 1); }) - without);
      }
      row("dram_after_dirty", text("%d MiB written; %d ms later 512 MiB read; beyond clean", mib, pause_ms), extra,
          "ns", 2 * kTickNs);
    }
  }
}

}  // namespace

int main() {
  heading();
  buffer = device_array<char>(kBytes);
  sink = device_array<uint32_t>(1);
  latency();
  streams();
  short_segments<16>();
  short_segments<32>();
  short_segments<64>();
  short_segments<128>();
  short_segments<256>();
  short_segments<512>();
  write_back();
}
