// Loaded memory latency of a GEMM-shaped stream of loads, and what a DRAM miss brings into L2. Prints CSV rows.
#include <map>

#include "measure.cuh"

using namespace measure;

namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32, kTile = 128, kStep = 8, kSteps = 128;
constexpr size_t kBufferBytes = 8 * kGiB;

__device__ float4 load(const float* p) {
  float4 v;
  asm volatile("ld.global.nc.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p)
               : "memory");
  return v;
}

__device__ void store_shared(uint32_t at, float4 v) {
  asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" ::"r"(at), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}

struct Sample {
  uint32_t start;
  uint16_t a, b;  // cycles from the issue of the two loads to the data of A and of B
};

// One CTA per 128x128 tile of C; every step loads 128x8 of A and 8x128 of B, stores them to shared memory, meets, and
// then computes for `compute` cycles. Samples: [CTA][step][warp].
__global__ void __launch_bounds__(kThreads, 2)
    gemm_loads(const float* A, const float* B, int N, int K, int compute, Sample* out) {
  __shared__ __align__(16) float4 tile[2 * kThreads];
  __shared__ Sample samples[kSteps * kWarps];
  const int t = threadIdx.x, warp = t / 32;
  const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(tile)) + t * 16;
  const float* a = A + size_t(blockIdx.y * kTile + t / 2) * K + t % 2 * 4;
  const float* b = B + size_t(t / 32) * N + blockIdx.x * kTile + t % 32 * 4;
  for (int step = 0; step < kSteps; step++) {
    const uint32_t start = now();
    const float4 va = load(a), vb = load(b);
    store_shared(at, va);
    const uint32_t got_a = now();
    store_shared(at + kThreads * 16, vb);
    const uint32_t got_b = now();
    __syncthreads();
    float seen;  // a load from shared memory: later clock reads cannot slip past the barrier
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(seen) : "r"(at ^ 16) : "memory");
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(seen) : "memory");
    const uint32_t met = now();
    if (t % 32 == 0)
      samples[step * kWarps + warp] = {start, uint16_t(min(got_a - start, 65535u)),
                                       uint16_t(min(got_b - start, 65535u))};
    while (now() - met < uint32_t(compute)) {
    }
    __syncthreads();
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(seen) : "r"(at ^ 16) : "memory");
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(seen) : "memory");
    a += kStep;
    b += size_t(kStep) * N;
  }
  __syncthreads();
  const size_t cta = blockIdx.y * gridDim.x + blockIdx.x;
  for (int i = t; i < kSteps * kWarps; i += kThreads) out[cta * kSteps * kWarps + i] = samples[i];
}

// Reads one 32-byte sector, waits, then reads at `delta` from it; one pair per place, places 16 KB apart.
template <bool kThroughL1>
__global__ void neighbour(const char* base, int places, int sector, int delta, uint32_t* first, uint32_t* second) {
  __shared__ volatile uint32_t sink;
  for (int i = 0; i < places; i++) {
    const char* p = base + size_t(i) * 16384 + 4096 + sector * 32;
    for (int k = 0; k < 2; k++) {
      const char* q = k == 0 ? p : p + delta;
      const uint32_t start = now();
      uint32_t v;
      if (kThroughL1) {
        asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(q) : "memory");
      } else {
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(q) : "memory");
      }
      sink = v;
      const uint32_t end = now();
      (k == 0 ? first : second)[i] = end - start;
      const uint32_t pause = now();
      while (now() - pause < 4000) {
      }
    }
  }
}

char* buffer;
uint32_t* scratch;

void flush() {
  read_once<<<264, 1024>>>(reinterpret_cast<const uint4*>(buffer + 4 * kGiB), 512 * kMiB / 16, scratch);
  CHECK(cudaDeviceSynchronize());
}

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / double(v.size());
}

// A row is the median of the means of several launches.
using Means = std::map<std::pair<std::string, std::string>, std::vector<double>>;

void print_rows(const Means& means) {
  for (const auto& [row_of, values] : means) row(row_of.first.c_str(), row_of.second + " mean", values, "cycles");
}

