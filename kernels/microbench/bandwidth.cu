// Bandwidth of the L2 by the set of SMs that read, by what they share, by size of request, and of writes. Prints rows.
#include <functional>
#include <numeric>

#include "measure.cuh"

using namespace measure;

namespace {

constexpr int kThreads = 1024, kWarps = kThreads / 32, kAhead = 4;
constexpr uint32_t kWarmUp = 20000, kWindow = 150000;
constexpr int kIdle = -1;

struct Count {
  uint32_t requests, cycles, ns;
};

char* buffer;
Count* counts;

// Every SM whose stream is not kIdle reads it round and round; requests of 512 bytes, a warp waits for each of its
// batches of kAhead.
__global__ void __launch_bounds__(kThreads, 1)
    read_streams(const char* base, const int* stream_of_sm, uint32_t bytes, Count* out, unsigned* arrived) {
  const int stream = stream_of_sm[sm_id()];
  grid_meet(arrived);
  if (stream == kIdle) return;
  const char* p = base + size_t(stream) * bytes + threadIdx.x * 16;
  uint32_t requests = 0, at = 0, seen = 0;
  const uint32_t begin = now();
  const uint64_t begin_ns = nanoseconds();
  uint32_t start = begin, t = begin;
  while (t - begin < kWarmUp + kWindow) {
    uint4 v[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; j++) v[j] = load_l2(p + at + j * kThreads * 16);
#pragma unroll
    for (int j = 0; j < kAhead; j++) seen ^= v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
    if (seen == 0x12345) out->requests = seen;  // waits for the loads
    at += kAhead * kThreads * 16;
    if (at >= bytes) at = 0;
    t = now();
    if (start == begin && t - begin >= kWarmUp) {
      start = t;
      requests = 0;
    } else {
      requests += kAhead;
    }
  }
  // The clock is that of the whole time; the rate leaves the first part out.
  const auto ns = uint32_t((nanoseconds() - begin_ns) * (t - start) / (now() - begin));
  if (threadIdx.x % 32 == 0) out[sm_id() * kWarps + threadIdx.x / 32] = {requests, t - start, ns};
}

// SMs that go through their streams in step: all begin at once and take kBatches batches of 64 KiB, 512 threads with 8
// loads each, without a look at the clock between them.
constexpr int kStepThreads = 512, kStepAhead = 8, kBatches = 64;

__global__ void __launch_bounds__(kStepThreads, 1)
    read_in_step(const char* base, const int* stream_of_sm, uint32_t bytes, uint32_t zero, Count* out,
                 unsigned* arrived) {
  const int stream = stream_of_sm[sm_id()];
  grid_meet(arrived);
  if (stream == kIdle) return;
  const char* p = base + size_t(stream) * bytes;
  uint32_t at = threadIdx.x * 16, seen = 0;
  const uint64_t begin_ns = nanoseconds();
  const uint32_t begin = now();
  for (int batch = 0; batch < kBatches; batch++) {
    uint4 v[kStepAhead];
#pragma unroll
    for (int j = 0; j < kStepAhead; j++) v[j] = load_l2(p + at + j * kStepThreads * 16);
#pragma unroll
    for (int j = 0; j < kStepAhead; j++) seen ^= v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
    at += kStepAhead * kStepThreads * 16 + (seen & zero);  // waits for the loads
    if (at >= bytes) at -= bytes;
  }
  if (seen == 0x12345) out->requests = seen;
  cta_meet();
  const uint32_t cycles = now() - begin;
  if (threadIdx.x == 0)
    out[sm_id() * kWarps] = {kBatches * kStepAhead * kStepThreads / 32, cycles, uint32_t(nanoseconds() - begin_ns)};
}

// One SM through 4 MiB: every warp takes runs of kRun * 512 bytes, by loads or by copies past the L1 in groups of kRun,
// two under way.
constexpr size_t kOneSmBytes = 4 * kMiB;
constexpr int kOneSmRequests = 65536;

template <int kRun>
__global__ void __launch_bounds__(kThreads, 1) load_runs(const char* base, uint32_t zero, Count* out) {
  const int warps = int(blockDim.x) / 32, trips = kOneSmRequests / (warps * kRun);
  const uint32_t first = threadIdx.x / 32 * kRun * 512, step = warps * kRun * 512;
  const char* p = base + threadIdx.x % 32 * 16;
  uint32_t at = first, seen = 0;
  cta_meet();
  const uint32_t begin = now();
  for (int i = 0; i < trips; i++) {
    uint4 v[kRun];
#pragma unroll
    for (int j = 0; j < kRun; j++) v[j] = load_l2(p + at + j * 512);
#pragma unroll
    for (int j = 0; j < kRun; j++) seen ^= v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
    at += step + (seen & zero);  // waits for the loads
    if (at + kRun * 512 > kOneSmBytes) at = first;
  }
  if (seen == 0x12345) out->requests = seen;
  cta_meet();
  if (threadIdx.x == 0) *out = {uint32_t(trips) * warps * kRun, now() - begin, 0};
}

template <int kRun>
__global__ void __launch_bounds__(kThreads, 1) copy_runs(const char* base, Count* out) {
  extern __shared__ __align__(kLine) char shared[];  // 16 bytes off, a copy takes 12 cycles in place of 4
  const int warps = int(blockDim.x) / 32, trips = kOneSmRequests / (warps * kRun);
  const uint32_t first = threadIdx.x / 32 * kRun * 512, step = warps * kRun * 512;
  const uint32_t to = shared_address(shared) + first * 2 + threadIdx.x % 32 * 16;
  const char* p = base + threadIdx.x % 32 * 16;
  uint32_t at = first, half = 0;
  cta_meet();
  const uint32_t begin = now();
  for (int i = 0; i < trips; i++) {
#pragma unroll
    for (int j = 0; j < kRun; j++) copy_past_l1(to + (half + j) * 512, p + at + j * 512);
    commit_copies();
    wait_copies<1>();
    half = kRun - half;
    at += step;
    if (at + kRun * 512 > kOneSmBytes) at = first;
  }
  wait_copies<0>();
  cta_meet();
  if (threadIdx.x == 0) *out = {uint32_t(trips) * warps * kRun, now() - begin, 0};
}

enum class Small { kReadSectors, kCopySectors, kWriteWhole, kWriteEpilogue };

// Sectors in many lines per request: 16 lines, one sector each, read or copied to shared memory; 16 whole sectors in 4
// lines written; 32 sectors in 8 lines written, 4 bytes each, so that no sector is whole.
template <Small kKind>
__global__ void __launch_bounds__(kThreads, 1) small_requests(char* base, int warps, Count* out, unsigned* arrived) {
  constexpr int kBytes = 16384;  // of a warp; all of them together stay in the L2
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  grid_meet(arrived);
  if (warp >= warps) return;
  constexpr bool kReads = kKind == Small::kReadSectors || kKind == Small::kCopySectors;
  char* p = base + (size_t(blockIdx.x) * kWarps + warp) * kBytes;
  p += kReads ? lane / 2 * kLine + lane % 2 * 16 : lane * (kKind == Small::kWriteWhole ? 16 : 32);
  extern __shared__ __align__(kLine) char shared[];
  const uint32_t to = shared_address(shared) + warp * 2 * kAhead * 512 + lane * 16;
  uint32_t requests = 0, seen = 0, half = 0;
  const uint32_t begin = now();
  for (uint32_t at = 0; now() - begin < kWindow; at = (at + 8192) % kBytes) {
    if constexpr (kKind == Small::kReadSectors) {
      uint4 v[kAhead];
#pragma unroll
      for (int j = 0; j < kAhead; j++) v[j] = load_l2(p + at + j * 2048);
#pragma unroll
      for (int j = 0; j < kAhead; j++) seen ^= v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
      if (seen == 0x12345) out->requests = seen;
    } else if constexpr (kKind == Small::kCopySectors) {
#pragma unroll
      for (int j = 0; j < kAhead; j++) copy_past_l1(to + (half + j) * 512, p + at + j * 2048);
      commit_copies();
      wait_copies<1>();
      half = kAhead - half;
    } else {
#pragma unroll
      for (int j = 0; j < kAhead; j++) {
        if constexpr (kKind == Small::kWriteWhole) {
          asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p + at + j * 2048), "r"(at) : "memory");
        } else {
          asm volatile("st.global.u32 [%0], %1;" ::"l"(p + at + j * 2048), "r"(at) : "memory");
        }
      }
    }
    requests += kAhead;
  }
  if (lane == 0) out[blockIdx.x * kWarps + warp] = {requests, now() - begin, 0};
}

