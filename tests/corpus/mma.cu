// Tensor cores by mma.sync, fragments by ldmatrix, tiles by cp.async. A CTA of 4 warps computes 64 x 64 elements, a
// warp 32 x 32. Sizes are multiples of 64, K of 32.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

constexpr int kTile = 64;
constexpr int kDepth = 32;
constexpr int kPad = 8;

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void copy_16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}

__device__ __forceinline__ void load_matrices(unsigned (&out)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(shared_address(row)));
}

__device__ __forceinline__ void load_transposed(unsigned (&out)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(shared_address(row)));
}

/// D = A B + D with A 16 x 16, B 16 x 8.
__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, __half) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                                         __nv_bfloat16) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply(unsigned (&d)[2], const unsigned (&a)[4], unsigned b0, unsigned b1, __half) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void store_pair(float* to, const float (&d)[4], int half) {
  *reinterpret_cast<float2*>(to) = make_float2(d[2 * half], d[2 * half + 1]);
}
__device__ __forceinline__ void store_pair(__half* to, const float (&d)[4], int half) {
  *reinterpret_cast<__half2*>(to) = __floats2half2_rn(d[2 * half], d[2 * half + 1]);
}
__device__ __forceinline__ void store_pair(__nv_bfloat16* to, const float (&d)[4], int half) {
  *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(d[2 * half], d[2 * half + 1]);
}
__device__ __forceinline__ void store_pair(__half* to, const unsigned (&d)[2], int half) {
  *reinterpret_cast<unsigned*>(to) = d[half];
}

/// B is stored as K x N, or as N x K if kTransposed.
template <typename In, typename Out, typename Sum, int kStages, bool kTransposed>
__device__ __forceinline__ void mma_tile(int n, int k, const In* a, const In* b, Out* c) {
  constexpr int kRowsB = kTransposed ? kTile : kDepth;
  constexpr int kColumnsB = (kTransposed ? kDepth : kTile) + kPad;
  __shared__ __align__(16) In as[kStages][kTile][kDepth + kPad];
  __shared__ __align__(16) In bs[kStages][kRowsB][kColumnsB];
  const int t = threadIdx.x;
  const int lane = t % 32;
  const int row = blockIdx.y * kTile;
  const int column = blockIdx.x * kTile;
  const int warp_row = t / 64 * 32;
  const int warp_column = t / 32 % 2 * 32;
  const auto copy = [&](int stage, int i) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int y = t / 4 + 32 * r;
      copy_16(&as[stage][y][t % 4 * 8], a + (row + y) * k + i + t % 4 * 8);
      if (kTransposed) {
        copy_16(&bs[stage][y][t % 4 * 8], b + (column + y) * k + i + t % 4 * 8);
      } else {
        copy_16(&bs[stage][t / 8 + 16 * r][t % 8 * 8], b + (i + t / 8 + 16 * r) * n + column + t % 8 * 8);
      }
    }
  };
  const int tiles = k / kDepth;
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) {
    if (stage < tiles) {
      copy(stage, stage * kDepth);
    }
    asm volatile("cp.async.commit_group;");
  }
  Sum sums[2][4] = {};
  for (int tile = 0; tile < tiles; ++tile) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2));
    __syncthreads();
    const int next = tile + kStages - 1;
    if (next < tiles) {
      copy(next % kStages, next * kDepth);
    }
    asm volatile("cp.async.commit_group;");
    const int stage = tile % kStages;
#pragma unroll
    for (int j = 0; j < kDepth; j += 16) {
      unsigned left[2][4];
      unsigned right[2][4];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        load_matrices(left[r], &as[stage][warp_row + 16 * r + lane % 16][j + lane / 16 * 8]);
        const int first = warp_column + 16 * r;
        if (kTransposed) {
          load_matrices(right[r], &bs[stage][first + lane / 16 * 8 + lane % 8][j + lane / 8 % 2 * 8]);
        } else {
          load_transposed(right[r], &bs[stage][j + lane % 16][first + lane / 16 * 8]);
        }
      }
#pragma unroll
      for (int r = 0; r < 2; ++r) {
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          multiply(sums[r][s].d, left[r], right[s / 2][s % 2 * 2], right[s / 2][s % 2 * 2 + 1], In());
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int s = 0; s < 4; ++s) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int y = row + warp_row + 16 * r + 8 * half + lane / 4;
        store_pair(c + y * n + column + warp_column + 8 * s + lane % 4 * 2, sums[r][s].d, half);
      }
    }
  }
}

