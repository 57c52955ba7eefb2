// CTAs and launches: from the exit of a CTA to its successor, the second CTA of an SM, CTAs per time, empty kernels;
// and the clock under load. Prints rows.
#include "measure.cuh"

using namespace measure;

namespace {

struct __align__(16) Life {
  uint32_t start, end;  // SM clock
  uint32_t sm, unused;
};

// Warp 0 is the last one; between its last clock and its exit is one store.
__global__ void spin(uint32_t cycles, Life* lives) {
  const uint32_t start = now();
  if (threadIdx.x >= 32) return;
  const uint32_t sm = sm_id();
  Life* mine = lives + blockIdx.x;
  asm volatile("" : "+l"(mine));  // not left for the end
  while (now() - start < cycles) {
  }
  const uint32_t end = now();
  if (threadIdx.x == 0) *mine = {start, end, sm, 0};
}

// Nothing is stored at the end, which the caller knows within a trip of the loop: a CTA that stored is over when the L2
// has answered.
__global__ void spin_quietly(uint32_t cycles, Life* lives) {
  const uint32_t start = now();
  if (threadIdx.x >= 32) return;
  if (threadIdx.x == 0) lives[blockIdx.x] = {start, start + cycles, sm_id(), 0};
  while (now() - start < cycles) {
  }
}

// As measured before: all warps are over; the address of the CTA's 40 bytes and five stores lie behind the last clock.
struct Told {
  uint32_t sm, unused;
  uint64_t start_ns, start, end, end_ns;
};

__global__ void spin_and_tell(uint32_t cycles, Told* lives) {
  const uint64_t start = now64(), start_ns = nanoseconds();
  while (now64() - start < cycles) {
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  Told told;
  told.sm = sm_id();
  told.unused = 0;
  told.start_ns = start_ns;
  told.start = start;
  told.end_ns = nanoseconds();
  told.end = now64();
  lives[blockIdx.x] = told;
}

// Ends at once, but not before a look at its arguments.
__global__ void empty(uint32_t* out) {
  if (out != nullptr && threadIdx.x == 2000) *out = 1;
}

// Chains of FFMA on all lanes; every CTA reports cycles and nanoseconds.
__global__ void ffma_load(uint64_t cycles, float factor, uint2* out) {
  const uint64_t start = now64(), t0 = nanoseconds();
  float s[8];
  for (int j = 0; j < 8; j++) s[j] = float(threadIdx.x + j);
  while (now64() - start < cycles) {
#pragma unroll
    for (int i = 0; i < 128; i++) s[i % 8] = s[i % 8] * factor + factor;
  }
  float sum = 0;
  for (int j = 0; j < 8; j++) sum += s[j];
  if (threadIdx.x == 0) out[blockIdx.x] = make_uint2(uint32_t((now64() - start) >> 4), uint32_t(nanoseconds() - t0));
  if (sum == 1.2345f) out[0].x = 0;
}

__device__ float random_float(uint32_t& seed) {
  seed = seed * 1664525u + 1013904223u;
  return float(int(seed)) / 2147483648.0f;
}

// Products of random bf16 matrices by mma.sync.
__global__ void mma_load(uint64_t cycles, uint2* out) {
  uint32_t seed = blockIdx.x * 1024 + threadIdx.x, a[4], b[2];
  const auto pair = [&seed] {
    uint32_t v;
    const float x = random_float(seed), y = random_float(seed);
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(x), "f"(y));
    return v;
  };
  for (uint32_t& v : a) v = pair();
  for (uint32_t& v : b) v = pair();
  float c[8][4] = {};
  const uint64_t start = now64(), t0 = nanoseconds();
  while (now64() - start < cycles) {
#pragma unroll
    for (int i = 0; i < 64; i++) {
      float* d = c[i % 8];
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
  }
  float sum = 0;
  for (const auto& d : c) sum += d[0] + d[1] + d[2] + d[3];
  if (threadIdx.x == 0) out[blockIdx.x] = make_uint2(uint32_t((now64() - start) >> 4), uint32_t(nanoseconds() - t0));
  if (sum == 1.2345f) out[0].x = 0;
}

struct Placement {
  std::vector<double> turnaround, second;
};

// `resident` CTAs fit on an SM: the k-th that starts there takes the place of the (k - resident)-th that ended.
Placement placement(const std::vector<Life>& lives, size_t resident) {
  // Clocks as distances from the first on their SM: the counter may have begun anew.
  std::vector<std::vector<int32_t>> starts(sm_count()), ends(sm_count());
  std::vector<uint32_t> origin(sm_count());
  for (const Life& life : lives) {
    if (starts[life.sm].empty()) origin[life.sm] = life.start;
    starts[life.sm].push_back(int32_t(life.start - origin[life.sm]));
    ends[life.sm].push_back(int32_t(life.end - origin[life.sm]));
  }
  Placement p;
  for (int sm = 0; sm < sm_count(); sm++) {
    std::sort(starts[sm].begin(), starts[sm].end());
    std::sort(ends[sm].begin(), ends[sm].end());
    for (size_t k = resident; k < starts[sm].size(); k++)
      if (starts[sm][k] > ends[sm][k - resident])
        p.turnaround.push_back(double(starts[sm][k] - ends[sm][k - resident]));
    // A second CTA of another placement pass starts much later.
    constexpr int32_t kSamePass = 200;
    if (resident > 1 && starts[sm].size() > 1 && starts[sm][1] - starts[sm][0] < kSamePass)
      p.second.push_back(double(starts[sm][1] - starts[sm][0]));
  }
  return p;
}

void turnaround() {
  constexpr int kCtas = 1024;
  constexpr uint32_t kSpin = 20000;
  constexpr double kTrip = 40;  // cycles of the loop, about
  Life* device = device_array<Life>(kCtas);
  Told* telling = device_array<Told>(kCtas);
  for (const void* kernel : {reinterpret_cast<const void*>(spin), reinterpret_cast<const void*>(spin_quietly),
                             reinterpret_cast<const void*>(spin_and_tell)})
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kOneCtaPerSm));
  for (int resident : {1, 2, 4}) {
    for (int threads : {128, 256}) {
      const int shared = kOneCtaPerSm / resident;
      std::vector<double> medians, quiet, told, second;
      const auto add_median = [](const std::vector<double>& values, std::vector<double>& to) {
        if (!values.empty()) to.push_back(median(values));
      };
      for (int i = -1; i < kRepeats; i++) {
        spin<<<kCtas, threads, shared>>>(kSpin, device);
        CHECK(cudaDeviceSynchronize());
        auto lives = to_host(device, kCtas);
        std::vector<double> beyond;  // the loop ends somewhat later than it may
        for (const Life& life : lives) beyond.push_back(double(life.end - life.start - kSpin));
        const Placement p = placement(lives, size_t(resident));
        spin_quietly<<<kCtas, threads, shared>>>(kSpin, device);
        CHECK(cudaDeviceSynchronize());
        lives = to_host(device, kCtas);
        for (Life& life : lives) life.end += uint32_t(median(beyond));
        const Placement silent = placement(lives, size_t(resident));
        spin_and_tell<<<kCtas, threads, shared>>>(kSpin, telling);
        CHECK(cudaDeviceSynchronize());
        lives.clear();
        for (const Told& t : to_host(telling, kCtas)) lives.push_back({uint32_t(t.start), uint32_t(t.end), t.sm, 0});
        const Placement before = placement(lives, size_t(resident));
        if (i < 0) continue;
        add_median(p.turnaround, medians);
        add_median(silent.turnaround, quiet);
        add_median(before.turnaround, told);
        add_median(p.second, second);
      }
      const std::string ctas = text("%d per SM of %d threads; ", resident, threads);
      row("cta_turnaround", ctas + "median", medians, "cycles");
      row("cta_turnaround", ctas + "nothing stored; median", quiet, "cycles", kTrip);
      row("cta_turnaround", ctas + "40 bytes stored behind the last clock; median", told, "cycles");
      row("cta_second", ctas + "same placement pass; median", second, "cycles");
    }
  }
}

