// C = A * B in FP32 on CUDA cores, for every tile configuration of the `simt` family: the kernel whose accesses
// model/tile_access.h counts, with the parameters of model/tile_config.h.
//   - copy: load i of thread t moves elements (t + i * threads) * vec ... of the tile in the order of global memory;
//   - both shared tiles lie K-major (BK rows of BM or BN elements, plus padding); an operand that global memory holds
//     the other way round is transposed by storing its elements one by one;
//   - thread t owns rows (t / (BN / TN)) * TM ... and columns (t % (BN / TN)) * TN ... of the tile of C.
// Outside CUDA the including file provides the words of the language and the functions under __CUDACC__: host_test.cpp
// runs the kernel so.
#pragma once

#include "../common/tile_parts.cuh"

namespace tile_gemm_simt {

using namespace tile_parts;

template <int kCount>
struct alignas(4 * kCount) Floats {
  float value[kCount];
};

#ifdef __CUDACC__
// One store. Left to itself the compiler cuts it into words where it cannot tell the buffers of A and B apart (dynamic
// shared memory).
template <int kCount>
__device__ __forceinline__ void store_vector(float* to, const float (&from)[kCount]) {
  const unsigned shared = shared_address(to);
  if constexpr (kCount == 4) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "f"(from[0]), "f"(from[1]), "f"(from[2]),
                 "f"(from[3])
                 : "memory");
  } else if constexpr (kCount == 2) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(shared), "f"(from[0]), "f"(from[1]) : "memory");
  } else {
    *to = from[0];
  }
}
#endif

// One operand: kExtent is BM or BN. kTransposing: global memory holds it K-contiguous.
template <int kExtent, int kBk, int kPad, int kSwizzle, int kThreads, int kVec, bool kTransposing, bool kRagged>
struct Operand {
  static constexpr int kColumns = kTransposing ? kBk : kExtent;  // of the tile in global memory
  static constexpr int kLoads = kExtent * kBk / (kThreads * kVec);
  static constexpr int kPitch = kExtent + kPad;  // of the tile in shared memory
  static constexpr int kFloats = kBk * kPitch;
  using Vector = Floats<kVec>;
  using Stage = Vector[kLoads];

  static_assert(kVec == 1 || kVec == 2 || kVec == 4, "VEC is 1, 2 or 4");
  static_assert(kColumns % kVec == 0, "rows of the tile in global memory are whole vectors");
  static_assert(kExtent * kBk % (kThreads * kVec) == 0, "every thread copies the same number of vectors");
  static_assert(kTransposing || kPitch % kVec == 0, "padding keeps the stores aligned");
  static_assert(kSwizzle >= 0 && kSwizzle <= 3, "SWIZZLE is 0 to 3");
  static_assert(kSwizzle == 0 || (kPad == 0 && kPitch % (4 << kSwizzle) == 0), "the swizzle permutes whole blocks");

  const float* own;   // first element of the current slice that this thread copies
  long long leading;  // elements between rows in global memory
  int extent_left;    // rows (columns) of the matrix from the tile on
  int k_left;         // the same along K, from the current slice on

  __device__ __forceinline__ Operand(const float* matrix, int extent, int k, int first)
      : own(matrix), leading(kTransposing ? k : extent), extent_left(extent - first), k_left(k) {
    own += (kTransposing ? first * leading : first) + row_of(0) * leading + column_of(0);
  }

  __device__ __forceinline__ void next_slice() {
    own += kTransposing ? kBk : kBk * leading;
    k_left -= kBk;
  }

  // Offset in shared memory of element `x` of K-row `k`. Rows shorter than a bank row (32 words) take the number of the
  // bank row instead of their own, so that rows which lie side by side are permuted alike.
  static __device__ __forceinline__ int offset(int k, int x) {
    if constexpr (kSwizzle == 0) {
      return k * kPitch + x;
    } else {
      const int row = kPitch >= 32 ? k : k * kPitch / 32;
      return k * kPitch + ((x / 4) ^ (row & ((1 << kSwizzle) - 1))) * 4 + x % 4;
    }
  }

