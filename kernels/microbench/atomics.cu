// Atomic operations of the L2, and fences: latency of one warp, rates of one SM and of all, by what lanes share. Prints
// rows.
#include <tuple>

#include "measure.cuh"

using namespace measure;

namespace {

constexpr uint32_t kWindow = 100000;
constexpr int kTrips = 256;
constexpr size_t kPlaceWords = 2621440 + 7 * 32;  // from the memory of one repeat to that of the next

enum class Kind { kAddU32, kAddF32, kExchange, kCompare };

// With the result used by the next one.
template <Kind kKind>
__device__ uint32_t atom(uint32_t* p, uint32_t v) {
  uint32_t old;
  if constexpr (kKind == Kind::kAddU32) {
    asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  } else if constexpr (kKind == Kind::kAddF32) {
    asm volatile("{ .reg .f32 a; mov.b32 a, %2; atom.global.add.f32 a, [%1], a; mov.b32 %0, a; }"
                 : "=r"(old)
                 : "l"(p), "r"(v)
                 : "memory");
  } else if constexpr (kKind == Kind::kExchange) {
    asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  } else {
    asm volatile("atom.global.cas.b32 %0, [%1], %2, %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  }
  return old;
}

template <Kind kKind>
__global__ void latency(uint32_t* p, int step, uint32_t* out) {
  uint32_t v = 0;
  for (int i = 0; i < 16; i++) v = atom<kKind>(p + threadIdx.x * step, v);
  const uint32_t start = now();
  for (int i = 0; i < kTrips; i += 8) {
#pragma unroll
    for (int j = 0; j < 8; j++) v = atom<kKind>(p + threadIdx.x * step, v);
  }
  if (v == 0x12345) out[1] = v;
  const uint32_t cycles = now() - start;
  if (threadIdx.x == 0) out[0] = cycles;
}

// What lanes, warps and SMs share.
struct Places {
  const char* name;
  int lane, warp, cta;  // words apart
};
const Places kPlaces[] = {
    {"one address", 0, 0, 0},
    {"one address per warp", 0, 32, 1024},
    {"32 words of one line", 1, 0, 0},
    {"32 words; own line per warp", 1, 32, 1024},
    {"own line per lane", 32, 1024, 32768},
};

template <bool kFloat>
__global__ void reduce(uint32_t* base, Places places, uint2* out, unsigned* arrived) {
  uint32_t* p =
      base + threadIdx.x % 32 * places.lane + threadIdx.x / 32 * places.warp + size_t(blockIdx.x) * places.cta;
  uint32_t count = 0;
  grid_meet(arrived);
  const uint32_t start = now();
  while (now() - start < kWindow) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      if constexpr (kFloat) {
        asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(1.0f) : "memory");
      } else {
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(1) : "memory");
      }
    }
    count += 4;
  }
  asm volatile("fence.acq_rel.gpu;" ::: "memory");  // all of them are done
  const uint32_t cycles = now() - start;
  if (threadIdx.x % 32 == 0) out[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = make_uint2(count, cycles);
}

enum class Fence { kCta, kGpu, kSystem, kSequential };

// Trips of stores and a fence: the next trip's stores wait for the fence. Everything runs twice, so that the second
// pass finds its code in the instruction cache.
template <Fence kFence, int kStores>
__global__ void fences(uint32_t* p, uint32_t* out) {
  p += threadIdx.x;
  uint32_t cycles = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; pass++) {
    const uint32_t start = now();
#pragma unroll 1
    for (int i = 0; i < kTrips; i++) {
#pragma unroll
      for (int j = 0; j < kStores; j++) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + j * 1024), "r"(i) : "memory");
      if constexpr (kFence == Fence::kCta) asm volatile("fence.acq_rel.cta;" ::: "memory");
      if constexpr (kFence == Fence::kGpu) asm volatile("fence.acq_rel.gpu;" ::: "memory");
      if constexpr (kFence == Fence::kSystem) asm volatile("fence.acq_rel.sys;" ::: "memory");
      if constexpr (kFence == Fence::kSequential) asm volatile("fence.sc.gpu;" ::: "memory");
    }
    cycles = now() - start;
  }
  if (threadIdx.x == 0) *out = cycles;
}

