// What the tiled kernels of both families share: asynchronous copies, shared memory beyond the static limit, the order
// of CTAs. Outside CUDA the including file provides the words of the language and the functions under __CUDACC__:
// host_cta.h does, to run kernels on the CPU.
#pragma once

#ifdef __CUDACC__
#define TILE_GEMM_UNROLL _Pragma("unroll")
#define TILE_GEMM_ONE_BY_ONE _Pragma("unroll 1")
#endif

namespace tile_parts {

#ifdef __CUDACC__
constexpr int kStaticSharedBytes = 48 * 1024;  // more must be asked for at launch
extern __shared__ float4 dynamic_shared[];

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Copies kBytes, or writes as many zeros if not `valid` (then `source` is not read). L1 is bypassed where the
// instruction can do it: another CTA of the SM seldom wants the same slice at the same time.
template <int kBytes, bool kMayBeInvalid>
__device__ __forceinline__ void async_copy(void* destination, const void* source, bool valid) {
  const unsigned shared = shared_address(destination);
  if constexpr (kMayBeInvalid) {
    const int ignore = valid ? 0 : 1;
    if constexpr (kBytes == 16) {
      asm volatile("{ .reg .pred p; setp.ne.s32 p, %3, 0; cp.async.cg.shared.global [%0], [%1], %2, p; }" ::"r"(shared),
                   "l"(source), "n"(kBytes), "r"(ignore)
                   : "memory");
    } else {
      asm volatile("{ .reg .pred p; setp.ne.s32 p, %3, 0; cp.async.ca.shared.global [%0], [%1], %2, p; }" ::"r"(shared),
                   "l"(source), "n"(kBytes), "r"(ignore)
                   : "memory");
    }
  } else if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(source), "n"(kBytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(source), "n"(kBytes) : "memory");
  }
}
__device__ __forceinline__ void async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
#endif

// Order of CTAs; the grid is (tiles along N, tiles along M) for all of them.
enum Raster { kAlongN, kAlongM, kGroup };

// C = A B, C = alpha A B + beta C, or C = alpha A B, which does not read C.
enum Epilogue { kPlain, kScaleAndAdd, kScale };

template <Epilogue kEpilogue>
__device__ __forceinline__ float finished(float sum, const float* element, float alpha, float beta) {
  if constexpr (kEpilogue == kScaleAndAdd) {
    return alpha * sum + beta * *element;
  } else {
    return kEpilogue == kScale ? alpha * sum : sum;
  }
}

struct Tile {
  int row;
  int column;
};

template <Raster kRaster, int kGroupRows>
__device__ __forceinline__ Tile tile_of_cta() {
  const int x = static_cast<int>(blockIdx.x);
  const int y = static_cast<int>(blockIdx.y);
  if constexpr (kRaster == kAlongN) {
    return {y, x};
  } else {
    const int tiles_n = static_cast<int>(gridDim.x);
    const int tiles_m = static_cast<int>(gridDim.y);
    const int rank = y * tiles_n + x;
    if constexpr (kRaster == kAlongM) {
      return {rank % tiles_m, rank / tiles_m};
    } else {
      const int rows = kGroupRows < tiles_m ? kGroupRows : tiles_m;
      const int first = rank / (rows * tiles_n) * rows;
      const int height = tiles_m - first < rows ? tiles_m - first : rows;  // the last group may be lower
      const int inside = rank % (rows * tiles_n);
      return {first + inside % height, inside / height};
    }
  }
}

// K cut into kParts, one for each blockIdx.z: what of a matrix part `z` begins with, `leading` elements for each step
// along K; and the part of C, which lies behind those of lower z. Adding the parts up is another kernel's job.
template <int kParts, class T>
__device__ __forceinline__ T* part_of_k(T* matrix, int depth, long long leading) {
  return kParts == 1 ? matrix : matrix + static_cast<int>(blockIdx.z) * depth * leading;
}
template <int kParts, class T>
__device__ __forceinline__ T* part_of_c(T* matrix, int m, int n) {
  return kParts == 1 ? matrix : matrix + blockIdx.z * (static_cast<long long>(m) * n);
}

// The buffer after `buffer` of a ring of kStages.
template <int kStages>
__device__ __forceinline__ int next_buffer(int buffer) {
  return kStages == 2 ? buffer ^ 1 : buffer + 1 == kStages ? 0 : buffer + 1;
}

}  // namespace tile_parts