// A grid of columns x rows tiles of a product with `width` columns of tiles.
void loaded(int columns, int rows, int width, int compute) {
  const int N = width * kTile, K = kSteps * kStep, ctas = columns * rows;
  const float* A = reinterpret_cast<const float*>(buffer);
  const float* B = reinterpret_cast<const float*>(buffer + (size_t{256} << 20));
  Sample* samples;
  const size_t count = size_t(ctas) * kSteps * kWarps;
  CHECK(cudaMalloc(&samples, count * sizeof(Sample)));
  std::vector<Sample> host(count);
  Means means;
  for (int run = 0; run < 2 + 2 * kRepeats; run++) {
    const bool cold = run % 2 == 0;
    if (cold) flush();
    gemm_loads<<<dim3(columns, rows), kThreads>>>(A, B, N, K, compute, samples);
    CHECK(cudaDeviceSynchronize());
    if (run < 2) continue;
    CHECK(cudaMemcpy(host.data(), samples, count * sizeof(Sample), cudaMemcpyDeviceToHost));
    const std::string param =
        std::to_string(ctas) + " CTAs compute " + std::to_string(compute) + (cold ? " cold" : " warm");
    std::vector<double> a, b, step, first_a, first_b, by_phase[4], latest;
    for (int cta = 0; cta < ctas; cta++) {
      const Sample* s = &host[size_t(cta) * kSteps * kWarps];
      for (int k = 0; k < kSteps; k++) {
        double worst = 0;
        for (int w = 0; w < kWarps; w++) {
          const Sample& x = s[k * kWarps + w];
          (k == 0 ? first_a : a).push_back(x.a);
          (k == 0 ? first_b : b).push_back(x.b);
          if (k > 3) by_phase[k % 4].push_back(x.a);
          worst = std::max(worst, double(std::max(x.a, x.b)));
        }
        if (k > 0) latest.push_back(worst);
        if (k > 0) step.push_back(double(s[k * kWarps].start - s[(k - 1) * kWarps].start) - compute);
      }
    }
    const auto add = [&](const char* name, const std::string& of, const std::vector<double>& values) {
      means[{name, of}].push_back(mean(values));
    };
    add("loaded_first_A", param, first_a);
    add("loaded_first_B", param, first_b);
    add("loaded_A", param, a);
    add("loaded_B", param, b);
    add("loaded_last_warp", param, latest);
    add("loaded_step_minus_compute", param, step);
    for (int phase = 0; phase < 4; phase++)
      add("loaded_A_phase", param + " step%4=" + std::to_string(phase), by_phase[phase]);
  }
  print_rows(means);
  CHECK(cudaFree(samples));
}

template <bool kThroughL1>
void neighbours() {
  constexpr int kPlaces = 96;
  static size_t next = 0;
  uint32_t* times = device_array<uint32_t>(2 * kPlaces);
  Means means;
  std::vector<double> brought;  // bytes that a miss of the first sector of a line brings, by repeat
  for (int repeat = 0; repeat < kRepeats; repeat++) {
    flush();
    int filled = 32;
    for (int sector : {0, 1, 2, 3}) {
      for (int delta : {-96, -64, -32, 0, 32, 64, 96, 128, 160, 192, 256, 384, 512, 1024, 2048}) {
        if (sector != 0 && sector * 32 + delta < -32) continue;
        neighbour<kThroughL1><<<1, 1>>>(buffer + kGiB + next, kPlaces, sector, delta, times, times + kPlaces);
        CHECK(cudaDeviceSynchronize());
        next = (next + size_t(kPlaces) * 16384) % kGiB;
        const auto host = to_host(times, 2 * kPlaces);
        const std::string param = text("%s sector %d delta %d", kThroughL1 ? "ld.nc" : "ld.cg", sector, delta);
        const std::vector<double> first(host.begin(), host.begin() + kPlaces),
            second(host.begin() + kPlaces, host.end());
        if (delta == 0) means[{"neighbour_first", param}].push_back(mean(first));
        means[{"neighbour_second", param}].push_back(mean(second));
        if (sector == 0 && delta > 0 && delta < 128 && median(second) < 450) filled += 32;  // a miss takes at least 480
      }
    }
    brought.push_back(filled);
  }
  print_rows(means);
  row("dram_access_bytes", text("%s; of a line whose first sector was missed", kThroughL1 ? "ld.nc" : "ld.cg"), brought,
      "B");
  CHECK(cudaFree(times));
}

}  // namespace

int main() {
  heading();
  buffer = device_array<char>(kBufferBytes);
  scratch = device_array<uint32_t>(1);
  for (int compute : {0, 400, 800, 1600}) {
    loaded(1, 1, 8, compute);
    loaded(8, 8, 8, compute);
    loaded(12, 11, 12, compute);
    loaded(12, 22, 12, compute);
  }
  neighbours<false>();
  neighbours<true>();
}