void rates() {
  for (int threads : {32, 256, 1024}) {
    std::vector<double> each, start;
    for (int i = -1; i < 2 * kRepeats; i++) {
      const double few = seconds([&] { empty<<<13200, threads>>>(nullptr); });
      const double many = seconds([&] { empty<<<132000, threads>>>(nullptr); });
      const double one = seconds([&] { empty<<<1, threads>>>(nullptr); });
      if (i < 0) continue;
      each.push_back((many - few) * 1e9 / 118800);
      start.push_back(one * 1e9);
    }
    row("cta_interval", text("empty; %d threads", threads), each, "ns", 2 * kTickNs / 118800);
    row("launch_event", text("one empty CTA of %d threads between events", threads), start, "ns", kTickNs);
  }
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  constexpr int kKernels = 200;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kKernels; i++) empty<<<1, 32, 0, stream>>>(nullptr);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<double> each;
  for (int i = -1; i < kRepeats; i++) {
    CHECK(cudaEventRecord(begin, stream));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 0) each.push_back(ms * 1e6 / kKernels);
  }
  row("launch_graph", text("each of %d empty kernels of a graph", kKernels), each, "ns", kTickNs / kKernels);
}

template <class Kernel>
void clock_under(const char* what, Kernel kernel) {
  uint2* out = device_array<uint2>(size_t(sm_count()) * 2);
  std::vector<double> mhz;
  for (int i = -1; i < 3; i++) {
    kernel(uint64_t{200'000'000}, out);  // a tenth of a second
    CHECK(cudaDeviceSynchronize());
    std::vector<double> each;
    for (const uint2& v : to_host(out, size_t(sm_count()))) each.push_back(16e3 * v.x / v.y);
    if (i >= 0) mhz.push_back(median(each));
  }
  row("sm_clock", what, mhz, "MHz");
}

void clocks() {
  int khz = 0;
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  row("sm_clock_max", "as the driver says", {khz / 1e3}, "MHz");
  row("sm_count", "as the driver says", {double(sm_count())}, "SM");
  clock_under("FFMA on all lanes; 0.1 s",
              [](uint64_t cycles, uint2* out) { ffma_load<<<sm_count(), 1024>>>(cycles, 0.999f, out); });
  clock_under("mma.sync bf16; random operands; 0.1 s",
              [](uint64_t cycles, uint2* out) { mma_load<<<sm_count(), 512>>>(cycles, out); });
}

}  // namespace

int main() {
  heading();
  turnaround();
  rates();
  clocks();
}
