// cp.async in groups: each of some warps issues a fixed number of groups of four copies and keeps one group (or none)
// under way while it issues the next, alone or beside warps that load with ldmatrix. Nothing in a loop but the copies,
// their commit and wait, and the step of one pointer; every copy under way has its own place in shared memory, and
// every count is fixed, so that the same code can be replayed.
// Forms differ in the rows of the global side, the pitch or swizzle of the shared side and in .cg against .ca.
//   copy_groups            prints the rows of traces/calibration/h200/copy_groups.csv
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "copying.cuh"

constexpr int kShared = 227 * 1024;
constexpr int kTrips = 32;
constexpr int kCopies = 4;  // of a group

// Lane l copies 16 bytes of row l / lanes; chunk c of row r lies at r * shared_pitch + 16 (c ^ (r / swizzle_rows &
// swizzle_mask)). A warp owns `warp_bytes` of the matrix and comes back to the start of its rows after row_bytes.
template <int kStep, bool kBypass, int kPending>
__global__ void groups(const char* base, Span* spans, unsigned* sink, int lanes, int global_pitch, int row_bytes,
                       int warp_bytes, int shared_pitch, int swizzle_rows, int swizzle_mask, int copying, int trips,
                       int load_trips) {
  extern __shared__ __align__(128) char memory[];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const int row = lane / lanes;
  const int chunk = lane % lanes;
  const int copy_bytes = 32 / lanes * shared_pitch;
  __syncthreads();
  const long long begin = clock64();
  if (warp < copying) {
    const char* global =
        base + static_cast<long long>(blockIdx.x * copying + warp) * warp_bytes + row * global_pitch + chunk * 16;
    const unsigned place = shared + kLoaded + warp * 2 * kCopies * copy_bytes + row * shared_pitch +
                           (chunk ^ (row / swizzle_rows & swizzle_mask)) * 16;
    unsigned to = place;
    int column = 0;
    for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
      for (int i = 0; i < kCopies; ++i) {
        if constexpr (kBypass) {
          asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global + column + i * kStep)
                       : "memory");
        } else {
          asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global + column + i * kStep)
                       : "memory");
        }
        to += copy_bytes;
      }
      asm volatile("cp.async.commit_group;\n cp.async.wait_group %0;" ::"n"(kPending) : "memory");
      column = (column + kCopies * kStep) & (row_bytes - 1);
      to = (trip & 1) != 0 ? place : to;
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  } else {
    sink[threadIdx.x] = load_matrices(shared, lane, load_trips);
  }
  const long long end = clock64();
  if (lane == 0) {
    spans[blockIdx.x * (blockDim.x / 32) + warp] = {begin, end};
  }
}

struct Form {
  const char* name;
  int lanes, global_pitch, row_bytes, warp_bytes, shared_pitch, swizzle_rows, swizzle_mask;
};

template <int kStep, bool kBypass, int kPending>
void measure(const Form& f, int ctas, int copying, int loading, const char* base, Span* spans, unsigned* sink) {
  const auto kernel = groups<kStep, kBypass, kPending>;
  if (kLoaded + copying * 2 * kCopies * (32 / f.lanes) * f.shared_pitch > kShared) {
    return;
  }
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  const int warps = copying + loading;
  std::vector<Span> all(static_cast<std::size_t>(warps * ctas));
  std::vector<double> copied, loaded;
  for (int pass = 0; pass < 4; ++pass) {  // the first one fills the L2
    kernel<<<ctas, 32 * warps, kShared>>>(base, spans, sink, f.lanes, f.global_pitch, f.row_bytes, f.warp_bytes,
                                          f.shared_pitch, f.swizzle_rows, f.swizzle_mask, copying, kTrips, kLoadTrips);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(all.data(), spans, all.size() * sizeof(Span), cudaMemcpyDeviceToHost));
    for (int cta = 0; cta < ctas && pass != 0; ++cta) {
      long long begin = all[static_cast<std::size_t>(cta * warps)].begin;
      long long copy_end = 0;
      long long load_end = 0;
      for (int w = 0; w < warps; ++w) {
        const Span& span = all[static_cast<std::size_t>(cta * warps + w)];
        begin = std::min(begin, span.begin);
        (w < copying ? copy_end : load_end) = std::max(w < copying ? copy_end : load_end, span.end);
      }
      copied.push_back(copying != 0 ? static_cast<double>(copy_end - begin) : 0.0);
      loaded.push_back(loading != 0 ? static_cast<double>(load_end - begin) : 0.0);
    }
  }
  std::sort(copied.begin(), copied.end());
  std::sort(loaded.begin(), loaded.end());
  std::printf("\"%s\",%s,%d,%d,%d,%d,%d,%d,%.0f,%.0f,%.0f,%.0f\n", f.name, kBypass ? "cg" : "ca", f.global_pitch,
              f.shared_pitch, kPending, ctas, copying, loading, copied[copied.size() / 2], copied.front(),
              copied.back(), loaded[loaded.size() / 2]);
  std::fflush(stdout);
}

