// cp.async.ca of single words (4 or 8 bytes a lane), as SIMT kernels transpose A with: each of some warps issues groups
// of four copies and keeps one group under way, alone or beside warps that load with ldmatrix. Forms differ in the
// lines that a copy reads, in how its lanes' places in shared memory meet in banks, and in where the data are: in the
// L1, in the L2, or one sector for four copies in a row.
//   copy_words             prints the rows of traces/calibration/h200/copy_words.csv but for the counters
//   copy_words count       one launch of each form with 8 copying warps, for ncu; prints the forms in order
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "copying.cuh"

constexpr int kShared = 200 * 1024;
constexpr int kTrips = 32;
constexpr int kCopies = 4;    // of a group
constexpr int kPlace = 4096;  // bytes of shared memory that a copy spreads over
constexpr int kRowBytes = 16384;

struct Form {
  int bytes;       // of a lane: 4 or 8
  int lines;       // that a copy reads
  int lane_step;   // bytes between lanes of a line
  int degree;      // lanes that share a bank
  int near;        // 1: neighbouring lanes share it, 0: lanes 32 / degree apart
  int copy_step;   // bytes that copies of a group move on by
  int group_step;  // bytes that groups move on by
};

template <int kBytes>
__device__ void copy(unsigned to, const char* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kBytes) : "memory");
}

// The rows of a warp lie kRowBytes apart; all warps of a CTA have their own.
template <int kBytes>
__global__ void words(const char* base, Span* spans, unsigned* sink, Form form, int copying) {
  extern __shared__ __align__(128) char memory[];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  __syncthreads();
  const long long begin = clock64();
  if (warp < copying) {
    const int lanes = 32 / form.lines;
    const char* global = base + (static_cast<long long>(blockIdx.x * copying + warp) * 32 + lane / lanes) * kRowBytes +
                         lane % lanes * form.lane_step;
    const int apart = 32 / form.degree;
    const int bank = form.near != 0 ? lane / form.degree : lane % apart;
    const int turn = form.near != 0 ? lane % form.degree : lane / apart;
    const unsigned place = shared + kLoaded + warp * 2 * kPlace + (bank * kBytes + turn * 128);
    int column = 0;
    for (int trip = 0; trip < kTrips; ++trip) {
#pragma unroll
      for (int i = 0; i < kCopies; ++i) {
        copy<kBytes>(place + (trip & 1) * kPlace, global + column + i * form.copy_step);
      }
      asm volatile("cp.async.commit_group;\n cp.async.wait_group 1;" ::: "memory");
      column = (column + form.group_step) & (kRowBytes - 1);
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  } else {
    sink[threadIdx.x] = load_matrices(shared, lane, kLoadTrips);
  }
  const long long end = clock64();
  if (lane == 0) {
    spans[blockIdx.x * (blockDim.x / 32) + warp] = {begin, end};
  }
}

struct Buffers {
  char* base;
  Span* spans;
  unsigned* sink;
};

void launch(const Form& form, int copying, int loading, const Buffers& at) {
  const auto kernel = form.bytes == 4 ? words<4> : words<8>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  kernel<<<1, 32 * (copying + loading), kShared>>>(at.base, at.spans, at.sink, form, copying);
  CHECK(cudaDeviceSynchronize());
}

void print(const Form& form) {
  const char* data = form.group_step == 0 ? "L1" : form.copy_step == form.group_step / kCopies ? "L2" : "L2 by sector";
  std::printf("%d,%d,%d,%d,%s,%s", form.bytes, form.lines, form.lane_step, form.degree, form.near != 0 ? "near" : "far",
              data);
}

void measure(const Form& form, int copying, int loading, const Buffers& at) {
  if (kLoaded + copying * 2 * kPlace > kShared) {
    return;
  }
  std::vector<Span> all(static_cast<std::size_t>(copying + loading));
  std::vector<double> copied, loaded;
  for (int pass = 0; pass < 6; ++pass) {  // the first one fills the L2
    launch(form, copying, loading, at);
    CHECK(cudaMemcpy(all.data(), at.spans, all.size() * sizeof(Span), cudaMemcpyDeviceToHost));
    long long begin = all[0].begin, copy_end = 0, load_end = 0;
    for (int w = 0; w < copying + loading; ++w) {
      const Span& span = all[static_cast<std::size_t>(w)];
      begin = std::min(begin, span.begin);
      (w < copying ? copy_end : load_end) = std::max(w < copying ? copy_end : load_end, span.end);
    }
    if (pass != 0) {
      copied.push_back(static_cast<double>(copy_end - begin));
      loaded.push_back(loading != 0 ? static_cast<double>(load_end - begin) : 0.0);
    }
  }
  std::sort(copied.begin(), copied.end());
  std::sort(loaded.begin(), loaded.end());
  print(form);
  std::printf(",%d,%d,%.0f,%.0f,%.0f,%.0f\n", copying, loading, copied[copied.size() / 2], copied.front(),
              copied.back(), loaded[loaded.size() / 2]);
}

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const int bytes : {4, 8}) {
    for (const int lines : {1, 2, 4, 8, 16, 32}) {
      for (const int degree : {1, 2, 4, 8, 16, 32}) {
        for (const int near : {1, 0}) {
          const bool whole = degree == 1 || degree == 32;
          if ((whole && near == 0) || degree * bytes > 32 * 4 || 4096 / 128 < degree) {
            continue;
          }
          all.push_back({bytes, lines, bytes, degree, near, 0, 0});                // the same lines again and again
          all.push_back({bytes, lines, bytes, degree, near, 128, kCopies * 128});  // other lines each time
        }
      }
    }
  }
  // As a tile of rows of 16 or 8 words is transposed: four lanes of 4 words each a row, four copies for the 4 words.
  for (const int lines : {8, 16, 32}) {
    for (const int degree : {1, 2, 4, 8}) {
      all.push_back({4, lines, 16, degree, 1, 4, 16 * (32 / lines)});
    }
  }
  return all;
}

int main(int argc, char** argv) {
  const bool count = argc > 1 && std::strcmp(argv[1], "count") == 0;
  Buffers at{};
  constexpr std::size_t kBytes = std::size_t{16} * 32 * kRowBytes + 65536;
  CHECK(cudaMalloc(&at.base, kBytes));
  CHECK(cudaMemset(at.base, 1, kBytes));
  CHECK(cudaMalloc(&at.spans, 64 * sizeof(Span)));
  CHECK(cudaMalloc(&at.sink, 4096 * sizeof(unsigned)));
  if (!count) {
    std::printf(
        "bytes,lines,lane_step,degree,conflicting,data,copying_warps,loading_warps,copy_cycles,least,most,load_"
        "cycles\n");
  }
  for (const Form& form : forms()) {
    if (count) {
      launch(form, 8, 0, at);
      print(form);
      std::printf("\n");
      continue;
    }
    for (const int copying : {1, 4, 8, 16}) {
      measure(form, copying, 0, at);
    }
    measure(form, 8, 8, at);
  }
  return 0;
}
