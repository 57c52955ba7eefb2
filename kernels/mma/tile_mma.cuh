// C = A * B on tensor cores with mma.sync, for every tile configuration of the `mma` family: the kernel whose accesses
// model/tile_access.h counts, with the parameters of model/tile_config.h. C is FP32, as are the sums.
//   - copy: load i of thread t moves elements (t + i * threads) * vec ... of the tile in the order of global memory;
//   - shared tiles lie as the matrices do in global memory, plus padding;
//   - warp w owns rows (w / (BN / WN)) * WM ... and columns (w % (BN / WN)) * WN ... of the tile of C;
//   - fragments come by ldmatrix, transposing where rows do not run along K; 4-byte elements, which it cannot
//     transpose, then come word by word.
// Outside CUDA the including file provides the functions under __CUDACC__: host_test.cpp runs the kernel so.
#pragma once

#include "../common/tile_parts.cuh"

namespace tile_gemm_mma {

using namespace tile_parts;

// What the tensor cores take two elements (one, if TF32) of a register for.
enum Type { kBf16, kF16, kTf32 };
constexpr int bytes_of(Type type) { return type == kTf32 ? 4 : 2; }

// kBytes of a thread on their way to shared memory.
template <int kBytes>
struct alignas(kBytes) Piece {
  unsigned word[kBytes / 4];
};
template <>
struct alignas(2) Piece<2> {
  unsigned short half;
};

#ifdef __CUDACC__
// One store: left to itself the compiler may cut it up.
template <int kBytes>
__device__ __forceinline__ void store_piece(unsigned char* to, const Piece<kBytes>& from) {
  const unsigned shared = shared_address(to);
  if constexpr (kBytes == 16) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(from.word[0]), "r"(from.word[1]),
                 "r"(from.word[2]), "r"(from.word[3])
                 : "memory");
  } else if constexpr (kBytes == 8) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(shared), "r"(from.word[0]), "r"(from.word[1]) : "memory");
  } else if constexpr (kBytes == 4) {
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(shared), "r"(from.word[0]) : "memory");
  } else {
    asm volatile("st.shared.b16 [%0], %1;" ::"r"(shared), "h"(from.half) : "memory");
  }
}

// Lane l names row l % 8 of matrix l / 8 (8 rows of 16 bytes each) and gets a word of every matrix: word l % 4 of row
// l / 4, or with kTranspose elements 2 (l % 4) and 2 (l % 4) + 1 of column l / 4.
template <int kMatrices, bool kTranspose>
__device__ __forceinline__ void load_matrices(unsigned (&words)[kMatrices], const unsigned char* row) {
  const unsigned shared = shared_address(row);
  if constexpr (kMatrices == 4 && kTranspose) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(shared)
                 : "memory");
  } else if constexpr (kMatrices == 4) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(shared)
                 : "memory");
  } else if constexpr (kTranspose) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(words[0]), "=r"(words[1])
                 : "r"(shared)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(words[0]), "=r"(words[1])
                 : "r"(shared)
                 : "memory");
  }
}