// Requests per cycle of each SM that counted any.
std::vector<double> requests_per_cycle() {
  std::vector<double> rates;
  const auto host = to_host(counts, size_t(sm_count()) * kWarps);
  for (int sm = 0; sm < sm_count(); sm++) {
    double rate = 0;
    for (int w = 0; w < kWarps; w++) {
      const Count& c = host[sm * kWarps + w];
      if (c.cycles > 0) rate += double(c.requests) / c.cycles;
    }
    if (rate > 0) rates.push_back(rate);
  }
  return rates;
}

void clear_counts() { CHECK(cudaMemset(counts, 0, size_t(sm_count()) * kWarps * sizeof(Count))); }

double sum(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }

struct Rates {
  std::vector<double> mean, slowest, total;  // B/cycle
  std::vector<double> clock;                 // MHz
};

// `launch` runs a kernel that counts for every SM; the first of its runs warms the caches.
template <class Launch>
Rates rates_of(Launch launch) {
  Rates rates;
  for (int i = -1; i < kRepeats; i++) {
    clear_counts();
    launch();
    CHECK(cudaDeviceSynchronize());
    const auto each = requests_per_cycle();
    if (i < 0 || each.empty()) continue;
    rates.total.push_back(512 * sum(each));
    rates.mean.push_back(rates.total.back() / double(each.size()));
    rates.slowest.push_back(512 * *std::min_element(each.begin(), each.end()));
    std::vector<double> clocks;
    for (const Count& c : to_host(counts, size_t(sm_count()) * kWarps))
      if (c.ns > 0) clocks.push_back(1e3 * c.cycles / c.ns);
    if (!clocks.empty()) rates.clock.push_back(median(clocks));
  }
  return rates;
}