struct FloatSum {
  float d[4];
};
struct HalfSum {
  unsigned d[2];
};

}  // namespace

extern "C" __global__ void __launch_bounds__(128)
    hgemm_mma(int m, int n, int k, const __half* a, const __half* b, __half* c) {
  mma_tile<__half, __half, FloatSum, 3, false>(n, k, a, b, c);
}

/// B is stored transposed.
extern "C" __global__ void __launch_bounds__(128)
    hgemm_mma_nt(int m, int n, int k, const __half* a, const __half* b, float* c) {
  mma_tile<__half, float, FloatSum, 2, true>(n, k, a, b, c);
}

/// Sums in half precision.
extern "C" __global__ void __launch_bounds__(128)
    hgemm_mma_half(int m, int n, int k, const __half* a, const __half* b, __half* c) {
  mma_tile<__half, __half, HalfSum, 2, false>(n, k, a, b, c);
}

extern "C" __global__ void __launch_bounds__(128)
    bgemm_mma(int m, int n, int k, const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c) {
  mma_tile<__nv_bfloat16, __nv_bfloat16, FloatSum, 4, false>(n, k, a, b, c);
}

/// One warp, 16 x 8 elements, K in steps of 8; ldmatrix of one and two matrices. Sizes are multiples of 16, 8 and 8.
extern "C" __global__ void __launch_bounds__(32)
    hgemm_mma_1688(int m, int n, int k, const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half as[16][8];
  __shared__ __align__(16) __half bs[8][8];
  const int lane = threadIdx.x;
  const int row = blockIdx.y * 16;
  const int column = blockIdx.x * 8;
  float d[4] = {};
  for (int i = 0; i < k; i += 8) {
    for (int r = 0; r < 2; ++r) {
      const int y = lane / 4 + 8 * r;
      *reinterpret_cast<unsigned*>(&as[y][lane % 4 * 2]) =
          *reinterpret_cast<const unsigned*>(a + (row + y) * k + i + lane % 4 * 2);
    }
    *reinterpret_cast<unsigned*>(&bs[lane / 4][lane % 4 * 2]) =
        *reinterpret_cast<const unsigned*>(b + (i + lane / 4) * n + column + lane % 4 * 2);
    __syncwarp();
    unsigned left[2];
    unsigned right;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(left[0]), "=r"(left[1])
                 : "r"(shared_address(&as[lane % 16][0])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(right)
                 : "r"(shared_address(&bs[lane % 8][0])));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(left[0]), "r"(left[1]), "r"(right));
    __syncwarp();
  }
  for (int r = 0; r < 2; ++r) {
    store_pair(c + (row + lane / 4 + 8 * r) * n + column + lane % 4 * 2, d, r);
  }
}

/// TF32 in steps of kStep (8 or 4): a warp computes 16 x 8 elements straight from global memory.
template <int kStep>
__device__ __forceinline__ void tf32_tile(int n, int k, const float* a, const float* b, float* c) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.y * 16 + lane / 4;
  const int column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 8;
  const auto rounded = [](float value) {
    unsigned out;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out) : "f"(value));
    return out;
  };
  float d[4] = {};
  for (int i = 0; i < k; i += kStep) {
    unsigned left[4];
    unsigned right[2];
#pragma unroll
    for (int s = 0; s < kStep / 4; ++s) {
      left[2 * s] = rounded(a[row * k + i + 4 * s + lane % 4]);
      left[2 * s + 1] = rounded(a[(row + 8) * k + i + 4 * s + lane % 4]);
      right[s] = rounded(b[(i + 4 * s + lane % 4) * n + column + lane / 4]);
    }
    if (kStep == 8) {
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
          "%2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    } else {
      asm volatile(
          "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(left[0]), "r"(left[1]), "r"(right[0]));
    }
  }
  for (int r = 0; r < 2; ++r) {
    store_pair(c + (row + 8 * r) * n + column + lane % 4 * 2, d, r);
  }
}

extern "C" __global__ void tgemm_mma(int m, int n, int k, const float* a, const float* b, float* c) {
  tf32_tile<8>(n, k, a, b, c);
}

extern "C" __global__ void tgemm_mma_1684(int m, int n, int k, const float* a, const float* b, float* c) {
  tf32_tile<4>(n, k, a, b, c);
}