template <Kind kKind>
void latencies(const char* name, uint32_t* memory, uint32_t* out) {
  for (const auto& [threads, step, where] :
       {std::tuple{1, 0, "1 lane"}, std::tuple{32, 0, "32 lanes; one address"},
        std::tuple{32, 1, "32 words of one line"}, std::tuple{32, 32, "own line per lane"}}) {
    std::vector<double> cycles;
    for (int i = 0; i < kRepeats; i++) {  // how far a line is depends on the line
      latency<kKind><<<1, threads>>>(memory + i * kPlaceWords, step, out);
      CHECK(cudaDeviceSynchronize());
      cycles.push_back(double(to_host(out, 1)[0]) / kTrips);
    }
    row("atom_latency", text("%s; %s", name, where), cycles, "cycles");
  }
}

template <bool kFloat>
void reductions(uint32_t* memory) {
  uint2* out = device_array<uint2>(size_t(sm_count()) * 32);
  CHECK(cudaFuncSetAttribute(reduce<kFloat>, cudaFuncAttributeMaxDynamicSharedMemorySize, kOneCtaPerSm));
  for (const Places& places : kPlaces) {
    for (int ctas : {1, 16, sm_count()}) {
      for (int warps : {1, 8}) {
        std::vector<double> rates;
        for (int i = -1; i < kRepeats; i++) {
          reduce<kFloat>
              <<<ctas, warps * 32, kOneCtaPerSm>>>(memory + std::max(i, 0) * kPlaceWords, places, out, fresh_counter());
          CHECK(cudaDeviceSynchronize());
          double lanes = 0, cycles = 0;
          for (const uint2& v : to_host(out, size_t(ctas) * warps)) {
            lanes += 32.0 * v.x;
            cycles = std::max(cycles, double(v.y));
          }
          if (i >= 0) rates.push_back(lanes / cycles);
        }
        row("red_rate", text("%s; %s; %d SMs; %d warps", kFloat ? "add.f32" : "add.u32", places.name, ctas, warps),
            rates, "lanes/cycle");
      }
    }
  }
  CHECK(cudaFree(out));
}

template <Fence kFence, int kStores>
void fence_cost(const char* name, uint32_t* memory, uint32_t* out) {
  for (int threads : {32, 256}) {
    std::vector<double> cycles;
    for (int i = 0; i < kRepeats; i++) {
      fences<kFence, kStores><<<1, threads>>>(memory + i * kPlaceWords, out);
      CHECK(cudaDeviceSynchronize());
      cycles.push_back(double(to_host(out, 1)[0]) / kTrips);
    }
    row("fence", text("%s; %d stores before; %d threads; loop included", name, kStores, threads), cycles, "cycles");
  }
}

template <Fence kFence>
void fence_costs(const char* name, uint32_t* memory, uint32_t* out) {
  fence_cost<kFence, 0>(name, memory, out);
  fence_cost<kFence, 1>(name, memory, out);
  fence_cost<kFence, 4>(name, memory, out);
  fence_cost<kFence, 16>(name, memory, out);
}

}  // namespace

int main() {
  heading();
  uint32_t* memory = device_array<uint32_t>(kRepeats * kPlaceWords + 132 * kMiB / 4);
  uint32_t* out = device_array<uint32_t>(2);
  latencies<Kind::kAddU32>("add.u32", memory, out);
  latencies<Kind::kAddF32>("add.f32", memory, out);
  latencies<Kind::kExchange>("exch", memory, out);
  latencies<Kind::kCompare>("cas", memory, out);
  reductions<false>(memory);
  reductions<true>(memory);
  fence_costs<Fence::kCta>("fence.acq_rel.cta", memory, out);
  fence_costs<Fence::kGpu>("fence.acq_rel.gpu", memory, out);
  fence_costs<Fence::kSystem>("fence.acq_rel.sys", memory, out);
  fence_costs<Fence::kSequential>("fence.sc.gpu", memory, out);
}
