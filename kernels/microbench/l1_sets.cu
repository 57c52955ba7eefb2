// How many lines that are a stride apart the L1 keeps: one thread goes round N of them, the first round untimed. A
// round of hits takes 31 to 40 cycles a load, of misses over 200. With strides of a power of two, the lines that fit
// tell the ways of a set and whether higher address bits choose the set too.
//   l1_sets          prints stride, lines, cycles per load
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void go_round(const std::uint64_t* start, int loads, int warm, std::uint64_t* out) {
  std::uint64_t at = reinterpret_cast<std::uint64_t>(start);
  for (int i = 0; i < warm; ++i) {
    asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory");
  }
  const auto begin = clock64();
  for (int i = 0; i < loads; ++i) {
    asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory");
  }
  out[0] = static_cast<std::uint64_t>(clock64() - begin);
  out[1] = at;
}

int main() {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  char* memory = nullptr;
  std::uint64_t* out = nullptr;
  if (cudaMalloc(&memory, kBytes) != cudaSuccess || cudaMalloc(&out, 16) != cudaSuccess ||
      cudaFuncSetAttribute(go_round, cudaFuncAttributePreferredSharedMemoryCarveout, 0) != cudaSuccess) {
    std::fprintf(stderr, "l1_sets: no GPU or no memory\n");
    return 4;
  }
  std::printf("stride_bytes,lines,cycles_per_load\n");
  for (const std::size_t stride : {128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 4224, 8320, 12288}) {
    for (const int lines : {2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 1792, 2048}) {
      if (stride * lines > kBytes) {
        continue;
      }
      std::vector<std::uint64_t> chain(1);
      for (int i = 0; i < lines; ++i) {
        const std::uint64_t next = reinterpret_cast<std::uint64_t>(memory) + (i + 1) % lines * stride;
        cudaMemcpy(memory + i * stride, &next, sizeof next, cudaMemcpyHostToDevice);
      }
      const int loads = 4 * lines;
      std::uint64_t result[2] = {};
      go_round<<<1, 1>>>(reinterpret_cast<std::uint64_t*>(memory), loads, 2 * lines, out);
      cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
      std::printf("%zu,%d,%.1f\n", stride, lines, static_cast<double>(result[0]) / loads);
    }
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