template <int kStep>
void measure_form(const Form& form, const char* base, Span* spans, unsigned* sink) {
  for (const int copying : {1, 2, 4, 8, 16, 32}) {
    measure<kStep, true, 1>(form, 1, copying, 0, base, spans, sink);
  }
  for (const int copying : {1, 8}) {
    measure<kStep, true, 0>(form, 1, copying, 0, base, spans, sink);
  }
  for (const int copying : {2, 4, 8, 16}) {
    measure<kStep, true, 1>(form, 1, copying, 8, base, spans, sink);
  }
  measure<kStep, false, 1>(form, 1, 8, 0, base, spans, sink);
  measure<kStep, false, 1>(form, 1, 8, 8, base, spans, sink);
  for (const int copying : {4, 8, 16}) {
    measure<kStep, true, 1>(form, 132, copying, 0, base, spans, sink);
  }
}

int main() {
  char* base = nullptr;
  Span* spans = nullptr;
  unsigned* sink = nullptr;
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  CHECK(cudaMalloc(&base, kBytes));
  std::vector<unsigned> noise(kBytes / 4);
  unsigned state = 1;
  for (unsigned& word : noise) {
    word = state = state * 1664525U + 1013904223U;
  }
  CHECK(cudaMemcpy(base, noise.data(), kBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMalloc(&spans, 132 * 64 * sizeof(Span)));
  CHECK(cudaMalloc(&sink, 4096 * sizeof(unsigned)));
  std::printf(
      "form,cache,global_pitch,shared_pitch,pending,ctas,copying_warps,loading_warps,copy_cycles,least,most,load_"
      "cycles\n");
  const Form dense[] = {{"dense", 32, 512, 8192, 8192, 512, 1, 0}};
  const Form rows128[] = {
      {"4 rows of 128", 8, 2048, 2048, 8192, 128, 1, 0},  {"4 rows of 128", 8, 2048, 2048, 8192, 144, 1, 0},
      {"4 rows of 128", 8, 2048, 2048, 8192, 160, 1, 0},  {"4 rows of 128", 8, 4096, 4096, 16384, 128, 1, 0},
      {"4 rows of 128", 8, 4096, 4096, 16384, 144, 1, 0}, {"4 rows of 128 swizzled", 8, 2048, 2048, 8192, 128, 1, 7}};
  const Form rows64[] = {
      {"8 rows of 64", 4, 2048, 2048, 16384, 64, 1, 0}, {"8 rows of 64", 4, 2048, 2048, 16384, 80, 1, 0},
      {"8 rows of 64", 4, 2048, 2048, 16384, 96, 1, 0}, {"8 rows of 64", 4, 2048, 2048, 16384, 144, 1, 0},
      {"8 rows of 64", 4, 2112, 2048, 16896, 80, 1, 0}, {"8 rows of 64 swizzled", 4, 2048, 2048, 16384, 64, 2, 3}};
  const Form rows32[] = {{"16 rows of 32", 2, 1024, 1024, 16384, 32, 1, 0},
                         {"16 rows of 32", 2, 1024, 1024, 16384, 48, 1, 0}};
  measure<512, true, 1>(dense[0], 1, 0, 8, base, spans, sink);
  for (const Form& form : dense) measure_form<512>(form, base, spans, sink);
  for (const Form& form : rows128) measure_form<128>(form, base, spans, sink);
  for (const Form& form : rows64) measure_form<64>(form, base, spans, sink);
  for (const Form& form : rows32) measure_form<32>(form, base, spans, sink);
  return 0;
}
