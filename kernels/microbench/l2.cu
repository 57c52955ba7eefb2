// The L2 seen from SMs that load one word at a time: latency and its groups, what a read of the other partition's line
// costs, what stays after all SMs read a set, what cyclic and random sweeps hit, and lines a stride apart. Prints rows.
#include <random>

#include "measure.cuh"

using namespace measure;

namespace {

constexpr size_t kBytes = 8 * kGiB;

char* buffer;

// On SM `target`: the cycles of a load of each of the lines.
__global__ void walk(int target, const char* base, const uint32_t* lines, int n, uint16_t* cycles, unsigned* arrived) {
  grid_meet(arrived);
  if (int(sm_id()) != target || threadIdx.x != 0) return;
  for (int i = 0; i < n; i++) cycles[i] = uint16_t(min(timed_load(base + size_t(lines[i]) * kLine), 65535u));
}

__global__ void __launch_bounds__(1024, 1) all_read_all(const uint4* p, uint32_t n, uint32_t* out) {
  uint32_t s = 0, at = uint32_t(uint64_t(blockIdx.x) * n / gridDim.x) / 1024 * 1024 + threadIdx.x;
  for (uint32_t i = 0; i < n; i += 4096) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const uint4 v = __ldcg(p + at);
      s ^= v.x ^ v.y ^ v.z ^ v.w;
      at += 1024;
      if (at >= n) at -= n;
    }
  }
  if (s == 0x12345) *out = s;
}

// Every SM loads its share of the lines, one after the other, and counts what it found in the L2.
__global__ void sweep(const char* base, uint32_t lines, int passes, bool random, unsigned* hits, unsigned* arrived) {
  for (int pass = 0; pass < passes; pass++) {
    grid_meet(arrived + pass);
    if (threadIdx.x != 0) continue;
    unsigned mine = 0;
    for (uint32_t i = blockIdx.x; i < lines; i += gridDim.x) {
      uint32_t x = i + uint32_t(pass) * lines;  // mixed: any line, with repetitions
      x = (x ^ x >> 16) * 0x7feb352du;
      x = (x ^ x >> 15) * 0x846ca68bu;
      x ^= x >> 16;
      const uint32_t line = random ? uint32_t(uint64_t(x) * lines >> 32) : i;
      mine += timed_load(base + size_t(line) * kLine) < kHit;
    }
    atomicAdd(hits + pass, mine);
  }
}

__global__ void strided(const char* base, size_t stride, int n, int passes, uint32_t* hits) {
  uint32_t mine = 0;
  for (int pass = 0; pass < passes; pass++) {
    mine = 0;
    for (int i = 0; i < n; i++) mine += timed_load(base + size_t(i) * stride) < kHit;
  }
  *hits = mine;
}

// All SMs load the same few lines, each in its own order: bytes per SM and cycle.
__global__ void hammer(const char* base, size_t stride, int lines, uint2* out, unsigned* arrived) {
  constexpr uint32_t kWindow = 30000;
  uint32_t loads = 0, seen = 0;
  grid_meet(arrived);
  const uint32_t start = now();
  for (int at = int(blockIdx.x) * 5 + int(threadIdx.x) / 32 * 3; now() - start < kWindow; at += 4) {
    uint32_t v[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
      asm volatile("ld.global.cg.u32 %0, [%1];"
                   : "=r"(v[j])
                   : "l"(base + size_t((at + j) % lines) * stride + threadIdx.x % 32 * 4)
                   : "memory");
#pragma unroll
    for (int j = 0; j < 4; j++) seen ^= v[j];
    loads += 4;
  }
  if (seen == 0x12345) out[0].x = seen;
  if (threadIdx.x % 32 == 0) out[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = make_uint2(loads, now() - start);
}

constexpr int kChased = 8192;

__global__ void chase(const uint64_t* start, int warm, uint32_t* out) {
  uint64_t p = reinterpret_cast<uint64_t>(start);
  auto step = [&p] { asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p)::"memory"); };
  for (int i = 0; i < warm; i++) step();
  const uint32_t begin = now();
#pragma unroll 1
  for (int i = 0; i < kChased / 128; i++) {
#pragma unroll
    for (int j = 0; j < 128; j++) step();
  }
  wait_for(uint32_t(p));
  out[1] = uint32_t(p);
  out[0] = now() - begin;
}

std::vector<uint32_t> some_lines(size_t from, size_t bytes, int n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> lines(n);
  for (uint32_t& line : lines) line = uint32_t((from + random() % bytes) / kLine);
  return lines;
}

