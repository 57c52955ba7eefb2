// Prints the recorded occupancy table (tests/model/occupancy_table.csv): cuda_occupancy.h asked over a grid of inputs.
// Built and run by make_occupancy_table, where the CUDA headers are.
#include <cstdio>
#include <initializer_list>

#include <cuda_runtime_api.h>
#include <cuda_occupancy.h>

struct Facts {
  int major, minor, shared_sm, shared_optin, reserved, threads;
};

int main() {
  const Facts facts[] = {{7, 0, 98304, 98304, 0, 2048},        {7, 2, 98304, 98304, 0, 2048},
                         {7, 5, 65536, 65536, 0, 1024},        {8, 0, 167936, 166912, 1024, 2048},
                         {8, 6, 102400, 101376, 1024, 1536},   {8, 7, 167936, 166912, 1024, 1536},
                         {8, 9, 102400, 101376, 1024, 1536},   {9, 0, 233472, 232448, 1024, 2048},
                         {10, 0, 233472, 232448, 1024, 2048},  {10, 3, 233472, 232448, 1024, 2048},
                         {12, 0, 102400, 101376, 1024, 1536},  {12, 1, 102400, 101376, 1024, 1536}};
  std::printf("major,minor,threads,registers,shared_bytes,carveout_kb,barriers,ctas,by_registers,by_shared,by_warps,by_ctas,by_barriers\n");
  for (const Facts& f : facts) {
    cudaOccDeviceProp p;
    p.computeMajor = f.major;
    p.computeMinor = f.minor;
    p.maxThreadsPerBlock = 1024;
    p.maxThreadsPerMultiprocessor = f.threads;
    p.regsPerBlock = 65536;
    p.regsPerMultiprocessor = 65536;
    p.warpSize = 32;
    p.sharedMemPerBlock = 49152;
    p.sharedMemPerMultiprocessor = static_cast<size_t>(f.shared_sm);
    p.numSms = 1;
    p.sharedMemPerBlockOptin = static_cast<size_t>(f.shared_optin);
    p.reservedSharedMemPerBlock = static_cast<size_t>(f.reserved);
    for (const int threads : {32, 96, 128, 224, 256, 384, 512, 1024}) {
      for (const int registers : {24, 32, 40, 50, 64, 71, 92, 119, 128, 162, 168, 255}) {
        for (const int shared : {0, 1, 8192, 16640, 32768, 49152, 65536, 99328, 101376, 166912, 232448}) {
          const bool extra = threads == 128 && registers == 64;
          for (const int carveout : {-1, 64, 100}) {
            for (const int barriers : {1, 3}) {
              if (!extra && (carveout >= 0 ? shared % 8192 != 0 || registers != 32 : false)) continue;
              if (!extra && barriers != 1) continue;
              if (carveout * 1024 > f.shared_sm) continue;
              cudaOccFuncAttributes a;
              a.maxThreadsPerBlock = 1024;
              a.numRegs = registers;
              a.sharedSizeBytes = 0;
              a.partitionedGCConfig = PARTITIONED_GC_OFF;
              a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
              a.maxDynamicSharedSizeBytes = static_cast<size_t>(shared);
              a.numBlockBarriers = barriers;
              cudaOccDeviceState s;
              s.carveoutConfig = carveout < 0 ? SHAREDMEM_CARVEOUT_MAX_SHARED : (carveout * 1024 * 100 + f.shared_sm - 1) / f.shared_sm;
              cudaOccResult r;
              if (cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &s, threads, static_cast<size_t>(shared)) != CUDA_OCC_SUCCESS) continue;
              std::printf("%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", f.major, f.minor, threads, registers, shared, carveout, barriers,
                          r.activeBlocksPerMultiprocessor, r.blockLimitRegs, r.blockLimitSharedMem, r.blockLimitWarps, r.blockLimitBlocks,
                          r.blockLimitBarriers);
            }
          }
        }
      }
    }
  }
  return 0;
}
