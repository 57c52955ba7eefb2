// cp.async by the form of the copy, alone and beside a stream of ldmatrix: what does one warp instruction take from the
// data pipe, and how many fit into a cycle? Forms differ in the global side (rows of a matrix), the shared side (pitch
// of the rows), the width and .cg against .ca. One CTA; everything copied lies in the L2 after the first pass.
// Prints rows form,copying warps,loading warps,cycles per copy,ldmatrix.x4 per 4 cycles.
// All copies of a warp go to one place in shared memory; copy_groups.cu gives each its own.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "check.cuh"

constexpr int kWindow = 60000;  // cycles
constexpr int kShared = 160 * 1024;

struct Form {
  const char* name;
  int bytes;         // per lane: 4, 8, 16
  int lanes;         // of a row
  int lane_step;     // bytes from lane to lane of a row in global memory
  int global_pitch;  // bytes from row to row
  int shared_lane;   // bytes from lane to lane of a row in shared memory
  int shared_pitch;  // bytes from row to row
};

// 16-byte forms run with .cg and .ca, the others with .ca.
const Form kForms[] = {
    {"dense 512 B", 16, 32, 16, 512, 16, 512},
    {"8 rows of 64 B, dense in shared memory", 16, 4, 16, 8192, 16, 64},
    {"8 rows of 64 B, pitch 80", 16, 4, 16, 8192, 16, 80},
    {"8 rows of 64 B, pitch 96", 16, 4, 16, 8192, 16, 96},
    {"8 rows of 64 B, pitch 144", 16, 4, 16, 8192, 16, 144},
    {"4 rows of 128 B, dense", 16, 8, 16, 8192, 16, 128},
    {"4 rows of 128 B, pitch 144", 16, 8, 16, 8192, 16, 144},
    {"16 rows of 32 B, dense", 16, 2, 16, 8192, 16, 32},
    {"16 rows of 32 B, pitch 48", 16, 2, 16, 8192, 16, 48},
    {"one line per wavefront, 2-way conflicts", 16, 8, 16, 8192, 32, 256},
    {"words 128 B", 4, 32, 4, 128, 4, 128},
    {"words, 8 rows of 4 at 16 B, free of conflicts", 4, 4, 16, 8192, 32, 4},
    {"words, 8 rows of 4 at 16 B, 4-way conflicts", 4, 4, 16, 8192, 1024, 4},
    {"words, 32 rows, free of conflicts", 4, 1, 4, 8192, 4, 4},
    {"pairs 256 B", 8, 32, 8, 256, 8, 256},
};

struct Count {
  unsigned copies, loads, cycles;
};

template <int kBytes, bool kBypass>
__device__ void copy(unsigned shared, const char* global) {
  if constexpr (kBypass) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(global), "n"(kBytes) : "memory");
  }
}

template <int kBytes, bool kBypass>
__global__ void stream(const char* base, Form form, int copying, Count* out) {
  extern __shared__ __align__(128) char memory[];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const int row = lane / form.lanes;
  const int column = lane % form.lanes;
  // A warp walks along the rows of its own matrix; 64 steps, then again.
  const char* global =
      base + static_cast<std::size_t>(warp) * 32 * 8192 + row * form.global_pitch + column * form.lane_step;
  const unsigned place = shared + 32768 + warp * 4096 + row * form.shared_pitch + column * form.shared_lane;
  const int step = form.lanes * form.lane_step <= 128 ? form.lanes * form.lane_step : 512;
  Count count{0, 0, 0};
  __syncthreads();
  const long long start = clock64();
  long long now = start;
  if (warp < copying) {
    for (int i = 0; now - start < kWindow; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        copy<kBytes, kBypass>(place, global + (i * 4 + j) % 64 * step % 8192);
      }
      asm volatile("cp.async.commit_group;\n cp.async.wait_group 3;" ::: "memory");
      count.copies += 4;
      now = clock64();
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  } else {
    unsigned sum = 0;
    while (now - start < kWindow) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        unsigned a, b, c, d;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "r"(shared + lane * 16 + j * 512)
                     : "memory");
        sum += a ^ b ^ c ^ d;
      }
      count.loads += 8;
      now = clock64();
    }
    count.cycles = sum == 0x12345678U ? 1 : 0;  // keeps the loads
  }
  now = clock64();
  count.cycles += static_cast<unsigned>(now - start);
  if (lane == 0) {
    out[warp] = count;
  }
}

template <int kBytes, bool kBypass>
void measure(const char* base, const Form& form, Count* out) {
  CHECK(cudaFuncSetAttribute(stream<kBytes, kBypass>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  for (const int copying : {0, 1, 4, 8, 16}) {
    for (const int loading : {0, 8}) {
      if (copying + loading == 0) {
        continue;
      }
      double copies = 0.0;
      double loads = 0.0;
      double cycles = 0.0;
      for (int pass = 0; pass < 3; ++pass) {  // the last one counts
        stream<kBytes, kBypass><<<1, 32 * (copying + loading), kShared>>>(base, form, copying, out);
        CHECK(cudaDeviceSynchronize());
        std::vector<Count> counts(static_cast<std::size_t>(copying + loading));
        CHECK(cudaMemcpy(counts.data(), out, counts.size() * sizeof(Count), cudaMemcpyDeviceToHost));
        copies = loads = cycles = 0.0;
        for (const Count& count : counts) {
          copies += count.copies;
          loads += count.loads;
          cycles = count.cycles > cycles ? count.cycles : cycles;
        }
      }
      std::printf("\"%s %s\",%d,%d,%.2f,%.3f\n", kBypass ? "cg" : "ca", form.name, copying, loading,
                  copies > 0.0 ? cycles / copies : 0.0, 4.0 * loads / cycles);
    }
  }
}

int main() {
  char* base = nullptr;
  Count* out = nullptr;
  CHECK(cudaMalloc(&base, 64 << 20));
  CHECK(cudaMemset(base, 0, 64 << 20));
  CHECK(cudaMalloc(&out, 64 * sizeof(Count)));
  std::printf("form,copying_warps,loading_warps,cycles_per_copy,ldmatrix_x4_per_4_cycles\n");
  for (const Form& form : kForms) {
    if (form.bytes == 16) {
      measure<16, true>(base, form, out);
      measure<16, false>(base, form, out);
    } else if (form.bytes == 8) {
      measure<8, false>(base, form, out);
    } else {
      measure<4, false>(base, form, out);
    }
  }
  return 0;
}