std::vector<double> walk_on(int sm, const std::vector<uint32_t>& lines) {
  uint32_t* device = to_device(lines);
  uint16_t* cycles = device_array<uint16_t>(lines.size());
  walk<<<sm_count(), 32, kOneCtaPerSm>>>(sm, buffer, device, int(lines.size()), cycles, fresh_counter());
  CHECK(cudaDeviceSynchronize());
  const auto host = to_host(cycles, lines.size());
  CHECK(cudaFree(device));
  CHECK(cudaFree(cycles));
  return {host.begin(), host.end()};
}

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return v.empty() ? 0 : sum / double(v.size());
}

void latency() {
  uint32_t* out = device_array<uint32_t>(2);
  for (size_t kb : {16, 256, 1024, 4096}) {
    const size_t n = kb * 1024 / kLine;
    std::vector<uint64_t> order(n), memory(kb * 128);
    for (size_t i = 0; i < n; i++) order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(11));
    const uint64_t base = reinterpret_cast<uint64_t>(buffer);
    for (size_t i = 0; i < n; i++) memory[order[i] * 16] = base + order[(i + 1) % n] * kLine;
    CHECK(cudaMemcpy(buffer, memory.data(), memory.size() * 8, cudaMemcpyHostToDevice));
    std::vector<double> cycles;
    for (int i = 0; i < kRepeats; i++) {
      chase<<<1, 1>>>(reinterpret_cast<uint64_t*>(buffer) + order[0] * 16, int(n), out);
      CHECK(cudaDeviceSynchronize());
      cycles.push_back(to_host(out, 1)[0] / double(kChased));
    }
    row("l2_chase", text("64-bit; %zu KiB", kb), cycles, "cycles", kClockRead / kChased);
  }
  // Single loads on some SMs; four cycles of each are those of the clock.
  const auto lines = some_lines(0, 4 * kMiB, 2048, 5);
  std::vector<double> means, near, far;
  for (int sm = 0; sm < sm_count(); sm += 12) {
    walk_on(sm, lines);
    walk_on(sm, lines);
    auto cycles = walk_on(sm, lines);
    for (double& c : cycles) c = std::min(c, 400.0) - 4;  // stray ones do not move the groups
    const Groups g = two_groups(cycles);
    means.push_back(mean(cycles));
    near.push_back(g.lower);
    far.push_back(g.upper);
  }
  row("l2_hit", "32-bit; mean over lines; by SM", means, "cycles");
  row("l2_hit_group", "near", near, "cycles");
  row("l2_hit_group", "far", far, "cycles");
}

// SM 0 reads fresh lines, then another SM does, then that one again.
int partitions() {
  std::vector<double> extra, slow_share;
  int own = 0, other = -1;
  const int n = 512;
  for (int sm = 0; sm < sm_count(); sm++) {
    if (sm % 32 == 0) flush_l2();
    const auto lines = some_lines(kGiB + size_t(sm) * kMiB, kMiB, n, unsigned(sm));
    walk_on(0, lines);
    const auto first = walk_on(sm, lines), again = walk_on(sm, lines);
    std::vector<double> slow;
    for (int i = 0; i < n; i++)
      if (first[i] >= kLocal && again[i] < kLocal) slow.push_back(first[i] - again[i]);
    const double share = double(slow.size()) / n;
    if (share < 0.1) {
      own++;
    } else {
      if (other < 0) other = sm;
      slow_share.push_back(share);
      extra.push_back(median(slow));
    }
  }
  row("l2_partition_sms", "that find what SM 0 read", {double(own)}, "SM");
  row("l2_partitions", "all SMs over those of one", {double(sm_count()) / std::max(own, 1)}, "partitions");
  row("l2_first_touch", "share of lines that come from the other partition", slow_share, "1");
  row("l2_first_touch", "extra cycles; by SM", extra, "cycles");
  return other < 0 ? 0 : other;
}