Rates stream_rates(const std::vector<int>& stream_of_sm, uint32_t bytes) {
  CHECK(cudaFuncSetAttribute(read_streams, cudaFuncAttributeMaxDynamicSharedMemorySize, kOneCtaPerSm));
  int* device = to_device(stream_of_sm);
  const Rates rates = rates_of(
      [&] { read_streams<<<sm_count(), kThreads, kOneCtaPerSm>>>(buffer, device, bytes, counts, fresh_counter()); });
  CHECK(cudaFree(device));
  return rates;
}

Rates step_rates(const std::vector<int>& stream_of_sm, uint32_t bytes) {
  CHECK(cudaFuncSetAttribute(read_in_step, cudaFuncAttributeMaxDynamicSharedMemorySize, kOneCtaPerSm));
  int* device = to_device(stream_of_sm);
  const Rates rates = rates_of([&] {
    read_in_step<<<sm_count(), kStepThreads, kOneCtaPerSm>>>(buffer, device, bytes, 0, counts, fresh_counter());
  });
  CHECK(cudaFree(device));
  return rates;
}

template <int kRun>
void one_sm(int warps) {
  row("l2_read_one_sm", text("%d warps; %d loads of 512 B in a row each", warps, kRun),
      rates_of([&] { load_runs<kRun><<<1, warps * 32>>>(buffer, 0, counts); }).mean, "B/cycle");
  CHECK(cudaFuncSetAttribute(copy_runs<kRun>, cudaFuncAttributeMaxDynamicSharedMemorySize, kOneCtaPerSm));
  const int bytes = 2 * kRun * 512 * warps;
  if (bytes <= kOneCtaPerSm)
    row("l2_read_one_sm", text("%d warps; %d copies of 512 B in a row each; two groups", warps, kRun),
        rates_of([&] { copy_runs<kRun><<<1, warps * 32, bytes>>>(buffer, counts); }).mean, "B/cycle");
}

// The cluster that a CTA is of, by SM.
__global__ void clusters(uint2* out) {
  uint32_t id;
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(id));
  if (threadIdx.x == 0) out[blockIdx.x] = make_uint2(id, sm_id());
  const uint32_t start = now();
  while (now() - start < 20000) {
  }
}

constexpr size_t kLargestGpc = 18;