// sum += a * b for a 16 x 8 tile of C, 16 (TF32: 8) deep.
template <Type kType>
__device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  if constexpr (kType == kBf16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else if constexpr (kType == kF16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

__device__ __forceinline__ void store_pair(float* to, float first, float second) {
  *reinterpret_cast<float2*>(to) = make_float2(first, second);
}
#endif

// One operand: kExtent is BM or BN. kAlongK: rows in memory run along K.
template <Type kType, int kExtent, int kBk, int kPad, int kSwizzle, int kThreads, int kVec, bool kAlongK, bool kRagged>
struct Operand {
  static constexpr int kBytes = bytes_of(kType);
  static constexpr int kRows = kAlongK ? kExtent : kBk;  // of the tile, in global and in shared memory
  static constexpr int kColumns = kAlongK ? kBk : kExtent;
  static constexpr int kLoads = kExtent * kBk / (kThreads * kVec);
  static constexpr int kPitch = (kColumns + kPad) * kBytes;  // bytes between rows in shared memory
  static constexpr int kTileBytes = kRows * kPitch;
  static constexpr int kRow = 16 / kBytes;  // elements in a row of a matrix of ldmatrix
  using Vector = Piece<kVec * kBytes>;
  using Stage = Vector[kLoads];

  static_assert(kVec * kBytes <= 16 && (kVec & (kVec - 1)) == 0, "VEC is a power of two and at most 16 bytes");
  static_assert(kColumns % kVec == 0, "rows of the tile are whole vectors");
  static_assert(kExtent * kBk % (kThreads * kVec) == 0, "every thread copies the same number of vectors");
  static_assert(kPitch % 16 == 0, "padding keeps the rows of ldmatrix aligned");
  static_assert(kSwizzle >= 0 && kSwizzle <= 3, "SWIZZLE is 0 to 3");
  static_assert(kSwizzle == 0 || (kPad == 0 && kPitch % (16 << kSwizzle) == 0), "the swizzle permutes whole blocks");

  const unsigned char* own;  // first element of the current slice that this thread copies
  long long pitch;           // bytes between rows in global memory
  int extent_left;           // rows (columns) of the matrix from the tile on
  int k_left;                // the same along K, from the current slice on

  __device__ __forceinline__ Operand(const unsigned char* matrix, int extent, int k, int first)
      : own(matrix),
        pitch(static_cast<long long>(kAlongK ? k : extent) * kBytes),
        extent_left(extent - first),
        k_left(k) {
    own +=
        (kAlongK ? first * pitch : static_cast<long long>(first) * kBytes) + row_of(0) * pitch + column_of(0) * kBytes;
  }

  __device__ __forceinline__ void next_slice() {
    own += kAlongK ? static_cast<long long>(kBk * kBytes) : kBk * pitch;
    k_left -= kBk;
  }

  // Offset in shared memory of an element. Rows shorter than a bank row (128 bytes) take the number of the bank row
  // instead of their own, so that rows which lie side by side are permuted alike.
  static __device__ __forceinline__ int offset(int row, int column) {
    if constexpr (kSwizzle == 0) {
      return row * kPitch + column * kBytes;
    } else {
      const int bank_row = kPitch >= 128 ? row : row * kPitch / 128;
      const int chunk = (column / kRow) ^ (bank_row & ((1 << kSwizzle) - 1));
      return row * kPitch + chunk * 16 + column % kRow * kBytes;
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
  __device__ __forceinline__ const unsigned char* source(int load) const {
    constexpr int kRound = kThreads * kVec;
    if constexpr (kRound % kColumns == 0 || kColumns % kRound == 0) {
      return own + load * kRound / kColumns * pitch + load * kRound % kColumns * kBytes;
    } else {
      return own + (row_of(load) - row_of(0)) * pitch + (column_of(load) - column_of(0)) * kBytes;
    }
  }
  // Rows are aligned to the vector, so it never straddles the edge of the matrix.
  __device__ __forceinline__ bool inside(int load) const {
    return row_of(load) < (kAlongK ? extent_left : k_left) && column_of(load) < (kAlongK ? k_left : extent_left);
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
  static __device__ __forceinline__ void store(unsigned char* shared, const Stage& stage) {
    TILE_GEMM_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      store_piece(shared + offset(row_of(i), column_of(i)), stage[i]);
    }
  }
  __device__ __forceinline__ void copy(unsigned char* shared) const {
    TILE_GEMM_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      async_copy<kVec * kBytes, kRagged>(shared + offset(row_of(i), column_of(i)), source(i), !kRagged || inside(i));
    }
  }

  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

  static __device__ __forceinline__ unsigned word(const unsigned char* shared, int row, int column) {
    return *reinterpret_cast<const unsigned*>(shared + offset(row, column));
  }

  // Rows (of C) first ... first + 15 of A, as deep as one product from `k` on.
  static __device__ __forceinline__ void fragment_a(unsigned (&words)[4], const unsigned char* shared, int first,
                                                    int k) {
    const int l = lane();
    if constexpr (kAlongK) {
      load_matrices<4, false>(words, shared + offset(first + l % 16, k + l / 16 * kRow));
    } else if constexpr (kBytes == 2) {
      load_matrices<4, true>(words, shared + offset(k + l / 16 * 8 + l % 8, first + l / 8 % 2 * 8));
    } else {
      TILE_GEMM_UNROLL
      for (int i = 0; i < 4; ++i) words[i] = word(shared, k + l % 4 + i / 2 * 4, first + l / 4 + i % 2 * 8);
    }
  }

  // Columns (of C) first ... of B: kBlocks (1 or 2) times 8.
  template <int kBlocks>
  static __device__ __forceinline__ void fragment_b(unsigned (*words)[2], const unsigned char* shared, int first,
                                                    int k) {
    const int l = lane();
    const int second = kBlocks == 2 ? l / 16 * 8 : 0;  // lanes of the second block
    unsigned all[2 * kBlocks];
    if constexpr (kAlongK) {
      load_matrices<2 * kBlocks, false>(all, shared + offset(first + second + l % 8, k + l / 8 % 2 * kRow));
    } else if constexpr (kBytes == 2) {
      load_matrices<2 * kBlocks, true>(all, shared + offset(k + l % 16, first + second));
    } else {
      TILE_GEMM_UNROLL
      for (int i = 0; i < 2 * kBlocks; ++i) all[i] = word(shared, k + l % 4 + i % 2 * 4, first + l / 4 + i / 2 * 8);
    }
    TILE_GEMM_UNROLL
    for (int i = 0; i < 2 * kBlocks; ++i) words[i / 2][i % 2] = all[i];
  }
};

template <Type kType, int kBm, int kBn, int kBk, int kWm, int kWn, int kStages, int kVec, int kPadA, int kPadB,
          int kSwizzle, bool kAsync, bool kTransposedA, bool kTransposedB, Raster kRaster, int kGroupRows, bool kRagged,
          Epilogue kEpilogue, int kParts>
struct TileMma {
  static_assert(kParts == 1 || (!kRagged && kEpilogue == kPlain), "parts of K are whole slices and are added up later");
  static_assert(kBm % kWm == 0 && kBn % kWn == 0, "warp tiles cover the tile");
  static constexpr int kWarpColumns = kBn / kWn;
  static constexpr int kThreads = kBm / kWm * kWarpColumns * 32;
  static constexpr int kDepth = 32 / bytes_of(kType);  // of a product
  static constexpr int kRowBlocks = kWm / 16;
  static constexpr int kColumnBlocks = kWn / 8;
  static_assert(kWm % 16 == 0 && kWn % 8 == 0 && kBk % kDepth == 0, "whole products");
  static_assert(kThreads <= 1024, "at most 1024 threads");
  static_assert(kStages >= 1 && kStages <= 5, "STAGES is 1 to 5");
  using Sums = float[kRowBlocks][kColumnBlocks][4];

  using OperandA = Operand<kType, kBm, kBk, kPadA, kSwizzle, kThreads, kVec, !kTransposedA, kRagged>;
  using OperandB = Operand<kType, kBn, kBk, kPadB, kSwizzle, kThreads, kVec, kTransposedB, kRagged>;

  // All buffers of A, then all of B.
  static constexpr int kBytesA = kStages * OperandA::kTileBytes;
  static constexpr int kBytesB = kStages * OperandB::kTileBytes;
  static constexpr int kSharedBytes = kBytesA + kBytesB;
  static constexpr bool kDynamic = kSharedBytes > kStaticSharedBytes;
  static_assert(kSharedBytes <= 227 * 1024, "shared memory of a CTA of compute capability 9.0");

  static __device__ __forceinline__ unsigned char* shared_a() {
    if constexpr (kDynamic) {
      return reinterpret_cast<unsigned char*>(dynamic_shared);
    } else {
      alignas(128) __shared__ unsigned char tiles[kBytesA];
      return tiles;
    }
  }
  static __device__ __forceinline__ unsigned char* shared_b() {
    if constexpr (kDynamic) {
      return reinterpret_cast<unsigned char*>(dynamic_shared) + kBytesA;
    } else {
      alignas(16) __shared__ unsigned char tiles[kBytesB];
      return tiles;
    }
  }

  static __device__ __forceinline__ void multiply(Sums& sums, const unsigned char* a, const unsigned char* b, int row,
                                                  int column) {
    TILE_GEMM_UNROLL
    for (int k = 0; k < kBk; k += kDepth) {
      unsigned left[kRowBlocks][4];
      unsigned right[kColumnBlocks][2];
      TILE_GEMM_UNROLL
      for (int i = 0; i < kRowBlocks; ++i) OperandA::fragment_a(left[i], a, row + 16 * i, k);
      TILE_GEMM_UNROLL
      for (int j = 0; j + 1 < kColumnBlocks; j += 2) {
        OperandB::template fragment_b<2>(right + j, b, column + 8 * j, k);
      }
      if constexpr (kColumnBlocks % 2 != 0) {
        OperandB::template fragment_b<1>(right + kColumnBlocks - 1, b, column + 8 * (kColumnBlocks - 1), k);
      }
      TILE_GEMM_UNROLL
      for (int i = 0; i < kRowBlocks; ++i) {
        TILE_GEMM_UNROLL
        for (int j = 0; j < kColumnBlocks; ++j) multiply_add<kType>(sums[i][j], left[i], right[j]);
      }
    }
  }

  // One buffer: the slice waits in registers (or its copy is not started) until everyone is done with the last one.
  static __device__ __forceinline__ void run_single(Sums& sums, OperandA& a, OperandB& b, int slices, int row,
                                                    int column) {
    unsigned char* const tile_a = shared_a();
    unsigned char* const tile_b = shared_b();
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

  // Two buffers through registers: the next slice is loaded before the current one is multiplied and stored after; the
  // last slice is multiplied behind the loop. One barrier a slice suffices, since the buffer that is written was read
  // before the last barrier.
  static __device__ __forceinline__ void run_registers(Sums& sums, OperandA& a, OperandB& b, int slices, int row,
                                                       int column) {
    unsigned char* const tiles_a = shared_a();
    unsigned char* const tiles_b = shared_b();
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
      multiply(sums, tiles_a + buffer * OperandA::kTileBytes, tiles_b + buffer * OperandB::kTileBytes, row, column);
      buffer = next_buffer<kStages>(buffer);
      OperandA::store(tiles_a + buffer * OperandA::kTileBytes, stage_a);
      OperandB::store(tiles_b + buffer * OperandB::kTileBytes, stage_b);
      __syncthreads();
    }
    multiply(sums, tiles_a + buffer * OperandA::kTileBytes, tiles_b + buffer * OperandB::kTileBytes, row, column);
  }

  // Several buffers with cp.async: kStages - 1 slices are under way. The one barrier of a slice says both that
  // everyone's copies of it have arrived and that the buffer read last may be overwritten.
  static __device__ __forceinline__ void run_async(Sums& sums, OperandA& a, OperandB& b, int slices, int row,
                                                   int column) {
    unsigned char* const tiles_a = shared_a();
    unsigned char* const tiles_b = shared_b();
    TILE_GEMM_UNROLL
    for (int ahead = 0; ahead < kStages - 1; ++ahead) {
      if (ahead < slices) {
        a.copy(tiles_a + ahead * OperandA::kTileBytes);
        b.copy(tiles_b + ahead * OperandB::kTileBytes);
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
        a.copy(tiles_a + filled * OperandA::kTileBytes);
        b.copy(tiles_b + filled * OperandB::kTileBytes);
        a.next_slice();
        b.next_slice();
      }
      async_commit();  // also when nothing was copied, so that the wait counts slices
      multiply(sums, tiles_a + buffer * OperandA::kTileBytes, tiles_b + buffer * OperandB::kTileBytes, row, column);
      buffer = next_buffer<kStages>(buffer);
      filled = next_buffer<kStages>(filled);
    }
  }

  // A lane holds two neighbours in a row, and two more eight rows below. At the edges they are stored one by one.
  static __device__ __forceinline__ void write(const Sums& sums, int m, int n, float* c, int first_row,
                                               int first_column, float alpha, float beta) {
    TILE_GEMM_UNROLL
    for (int i = 0; i < 2 * kRowBlocks; ++i) {
      const int row = first_row + 8 * i;
      if (kRagged && row >= m) return;
      TILE_GEMM_UNROLL
      for (int j = 0; j < kColumnBlocks; ++j) {
        const int column = first_column + 8 * j;
        float* const element = c + static_cast<long long>(row) * n + column;
        const float first = sums[i / 2][j][i % 2 * 2];
        const float second = sums[i / 2][j][i % 2 * 2 + 1];
        if constexpr (kRagged) {
          if (column >= n) break;
          element[0] = finished<kEpilogue>(first, element, alpha, beta);
          if (column + 1 >= n) break;
          element[1] = finished<kEpilogue>(second, element + 1, alpha, beta);
        } else {
          store_pair(element, finished<kEpilogue>(first, element, alpha, beta),
                     finished<kEpilogue>(second, element + 1, alpha, beta));
        }
      }
    }
  }

  static __device__ __forceinline__ void run(int m, int n, int k, const unsigned char* __restrict__ matrix_a,
                                             const unsigned char* __restrict__ matrix_b, float* __restrict__ matrix_c,
                                             float alpha, float beta) {
    const Tile tile = tile_of_cta<kRaster, kGroupRows>();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int row = warp / kWarpColumns * kWm;
    const int column = warp % kWarpColumns * kWn;
    constexpr long long kBytes = OperandA::kBytes;
    const int depth = k / kParts;
    OperandA a(part_of_k<kParts>(matrix_a, depth, kTransposedA ? m * kBytes : kBytes), m, k, tile.row * kBm);
    OperandB b(part_of_k<kParts>(matrix_b, depth, kTransposedB ? kBytes : n * kBytes), n, k, tile.column * kBn);
    const int slices = kRagged ? (depth + kBk - 1) / kBk : depth / kBk;
    Sums sums = {};
    if constexpr (kStages == 1) {
      run_single(sums, a, b, slices, row, column);
    } else if constexpr (kAsync) {
      run_async(sums, a, b, slices, row, column);
    } else {
      run_registers(sums, a, b, slices, row, column);
    }
    const int lane = OperandA::lane();
    write(sums, m, n, part_of_c<kParts>(matrix_c, m, n), tile.row * kBm + row + lane / 4,
          tile.column * kBn + column + lane % 4 * 2, alpha, beta);
  }
};

}  // namespace tile_gemm_mma