  static __device__ __forceinline__ int row_of(int load) {
    return (static_cast<int>(threadIdx.x) + load * kThreads) * kVec / kColumns;
  }
  static __device__ __forceinline__ int column_of(int load) {
    return (static_cast<int>(threadIdx.x) + load * kThreads) * kVec % kColumns;
  }
  // Where the loads of a thread lie to each other is the same for all threads if a round of loads is whole rows or a
  // part of one; said so, the compiler need not find out.
  __device__ __forceinline__ const float* source(int load) const {
    constexpr int kRound = kThreads * kVec;
    if constexpr (kRound % kColumns == 0 || kColumns % kRound == 0) {
      return own + load * kRound / kColumns * leading + load * kRound % kColumns;
    } else {
      return own + (row_of(load) - row_of(0)) * leading + (column_of(load) - column_of(0));
    }
  }
  // Rows are aligned to the vector, so it never straddles the edge of the matrix.
  __device__ __forceinline__ bool inside(int load) const {
    return row_of(load) < (kTransposing ? extent_left : k_left) &&
           column_of(load) < (kTransposing ? k_left : extent_left);
  }

  __device__ __forceinline__ void load(Stage& stage) const {
    TILE_GEMM_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      if (!kRagged || inside(i)) {
        stage[i] = *reinterpret_cast<const Vector*>(source(i));
      } else {
        stage[i] = Vector{};
      }
    }
  }

  static __device__ __forceinline__ void store(float* shared, const Stage& stage) {
    TILE_GEMM_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const int row = row_of(i);
      const int column = column_of(i);
      if constexpr (kTransposing) {
        TILE_GEMM_UNROLL
        for (int piece = 0; piece < kVec; ++piece) {
          shared[offset(column + piece, row)] = stage[i].value[piece];
        }
      } else {
        store_vector(shared + offset(row, column), stage[i].value);
      }
    }
  }

  // cp.async cannot scatter: what is transposed goes in pieces of 4 bytes.
  __device__ __forceinline__ void copy(float* shared) const {
    TILE_GEMM_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const int row = row_of(i);
      const int column = column_of(i);
      const bool valid = !kRagged || inside(i);
      if constexpr (kTransposing) {
        TILE_GEMM_UNROLL
        for (int piece = 0; piece < kVec; ++piece) {
          async_copy<4, kRagged>(shared + offset(column + piece, row), source(i) + piece, valid);
        }
      } else {
        async_copy<4 * kVec, kRagged>(shared + offset(row, column), source(i), valid);
      }
    }
  }

  // Elements first, ... of K-row `k`, in the widest loads that stay aligned in every row. Where padding aligns only
  // some rows, ptxas joins the loads of those.
  template <int kCount>
  static __device__ __forceinline__ void fragment(float (&values)[kCount], const float* shared, int k, int first) {
    constexpr int kWidth = kCount % 4 == 0 && kPitch % 4 == 0 ? 4 : kCount % 2 == 0 && kPitch % 2 == 0 ? 2 : 1;
    TILE_GEMM_UNROLL
    for (int part = 0; part < kCount; part += kWidth) {
      const auto loaded = *reinterpret_cast<const Floats<kWidth>*>(shared + offset(k, first + part));
      TILE_GEMM_UNROLL
      for (int i = 0; i < kWidth; ++i) {
        values[part + i] = loaded.value[i];
      }
    }
  }
};

template <int kBm, int kBn, int kBk, int kTm, int kTn, int kStages, int kVec, int kPadA, int kPadB, int kSwizzle,
          bool kAsync, bool kTransposedA, bool kTransposedB, Raster kRaster, int kGroupRows, bool kRagged, bool kScaled>
struct TileGemm {
  static_assert(kBm % kTm == 0 && kBn % kTn == 0, "thread tiles cover the tile");
  static constexpr int kThreadColumns = kBn / kTn;
  static constexpr int kThreads = kBm / kTm * kThreadColumns;
  static_assert(kThreads % 32 == 0 && kThreads <= 1024, "whole warps, at most 1024 threads");
  static_assert(kStages >= 1 && kStages <= 5, "STAGES is 1 to 5");

