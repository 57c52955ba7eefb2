// C = A * B in FP32 on CUDA cores, for every tile configuration of the `simt` family: the kernel whose accesses
// model/tile_access.h counts, with the parameters of model/tile_config.h.
//   - copy: load i of thread t moves elements (t + i * threads) * vec ... of the tile in the order of global memory;
//   - both shared tiles lie K-major (BK rows of BM or BN elements, plus padding); an operand that global memory holds
//     the other way round is transposed by storing its elements one by one;
//   - thread t owns rows (t / (BN / TN)) * TM ... and columns (t % (BN / TN)) * TN ... of the tile of C;
//     with warp tiles (WM, WN not 0) warps lie so over the tile of C, and lanes over that of their warp.
// COPY=direct: no shared memory; every thread reads what it multiplies from global memory, element by element.
// Outside CUDA the including file provides the words of the language and the functions under __CUDACC__: host_test.cpp
// runs the kernel so.
#pragma once

#include <type_traits>

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

  const float* matrix;
  int extent;  // rows of A, columns of B
  int depth;   // K
  int first;   // row (column) that the tile begins with

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
  // Row and column of the matrix, as global memory holds it, that load `load` of the slice from `k` on begins with.
  __device__ __forceinline__ int source_row(int load, int k) const { return (kTransposing ? first : k) + row_of(load); }
  __device__ __forceinline__ int source_column(int load, int k) const {
    return (kTransposing ? k : first) + column_of(load);
  }
  __device__ __forceinline__ const float* source(int load, int k) const {
    const long long leading = kTransposing ? depth : extent;
    return matrix + source_row(load, k) * leading + source_column(load, k);
  }
  // Rows are aligned to the vector, so it never straddles the edge of the matrix.
  __device__ __forceinline__ bool inside(int load, int k) const {
    return source_row(load, k) < (kTransposing ? extent : depth) &&
           source_column(load, k) < (kTransposing ? depth : extent);
  }

  __device__ __forceinline__ void load(Stage& stage, int k) const {
    TILE_GEMM_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      if (!kRagged || inside(i, k)) {
        stage[i] = *reinterpret_cast<const Vector*>(source(i, k));
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
  __device__ __forceinline__ void copy(float* shared, int k) const {
    TILE_GEMM_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      const int row = row_of(i);
      const int column = column_of(i);
      const bool valid = !kRagged || inside(i, k);
      if constexpr (kTransposing) {
        TILE_GEMM_UNROLL
        for (int piece = 0; piece < kVec; ++piece) {
          async_copy<4, kRagged>(shared + offset(column + piece, row), source(i, k) + piece, valid);
        }
      } else {
        async_copy<4 * kVec, kRagged>(shared + offset(row, column), source(i, k), valid);
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

// Which part of the tile of C a thread owns. kWm 0: no warp tiles.
template <int kBm, int kBn, int kTm, int kTn, int kWm, int kWn>
struct Threads {
  static_assert(kBm % kTm == 0 && kBn % kTn == 0, "thread tiles cover the tile");
  static constexpr int kColumns = kBn / kTn;
  static constexpr int kCount = kBm / kTm * kColumns;
  static_assert(kCount % 32 == 0 && kCount <= 1024, "whole warps, at most 1024 threads");
  static constexpr bool kWarpTiles = kWm != 0;
  static constexpr int kLanes = 32;
  static constexpr int kWarpColumns = kWarpTiles ? kBn / kWn : 1;
  static constexpr int kLaneColumns = kWarpTiles ? kWn / kTn : 1;
  static_assert(!kWarpTiles || (kBm % kWm == 0 && kBn % kWn == 0), "warp tiles cover the tile");
  static_assert(!kWarpTiles || (kWm % kTm == 0 && kWn % kTn == 0 && kWm / kTm * kLaneColumns == kLanes),
                "the thread tiles of 32 lanes cover a warp tile");

  static __device__ __forceinline__ int row(int thread) {
    if constexpr (kWarpTiles) {
      return thread / kLanes / kWarpColumns * kWm + thread % kLanes / kLaneColumns * kTm;
    } else {
      return thread / kColumns * kTm;
    }
  }
  static __device__ __forceinline__ int column(int thread) {
    if constexpr (kWarpTiles) {
      return thread / kLanes % kWarpColumns * kWn + thread % kLanes % kLaneColumns * kTn;
    } else {
      return thread % kColumns * kTn;
    }
  }
};

// What the CTA multiplies: both matrices (the part of K begins with them), problem and first row and column of its
// tile.
struct Factors {
  const float* a;
  const float* b;
  int m;
  int n;
  int k;
  int depth;  // of the part of K
  int row;
  int column;
};

// Sums of a thread over slices that lie in shared memory.
template <int kBm, int kBn, int kBk, int kTm, int kTn, int kThreads, int kStages, int kVec, int kPadA, int kPadB,
          int kSwizzle, bool kAsync, bool kTransposedA, bool kTransposedB, bool kRagged>
struct SharedSlices {
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
  static __device__ __forceinline__ void run_single(float (&sums)[kTm][kTn], const OperandA& a, const OperandB& b,
                                                    int depth, int row, int column) {
    float* const tile_a = shared_a();
    float* const tile_b = shared_b();
    for (int k = 0; k < depth; k += kBk) {
      if constexpr (kAsync) {
        __syncthreads();
        a.copy(tile_a, k);
        b.copy(tile_b, k);
        async_commit();
        async_wait<0>();
      } else {
        typename OperandA::Stage stage_a;
        typename OperandB::Stage stage_b;
        a.load(stage_a, k);
        b.load(stage_b, k);
        __syncthreads();
        OperandA::store(tile_a, stage_a);
        OperandB::store(tile_b, stage_b);
      }
      __syncthreads();
      multiply(sums, tile_a, tile_b, row, column);
    }
  }

  // Several buffers through registers: the next slice is loaded before the current one is multiplied and stored after;
  // the last slice is multiplied behind the loop. One barrier a slice suffices, since the buffer that is written was
  // read before the last barrier.
  static __device__ __forceinline__ void run_registers(float (&sums)[kTm][kTn], const OperandA& a, const OperandB& b,
                                                       int depth, int row, int column) {
    float* const tiles_a = shared_a();
    float* const tiles_b = shared_b();
    typename OperandA::Stage stage_a;
    typename OperandB::Stage stage_b;
    a.load(stage_a, 0);
    b.load(stage_b, 0);
    OperandA::store(tiles_a, stage_a);
    OperandB::store(tiles_b, stage_b);
    __syncthreads();
    int buffer = 0;
    for (int k = kBk; k < depth; k += kBk) {
      a.load(stage_a, k);
      b.load(stage_b, k);
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
  static __device__ __forceinline__ void run_async(float (&sums)[kTm][kTn], const OperandA& a, const OperandB& b,
                                                   int depth, int row, int column) {
    float* const tiles_a = shared_a();
    float* const tiles_b = shared_b();
    TILE_GEMM_UNROLL
    for (int ahead = 0; ahead < kStages - 1; ++ahead) {
      if (ahead * kBk < depth) {
        a.copy(tiles_a + ahead * OperandA::kFloats, ahead * kBk);
        b.copy(tiles_b + ahead * OperandB::kFloats, ahead * kBk);
      }
      async_commit();
    }
    int buffer = 0;
    int filled = kStages - 1;
    for (int k = 0; k < depth; k += kBk) {
      async_wait<kStages - 2>();
      __syncthreads();
      if (k + (kStages - 1) * kBk < depth) {
        a.copy(tiles_a + filled * OperandA::kFloats, k + (kStages - 1) * kBk);
        b.copy(tiles_b + filled * OperandB::kFloats, k + (kStages - 1) * kBk);
      }
      async_commit();  // also when nothing was copied, so that the wait counts slices
      multiply(sums, tiles_a + buffer * OperandA::kFloats, tiles_b + buffer * OperandB::kFloats, row, column);
      buffer = next_buffer<kStages>(buffer);
      filled = next_buffer<kStages>(filled);
    }
  }

  static __device__ __forceinline__ void sum(float (&sums)[kTm][kTn], const Factors& of, int row, int column) {
    const OperandA a{of.a, of.m, of.k, of.row};
    const OperandB b{of.b, of.n, of.k, of.column};
    if constexpr (kStages == 1) {
      run_single(sums, a, b, of.depth, row, column);
    } else if constexpr (kAsync) {
      run_async(sums, a, b, of.depth, row, column);
    } else {
      run_registers(sums, a, b, of.depth, row, column);
    }
  }
};

// One operand of COPY=direct. kCount: how many elements of it a thread multiplies.
template <int kCount, bool kAlongK, bool kRagged>
struct DirectOperand {
  const float* matrix;
  int extent;  // rows of A, columns of B
  int depth;   // K
  int first;   // row (column) that the thread begins with

  // Its elements at `k`; zeros beyond the edge.
  __device__ __forceinline__ void load(float (&values)[kCount], int k) const {
    TILE_GEMM_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const long long row = kAlongK ? first + i : k;
      const float* const element = matrix + row * (kAlongK ? depth : extent) + (kAlongK ? k : first + i);
      values[i] = !kRagged || first + i < extent ? *element : 0.0F;
    }
  }
};

// Sums of a thread that reads its factors from global memory, kBk steps of K a trip.
template <int kBk, int kTm, int kTn, bool kTransposedA, bool kTransposedB, bool kRagged>
struct DirectReads {
  using OperandA = DirectOperand<kTm, !kTransposedA, kRagged>;
  using OperandB = DirectOperand<kTn, kTransposedB, kRagged>;

  static __device__ __forceinline__ void step(float (&sums)[kTm][kTn], const OperandA& a, const OperandB& b, int k) {
    float left[kTm];
    float right[kTn];
    a.load(left, k);
    b.load(right, k);
    TILE_GEMM_UNROLL
    for (int i = 0; i < kTm; ++i) {
      TILE_GEMM_UNROLL
      for (int j = 0; j < kTn; ++j) {
        sums[i][j] += left[i] * right[j];
      }
    }
  }

  static __device__ __forceinline__ void sum(float (&sums)[kTm][kTn], const Factors& of, int row, int column) {
    const OperandA a{of.a, of.m, of.k, of.row + row};
    const OperandB b{of.b, of.n, of.k, of.column + column};
    const int whole = kRagged ? of.depth - of.depth % kBk : of.depth;
    TILE_GEMM_ONE_BY_ONE
    for (int k = 0; k < whole; k += kBk) {
      TILE_GEMM_UNROLL
      for (int i = 0; i < kBk; ++i) step(sums, a, b, k + i);
    }
    if constexpr (kRagged) {
      TILE_GEMM_ONE_BY_ONE
      for (int k = whole; k < of.depth; ++k) step(sums, a, b, k);
    }
  }
};

enum Copy { kRegisters, kAsynchronous, kDirect };

template <int kBm, int kBn, int kBk, int kTm, int kTn, int kWm, int kWn, int kStages, int kVec, int kPadA, int kPadB,
          int kSwizzle, Copy kCopy, bool kTransposedA, bool kTransposedB, Raster kRaster, int kGroupRows, bool kRagged,
          Epilogue kEpilogue, int kParts>
struct TileGemm {
  static_assert(kParts == 1 || (!kRagged && kEpilogue == kPlain), "parts of K are whole slices and are added up later");
  static_assert(kCopy != kDirect || (kStages == 1 && kVec == 1 && kPadA == 0 && kPadB == 0 && kSwizzle == 0),
                "what is not copied has no buffers, vectors, padding or swizzle");
  using ThreadTiles = Threads<kBm, kBn, kTm, kTn, kWm, kWn>;
  static constexpr int kThreads = ThreadTiles::kCount;
  using Sums = std::conditional_t<kCopy == kDirect, DirectReads<kBk, kTm, kTn, kTransposedA, kTransposedB, kRagged>,
                                  SharedSlices<kBm, kBn, kBk, kTm, kTn, kThreads, kStages, kVec, kPadA, kPadB, kSwizzle,
                                               kCopy == kAsynchronous, kTransposedA, kTransposedB, kRagged>>;

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
        *element = finished<kEpilogue>(sums[i][j], element, alpha, beta);
      }
    }
  }

  static __device__ __forceinline__ void run(int m, int n, int k, const float* __restrict__ matrix_a,
                                             const float* __restrict__ matrix_b, float* __restrict__ matrix_c,
                                             float alpha, float beta) {
    const Tile tile = tile_of_cta<kRaster, kGroupRows>();
    const int thread = static_cast<int>(threadIdx.x);
    const int row = ThreadTiles::row(thread);
    const int column = ThreadTiles::column(thread);
    const int depth = k / kParts;
    float sums[kTm][kTn] = {};
    Sums::sum(
        sums,
        {part_of_k<kParts>(matrix_a, depth, kTransposedA ? m : 1),
         part_of_k<kParts>(matrix_b, depth, kTransposedB ? 1 : n), m, n, k, depth, tile.row * kBm, tile.column * kBn},
        row, column);
    write(sums, m, n, part_of_c<kParts>(matrix_c, m, n), tile.row * kBm + row, tile.column * kBn + column, alpha, beta);
  }
};

}  // namespace tile_gemm_simt