void contents(int other) {
  uint32_t* out = device_array<uint32_t>(1);
  std::vector<double> effective;
  double step = 0;  // between the sizes of which the first holds and the second does not
  const int kSample = 4096;
  double last_mib = 0;
  std::vector<double> before;
  for (int mib : {16, 20, 24, 26, 28, 30, 32, 34, 36, 40, 48, 56, 64, 80}) {
    std::vector<double> local, remote, dram;
    for (int repeat = 0; repeat < 2; repeat++) {
      for (int sm : {0, other}) {
        flush_l2();
        for (int pass = 0; pass < 3; pass++)
          all_read_all<<<sm_count(), 1024>>>(reinterpret_cast<uint4*>(buffer), uint32_t(mib * kMiB / 16), out);
        const auto cycles = walk_on(sm, some_lines(0, mib * kMiB, kSample, unsigned(mib + repeat)));
        double is_local = 0, is_remote = 0;
        for (const double c : cycles) {
          is_local += c < kLocal;
          is_remote += c >= kLocal && c < kHit;
        }
        local.push_back(is_local / kSample);
        remote.push_back(is_remote / kSample);
        dram.push_back(1 - (is_local + is_remote) / kSample);
      }
    }
    const std::string set = text("%d MiB read by all SMs", mib);
    row("l2_contents", set + "; own partition", local, "1");
    row("l2_contents", set + "; other partition", remote, "1");
    row("l2_contents", set + "; DRAM", dram, "1");
    constexpr double kStays = 0.95;
    for (size_t i = 0; i < local.size() && i < before.size(); i++)
      if (before[i] >= kStays && local[i] < kStays) {
        effective.push_back((last_mib + (mib - last_mib) * (before[i] - kStays) / (before[i] - local[i])) * kMiB);
        step = (mib - last_mib) * kMiB;
      }
    before = local;
    last_mib = mib;
  }
  // Between two sizes it is a guess along a straight line.
  row("l2_effective", "set of which 95 % stay in both partitions", effective, "B", step / 2);
}

void replacement() {
  constexpr int kPasses = 6;
  unsigned* counters = device_array<unsigned>(2 * kPasses);
  for (bool random : {false, true}) {
    for (int mib : {16, 24, 28, 32, 36, 40, 44, 48, 52, 56, 64, 80, 96}) {
      std::vector<double> second, share;
      const uint32_t lines = uint32_t(mib * kMiB / kLine);
      for (int place = 0; place < 3; place++) {  // which lines meet in a set depends on where they lie
        flush_l2();
        CHECK(cudaMemset(counters, 0, 2 * kPasses * sizeof(unsigned)));
        sweep<<<sm_count(), 32, kOneCtaPerSm>>>(buffer + place * kGiB, lines, kPasses, random, counters,
                                                counters + kPasses);
        CHECK(cudaDeviceSynchronize());
        const auto hits = to_host(counters, kPasses);
        second.push_back(double(hits[1]) / lines);
        for (int pass = 3; pass < kPasses; pass++) share.push_back(double(hits[pass]) / lines);
      }
      row("l2_sweep", text("%s; %d MiB; pass 2", random ? "random" : "cyclic", mib), second, "1");
      row("l2_sweep", text("%s; %d MiB; passes 4 to 6", random ? "random" : "cyclic", mib), share, "1");
    }
  }
}

// How many lines a power of two apart stay: few if the address bits above the stride do not choose set and slice.
void hashing() {
  uint32_t* hits = device_array<uint32_t>(1);
  for (int log = 10; log <= 24; log++) {
    const size_t stride = size_t{1} << log;
    int stay = 0;
    double share_of_most = 0;
    for (int n = 32; n <= 16384 && size_t(n) * stride <= kBytes; n *= 2) {
      strided<<<1, 1>>>(buffer, stride, n, 3, hits);
      CHECK(cudaDeviceSynchronize());
      share_of_most = double(to_host(hits, 1)[0]) / n;
      if (share_of_most >= 0.95) stay = n;
    }
    row("l2_stride_lines", text("stride %zu KiB; lines of which 95 %% stay", stride >> 10), {double(stay)}, "lines");
    row("l2_stride_lines", text("stride %zu KiB; share of the most tried", stride >> 10), {share_of_most}, "1");
  }
  const int warps = 16;
  uint2* out = device_array<uint2>(size_t(sm_count()) * warps);
  for (int lines : {16, 64, 256}) {
    for (int log = 7; log <= 20; log++) {
      std::vector<double> rates;
      for (int i = -1; i < 3; i++) {
        hammer<<<sm_count(), warps * 32, kOneCtaPerSm>>>(buffer, size_t{1} << log, lines, out, fresh_counter());
        CHECK(cudaDeviceSynchronize());
        double sum = 0;
        for (const uint2& v : to_host(out, size_t(sm_count()) * warps)) sum += 128.0 * v.x / v.y;
        if (i >= 0) rates.push_back(sum);
      }
      row("l2_stride_rate", text("%d lines; stride %zu B; all SMs", lines, size_t{1} << log), rates, "B/cycle");
    }
  }
}

}  // namespace

int main() {
  heading();
  buffer = device_array<char>(kBytes);
  for (auto kernel : {reinterpret_cast<const void*>(walk), reinterpret_cast<const void*>(sweep),
                      reinterpret_cast<const void*>(hammer)})
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kOneCtaPerSm));
  latency();
  const int other = partitions();
  contents(other);
  replacement();
  hashing();
}