  using OperandA = Operand<kBm, kBk, kPadA, kSwizzle, kThreads, kVec, !kTransposedA, kRagged>;
  using OperandB = Operand<kBn, kBk, kPadB, kSwizzle, kThreads, kVec, kTransposedB, kRagged>;

  // All buffers of A, then all of B from the next multiple of 16 bytes on.
  static constexpr int kFloatsA = (kStages * OperandA::kFloats + 3) / 4 * 4;
  static constexpr int kFloatsB = kStages * OperandB::kFloats;
  static constexpr int kSharedBytes = 4 * (kFloatsA + kFloatsB);
  static constexpr bool kDynamic = kSharedBytes > kStaticSharedBytes;
  static_assert(kSharedBytes <= 227 * 1024, "shared memory of a CTA of compute capability 9.0");

  static __device__ __forceinline__ float* shared_a() {
    if constexpr (kDynamic) {
      return reinterpret_cast<float*>(dynamic_shared);
    } else {
      alignas(16) __shared__ float tiles[kFloatsA];
      return tiles;
    }
  }
  static __device__ __forceinline__ float* shared_b() {
    if constexpr (kDynamic) {
      return reinterpret_cast<float*>(dynamic_shared) + kFloatsA;
    } else {
      alignas(16) __shared__ float tiles[kFloatsB];
      return tiles;
    }
  }

  static __device__ __forceinline__ void multiply(float (&sums)[kTm][kTn], const float* a, const float* b, int row,
                                                  int column) {
    TILE_GEMM_UNROLL
    for (int k = 0; k < kBk; ++k) {
      float left[kTm];
      float right[kTn];
      OperandA::fragment(left, a, k, row);
      OperandB::fragment(right, b, k, column);
      TILE_GEMM_UNROLL
      for (int i = 0; i < kTm; ++i) {
        TILE_GEMM_UNROLL
        for (int j = 0; j < kTn; ++j) {
          sums[i][j] += left[i] * right[j];
        }
      }
    }
  }

  // One buffer: the slice waits in registers (or its copy is not started) until everyone is done with the last one.
  static __device__ __forceinline__ void run_single(float (&sums)[kTm][kTn], OperandA& a, OperandB& b, int slices,
                                                    int row, int column) {
    float* const tile_a = shared_a();
    float* const tile_b = shared_b();
    for (int slice = 0; slice < slices; ++slice) {
      if constexpr (kAsync) {
        __syncthreads();
        a.copy(tile_a);
        b.copy(tile_b);
        async_commit();
        async_wait<0>();
      } else {
        typename OperandA::Stage stage_a;
        typename OperandB::Stage stage_b;
        a.load(stage_a);
        b.load(stage_b);
        __syncthreads();
        OperandA::store(tile_a, stage_a);
        OperandB::store(tile_b, stage_b);
      }
      __syncthreads();
      a.next_slice();
      b.next_slice();
      multiply(sums, tile_a, tile_b, row, column);
    }
  }

  // Several buffers through registers: the next slice is loaded before the current one is multiplied and stored after;
  // the last slice is multiplied behind the loop. One barrier a slice suffices, since the buffer that is written was
  // read before the last barrier.
  static __device__ __forceinline__ void run_registers(float (&sums)[kTm][kTn], OperandA& a, OperandB& b, int slices,
                                                       int row, int column) {
    float* const tiles_a = shared_a();
    float* const tiles_b = shared_b();
    typename OperandA::Stage stage_a;
    typename OperandB::Stage stage_b;
    a.load(stage_a);
    b.load(stage_b);
    OperandA::store(tiles_a, stage_a);
    OperandB::store(tiles_b, stage_b);
    __syncthreads();
    int buffer = 0;
    for (int slice = 1; slice < slices; ++slice) {
      a.next_slice();
      b.next_slice();
      a.load(stage_a);
      b.load(stage_b);
      multiply(sums, tiles_a + buffer * OperandA::kFloats, tiles_b + buffer * OperandB::kFloats, row, column);
      buffer = next_buffer<kStages>(buffer);
      OperandA::store(tiles_a + buffer * OperandA::kFloats, stage_a);
      OperandB::store(tiles_b + buffer * OperandB::kFloats, stage_b);
      __syncthreads();
    }
    multiply(sums, tiles_a + buffer * OperandA::kFloats, tiles_b + buffer * OperandB::kFloats, row, column);
  }

