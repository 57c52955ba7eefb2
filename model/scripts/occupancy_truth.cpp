// Prints the recorded occupancy table (tests/model/occupancy_table.csv): what cuda_occupancy.h answers for a fixed
// sample of inputs. Built and run by make_occupancy_table, where the CUDA headers are. The device facts are those of
// the per-architecture tables of the CUDA C++ Programming Guide; all rules and the other limits are the header's own.
#include <cuda_occupancy.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace {

struct Device {
  int major, minor;
  int shared_per_sm, shared_per_block_optin, reserved_shared;
  int threads_per_sm;
};

constexpr Device kDevices[] = {
    {7, 0, 98304, 98304, 0, 2048},       {7, 2, 98304, 98304, 0, 2048},       {7, 5, 65536, 65536, 0, 1024},
    {8, 0, 167936, 166912, 1024, 2048},  {8, 6, 102400, 101376, 1024, 1536},  {8, 7, 167936, 166912, 1024, 1536},
    {8, 9, 102400, 101376, 1024, 1536},  {9, 0, 233472, 232448, 1024, 2048},  {10, 0, 233472, 232448, 1024, 2048},
    {10, 3, 233472, 232448, 1024, 2048}, {12, 0, 102400, 101376, 1024, 1536}, {12, 1, 102400, 101376, 1024, 1536}};

struct Query {
  int registers = 32;
  int threads = 128;
  int static_shared = 0;
  int dynamic_shared = 0;
  int carveout_kb = -1;  // -1: the largest
  int barriers = 1;
};

// The sample must be the same wherever it is remade.
class Random {
 public:
  int below(int bound) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state_ >> 33U) % static_cast<std::uint64_t>(bound));
  }

 private:
  std::uint64_t state_ = 2026;
};

// A percentage that the header rounds up to the wanted carve-out.
int carveout_percent(const Device& device, int kb) {
  return kb < 0 ? SHAREDMEM_CARVEOUT_MAX_SHARED : static_cast<int>(kb * 1024LL * 100 / device.shared_per_sm);
}

void print_row(const Device& device, const Query& query) {
  cudaOccDeviceProp properties;
  properties.computeMajor = device.major;
  properties.computeMinor = device.minor;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiprocessor = device.threads_per_sm;
  properties.regsPerBlock = 65536;
  properties.regsPerMultiprocessor = 65536;
  properties.warpSize = 32;
  properties.sharedMemPerBlock = 49152;
  properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(device.shared_per_sm);
  properties.numSms = 1;
  properties.sharedMemPerBlockOptin = static_cast<std::size_t>(device.shared_per_block_optin);
  properties.reservedSharedMemPerBlock = static_cast<std::size_t>(device.reserved_shared);
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = 1024;
  function.numRegs = query.registers;
  function.sharedSizeBytes = static_cast<std::size_t>(query.static_shared);
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes = static_cast<std::size_t>(query.dynamic_shared);
  function.numBlockBarriers = query.barriers;
  cudaOccDeviceState state;
  state.carveoutConfig = carveout_percent(device, query.carveout_kb);
  cudaOccResult r{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &properties, &function, &state, query.threads,
                                                                     static_cast<std::size_t>(query.dynamic_shared));
  if (error != CUDA_OCC_SUCCESS) {
    std::fprintf(stderr, "occupancy_truth: cuda_occupancy.h refuses compute capability %d.%d (error %d)\n",
                 device.major, device.minor, static_cast<int>(error));
    std::exit(1);
  }
  std::printf("%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%u,%d,%zu\n", device.major, device.minor, query.registers,
              query.threads, query.static_shared, query.dynamic_shared, query.carveout_kb, query.barriers,
              r.activeBlocksPerMultiprocessor, r.blockLimitRegs, r.blockLimitSharedMem, r.blockLimitWarps,
              r.blockLimitBlocks, r.blockLimitBarriers, r.limitingFactors, r.allocatedRegistersPerBlock,
              r.allocatedSharedMemPerBlock);
}

// Shared memory near the sizes at which one more CTA fits, where off-by-one errors live.
int shared_near_boundary(const Device& device, Random& random) {
  const int ctas = 1 + random.below(16);
  const int edge = device.shared_per_sm / ctas - device.reserved_shared;
  const int offsets[] = {-257, -128, -1, 0, 1, 127, 128, 256};
  return std::max(0, edge + offsets[random.below(static_cast<int>(std::size(offsets)))]);
}

Query random_query(const Device& device, Random& random) {
  constexpr int kSteps[] = {0, 8, 16, 32, 64, 96, 100, 132, 164, 196, 228};
  Query query;
  query.registers = random.below(256);
  query.threads = random.below(4) == 0 ? 1 + random.below(1024) : 32 * (1 + random.below(random.below(2) ? 8 : 32));
  const int shared = random.below(2) ? shared_near_boundary(device, random) : random.below(device.shared_per_sm / 4);
  query.static_shared = random.below(3) == 0 ? std::min(shared, random.below(49153)) : 0;
  query.dynamic_shared = shared - query.static_shared;
  const int step = kSteps[random.below(static_cast<int>(std::size(kSteps)))];
  const bool turing = device.major == 7 && device.minor == 5;
  const bool volta = device.major == 7 && !turing;
  bool legal = step * 1024 <= device.shared_per_sm && (step != 96 || volta);
  if (turing) legal = step == 32 || step == 64;
  query.carveout_kb = legal ? step : -1;
  query.barriers = random.below(3) == 0 ? random.below(17) : 1;
  return query;
}

}  // namespace

int main() {
  std::printf(
      "major,minor,registers,threads,static_shared,dynamic_shared,carveout_kb,barriers,ctas,by_registers,by_shared,"
      "by_warps,by_ctas,by_barriers,limiters,registers_per_cta,shared_per_cta\n");
  Random random;
  for (const Device& device : kDevices) {
    for (int registers = 0; registers <= 255; ++registers) {
      if (device.major == 9 || registers % 8 == 1) print_row(device, Query{registers, 128});
    }
    for (int warps = 1; warps <= 32; ++warps) print_row(device, Query{64, 32 * warps});
    for (int sample = 0; sample < 160; ++sample) print_row(device, random_query(device, random));
  }
  return 0;
}