// SMs by GPC: those of one cluster are in one GPC. Some are in no cluster of four: they are taken to complete the
// smallest group if that leaves it no larger than a GPC; `halves` gets the two.
std::vector<std::vector<int>> gpcs(std::vector<std::vector<int>>& halves) {
  std::vector<int> parent(sm_count());
  std::iota(parent.begin(), parent.end(), 0);
  const std::function<int(int)> root = [&](int x) { return parent[x] == x ? x : parent[x] = root(parent[x]); };
  CHECK(cudaFuncSetAttribute(clusters, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CHECK(cudaFuncSetAttribute(clusters, cudaFuncAttributeMaxDynamicSharedMemorySize, kOneCtaPerSm));
  uint2* out = device_array<uint2>(1024);
  for (int size : {2, 4, 8, 16}) {
    for (int repeat = 0; repeat < 3; repeat++) {
      cudaLaunchConfig_t config{};
      cudaLaunchAttribute attribute{};
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {unsigned(size), 1, 1};
      config.gridDim = sm_count() / size * size * 4;
      config.blockDim = 32;
      config.dynamicSmemBytes = kOneCtaPerSm;
      config.attrs = &attribute;
      config.numAttrs = 1;
      CHECK(cudaLaunchKernelEx(&config, clusters, out));
      CHECK(cudaDeviceSynchronize());
      std::vector<int> first(1024, -1);
      for (const uint2& v : to_host(out, config.gridDim.x)) {
        if (first[v.x] < 0) first[v.x] = int(v.y);
        parent[root(int(v.y))] = root(first[v.x]);
      }
    }
  }
  std::vector<std::vector<int>> members(sm_count()), found;
  std::vector<int> pairs;
  for (int sm = 0; sm < sm_count(); sm++) members[root(sm)].push_back(sm);
  for (const auto& group : members) {
    if (group.size() >= 4)
      found.push_back(group);
    else
      pairs.insert(pairs.end(), group.begin(), group.end());
  }
  const auto smallest =
      std::min_element(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (!pairs.empty() && smallest != found.end() && smallest->size() + pairs.size() <= kLargestGpc) {
    halves = {*smallest, pairs};
    smallest->insert(smallest->end(), pairs.begin(), pairs.end());
  } else if (!pairs.empty()) {
    found.push_back(pairs);
  }
  for (const auto& group : found) row("gpc_sms", text("with SM %d", group.front()), {double(group.size())}, "SM");
  row("gpc_count", "groups of clusters; pairs left over complete the smallest", {double(found.size())}, "GPC");
  return found;
}

void by_sm_set(const std::vector<std::vector<int>>& all_gpcs, const std::vector<std::vector<int>>& halves) {
  const uint32_t kib64 = 65536;
  std::vector<int> idle(sm_count(), kIdle);
  const auto report = [](const std::string& param, const Rates& r) {
    row("l2_read_sm", param + "; mean SM", r.mean, "B/cycle");
    row("l2_read_sm", param + "; slowest SM", r.slowest, "B/cycle");
  };
  const auto some = [&](const std::vector<int>& sms) {
    auto streams = idle;
    for (size_t i = 0; i < sms.size(); i++) streams[sms[i]] = int(i);
    return stream_rates(streams, kib64);
  };
  report("1 SM", some({0}));
  report("both SMs of a TPC", some({0, 1}));
  std::vector<double> gpc_total;
  for (const auto& gpc : all_gpcs) {
    for (size_t n : {size_t{4}, size_t{8}, size_t{12}})
      if (&gpc == &all_gpcs.front() && n < gpc.size())
        report(text("%zu SMs of a GPC", n), some({gpc.begin(), gpc.begin() + n}));
    const Rates whole = some(gpc);
    report(text("GPC of %zu with SM %d", gpc.size(), gpc.front()), whole);
    gpc_total.push_back(median(whole.total));
  }
  row("l2_read_gpc", "whole GPC; by GPC", gpc_total, "B/cycle");
  // A GPC that is smaller, or two halves that do not share a port, would move less or more.
  for (const auto& half : halves) report(text("half of a GPC: %zu with SM %d", half.size(), half.front()), some(half));
  std::vector<int> one_each, two_each;
  for (const auto& gpc : all_gpcs) {
    one_each.push_back(gpc[0]);
    two_each.insert(two_each.end(), gpc.begin(), gpc.begin() + 2);
  }
  report("1 SM of every GPC", some(one_each));
  report("2 SMs of every GPC", some(two_each));
}

void by_sharing(const std::vector<std::vector<int>>& all_gpcs) {
  std::vector<int> own(sm_count()), pair(sm_count()), gpc(sm_count()), everyone(sm_count(), 0), across(sm_count());
  std::iota(own.begin(), own.end(), 0);
  for (int sm = 0; sm < sm_count(); sm++) pair[sm] = sm / 2;
  for (size_t g = 0; g < all_gpcs.size(); g++) {
    for (size_t i = 0; i < all_gpcs[g].size(); i++) {
      gpc[all_gpcs[g][i]] = int(g);
      across[all_gpcs[g][i]] = int(i);
    }
  }
  std::vector<double> joined;
  for (uint32_t kib : {64, 256}) {
    double private_rate = 0;
    const auto report = [&](const char* who, const std::vector<int>& streams) {
      const Rates r = step_rates(streams, kib * 1024);
      row("l2_read_shared", text("%s; %u KiB; mean SM", who, kib), r.mean, "B/cycle");
      row("l2_read_chip", text("%s; %u KiB", who, kib), r.total, "B/cycle");
      row("l2_read_clock", text("%s; %u KiB", who, kib), r.clock, "MHz");
      return r.mean;
    };
    private_rate = median(report("private", own));
    for (const double rate : report("TPC pair", pair))
      if (kib == 64) joined.push_back(2 * private_rate / rate - 1);
    report("one SM of every GPC", across);
    report("whole GPC", gpc);
    report("all SMs", everyone);
  }
  row("l2_joined_share", "2 private / shared - 1; TPC pairs; 64 KiB", joined, "1");
}

template <Small kKind>
std::vector<double> small_rates(int warps) {
  CHECK(cudaFuncSetAttribute(small_requests<kKind>, cudaFuncAttributeMaxDynamicSharedMemorySize, kOneCtaPerSm));
  std::vector<double> values;
  for (int i = -1; i < kRepeats; i++) {
    clear_counts();
    small_requests<kKind><<<sm_count(), kThreads, kOneCtaPerSm>>>(buffer, warps, counts, fresh_counter());
    CHECK(cudaDeviceSynchronize());
    if (i >= 0) values.push_back(sum(requests_per_cycle()));
  }
  return values;
}

std::vector<double> scaled(std::vector<double> v, double factor) {
  for (double& x : v) x *= factor;
  return v;
}

// Reads that hold their data against the most of those that hold little: what a request counts at least.
void by_request(double chip) {
  std::vector<double> most;
  for (int warps : {8, 16}) {
    for (const bool copies : {false, true}) {
      const auto reads =
          scaled(copies ? small_rates<Small::kCopySectors>(warps) : small_rates<Small::kReadSectors>(warps), 16);
      row("l2_small_reads", text("16 lines of one sector per %s; %d warps", copies ? "copy" : "load", warps), reads,
          "requests/cycle");
      if (most.empty() || median(reads) > median(most)) most = reads;
    }
    row("l2_write_chip", text("whole sectors; 4 lines per store; %d warps", warps),
        scaled(small_rates<Small::kWriteWhole>(warps), 16), "sectors/cycle");
    row("l2_write_chip", text("4 bytes of each of 32 sectors per store; %d warps", warps),
        scaled(small_rates<Small::kWriteEpilogue>(warps), 32), "sectors/cycle");
  }
  std::vector<double> bytes;
  for (const double r : most) bytes.push_back(chip / r);
  row("l2_request_bytes", "private streams' bytes over small requests", bytes, "B");
}

}  // namespace

int main() {
  heading();
  buffer = device_array<char>(kGiB);
  counts = device_array<Count>(size_t(sm_count()) * kWarps);
  std::vector<std::vector<int>> halves;
  const auto all_gpcs = gpcs(halves);
  by_sm_set(all_gpcs, halves);
  one_sm<4>(32);
  one_sm<8>(16);
  one_sm<8>(32);
  by_sharing(all_gpcs);
  std::vector<int> own(sm_count());
  std::iota(own.begin(), own.end(), 0);
  by_request(median(step_rates(own, 256 * 1024).total));
}