  // Several buffers with cp.async: kStages - 1 slices are under way. The one barrier of a slice says both that
  // everyone's copies of it have arrived and that the buffer read last may be overwritten.
  static __device__ __forceinline__ void run_async(float (&sums)[kTm][kTn], OperandA& a, OperandB& b, int slices,
                                                   int row, int column) {
    float* const tiles_a = shared_a();
    float* const tiles_b = shared_b();
    TILE_GEMM_UNROLL
    for (int ahead = 0; ahead < kStages - 1; ++ahead) {
      if (ahead < slices) {
        a.copy(tiles_a + ahead * OperandA::kFloats);
        b.copy(tiles_b + ahead * OperandB::kFloats);
        a.next_slice();
        b.next_slice();
      }
      async_commit();
    }
    int buffer = 0;
    int filled = kStages - 1;
    for (int slice = 0; slice < slices; ++slice) {
      async_wait<kStages - 2>();
      __syncthreads();
      if (slice + kStages - 1 < slices) {
        a.copy(tiles_a + filled * OperandA::kFloats);
        b.copy(tiles_b + filled * OperandB::kFloats);
        a.next_slice();
        b.next_slice();
      }
      async_commit();  // also when nothing was copied, so that the wait counts slices
      multiply(sums, tiles_a + buffer * OperandA::kFloats, tiles_b + buffer * OperandB::kFloats, row, column);
      buffer = next_buffer<kStages>(buffer);
      filled = next_buffer<kStages>(filled);
    }
  }

  // C is stored element by element: its rows are aligned to more than one only for some layouts. Leaving the loops at
  // the edge keeps branches; a condition on each store becomes predicates, and ptxas then takes 200 registers instead
  // of 126 (128x128x8 with 8x8, two buffers).
  static __device__ __forceinline__ void write(const float (&sums)[kTm][kTn], int m, int n, float* c, int first_row,
                                               int first_column, float alpha, float beta) {
    TILE_GEMM_UNROLL
    for (int i = 0; i < kTm; ++i) {
      const int row = first_row + i;
      if (kRagged && row >= m) return;
      TILE_GEMM_UNROLL
      for (int j = 0; j < kTn; ++j) {
        const int column = first_column + j;
        if (kRagged && column >= n) break;
        float* const element = c + static_cast<long long>(row) * n + column;
        *element = kScaled ? alpha * sums[i][j] + beta * *element : sums[i][j];
      }
    }
  }

  static __device__ __forceinline__ void run(int m, int n, int k, const float* __restrict__ matrix_a,
                                             const float* __restrict__ matrix_b, float* __restrict__ matrix_c,
                                             float alpha, float beta) {
    const Tile tile = tile_of_cta<kRaster, kGroupRows>();
    const int thread = static_cast<int>(threadIdx.x);
    const int row = thread / kThreadColumns * kTm;
    const int column = thread % kThreadColumns * kTn;
    OperandA a(matrix_a, m, k, tile.row * kBm);
    OperandB b(matrix_b, n, k, tile.column * kBn);
    const int slices = kRagged ? (k + kBk - 1) / kBk : k / kBk;
    float sums[kTm][kTn] = {};
    if constexpr (kStages == 1) {
      run_single(sums, a, b, slices, row, column);
    } else if constexpr (kAsync) {
      run_async(sums, a, b, slices, row, column);
    } else {
      run_registers(sums, a, b, slices, row, column);
    }
    write(sums, m, n, matrix_c, tile.row * kBm + row, tile.column * kBn + column, alpha, beta);
  }
};

}  // namespace tile_gemm_simt
