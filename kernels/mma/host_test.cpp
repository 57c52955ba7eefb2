// Runs the kernel of tile_mma.cuh on the CPU and compares C with a plain triple loop: `host-test` builds this for a set
// of configurations. ldmatrix and mma.sync are done by their definition in the PTX manual. What it cannot show: reads
// of neighbours that happen to be mapped, and the rounding of the tensor cores.
#include <algorithm>
#include <cstdio>

#include "../common/host_cta.h"

namespace tile_gemm_mma {

template <class Piece>
void store_piece(unsigned char* to, const Piece& from) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(from) != 0) std::abort();
  std::memcpy(to, &from, sizeof(from));
}

inline int lane() { return static_cast<int>(threadIdx.x % host_cta::kWarpSize); }

template <int kMatrices, bool kTranspose>
void load_matrices(unsigned (&words)[kMatrices], const unsigned char* row) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0) std::abort();
  const auto rows = host_cta::exchange(row);
  for (int matrix = 0; matrix < kMatrices; ++matrix) {
    for (int half = 0; half < 2; ++half) {
      const int r = kTranspose ? lane() % 4 * 2 + half : lane() / 4;
      const int c = kTranspose ? lane() / 4 : lane() % 4 * 2 + half;
      const auto index = static_cast<std::size_t>(8 * matrix + r);
      std::memcpy(reinterpret_cast<unsigned char*>(&words[matrix]) + 2 * half, rows[index] + 2 * c, 2);
    }
  }
}

inline void store_pair(float* to, float first, float second) {
  if (reinterpret_cast<std::uintptr_t>(to) % 8 != 0) std::abort();
  to[0] = first;
  to[1] = second;
}

// Element `index` of a register, as a number.
template <int kType>
float element(unsigned word, int index);

struct Operands {
  unsigned a[4];
  unsigned b[2];
};
template <int kType>
void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  Operands own;
  std::copy_n(a, 4, own.a);
  std::copy_n(b, 2, own.b);
  const auto all = host_cta::exchange(own);
  constexpr int kPerWord = kType == 2 ? 1 : 2;  // kTf32
  for (int i = 0; i < 4; ++i) {
    const int row = lane() / 4 + i / 2 * 8;
    const int column = lane() % 4 * 2 + i % 2;
    for (int k = 0; k < 8 * kPerWord; ++k) {
      const auto quarter = static_cast<std::size_t>(k / kPerWord % 4);
      const int half = k / (4 * kPerWord);
      const Operands& of_a = all[static_cast<std::size_t>(row % 8 * 4) + quarter];
      const Operands& of_b = all[static_cast<std::size_t>(column * 4) + quarter];
      sum[i] += element<kType>(of_a.a[row / 8 + 2 * half], k % kPerWord) * element<kType>(of_b.b[half], k % kPerWord);
    }
  }
}

}  // namespace tile_gemm_mma

#include "tile_mma.cuh"

using Kernel =
    tile_gemm_mma::TileMma<tile_gemm_mma::TILE_TYPE, TILE_BM, TILE_BN, TILE_BK, TILE_WM, TILE_WN, TILE_STAGES, TILE_VEC,
                           TILE_PAD_A, TILE_PAD_B, TILE_SWIZZLE, (TILE_ASYNC != 0), (TILE_TRANSPOSED_A != 0),
                           (TILE_TRANSPOSED_B != 0), tile_parts::TILE_RASTER, TILE_GROUP, (TILE_RAGGED != 0),
                           static_cast<tile_parts::Epilogue>(TILE_EPILOGUE), TILE_SPLIT_K>;

namespace {

constexpr int kBytes = tile_gemm_mma::bytes_of(tile_gemm_mma::TILE_TYPE);

// Small whole numbers are exact in all types, whose sums do not depend on the order.
unsigned encoded(int value) {
  const auto number = static_cast<float>(value);
  unsigned bits = 0;
  std::memcpy(&bits, &number, sizeof(bits));
  if (tile_gemm_mma::TILE_TYPE != tile_gemm_mma::kF16) return kBytes == 2 ? bits >> 16 : bits;
  return value == 0 ? 0 : (bits >> 31 << 15) | (((bits >> 23 & 0xffU) - 112U) << 10) | (bits >> 13 & 0x3ffU);
}

}  // namespace

template <int kType>
float tile_gemm_mma::element(unsigned word, int index) {
  unsigned bits = kType == kTf32 ? word : word >> (16 * index) & 0xffffU;
  if (kType == kBf16) bits <<= 16;
  if (kType == kF16 && bits != 0)
    bits = (bits >> 15 << 31) | (((bits >> 10 & 0x1fU) + 112U) << 23) | (bits & 0x3ffU) << 13;
  float number = 0.0F;
  std::memcpy(&number, &bits, sizeof(number));
  return number;
}

namespace {

std::vector<int> random_numbers(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  for (int& value : numbers) value = std::rand() % 17 - 8;
  return numbers;
}

// A matrix in memory that is aligned to 16 bytes and ends with it.
std::vector<unsigned char> matrix_of(const std::vector<int>& numbers) {
  std::vector<unsigned char> matrix(numbers.size() * kBytes);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const unsigned bits = encoded(numbers[i]);
    std::memcpy(matrix.data() + i * kBytes, &bits, kBytes);
  }
  return matrix;
}

bool check(int m, int n, int k) {
  const std::vector<int> a = random_numbers(m * k);
  const std::vector<int> b = random_numbers(k * n);
  const std::vector<unsigned char> stored_a = matrix_of(a);
  const std::vector<unsigned char> stored_b = matrix_of(b);
  const std::vector<int> numbers = random_numbers(TILE_SPLIT_K * m * n);
  const std::vector<float> before(numbers.begin(), numbers.end());
  std::vector<float> c = before;
  const float alpha = TILE_EPILOGUE ? 2.0F : 1.0F;
  const float beta = TILE_EPILOGUE == 1 ? 3.0F : 0.0F;
  gridDim = {static_cast<unsigned>((n + TILE_BN - 1) / TILE_BN), static_cast<unsigned>((m + TILE_BM - 1) / TILE_BM),
             TILE_SPLIT_K};
  host_cta::body = [&] { Kernel::run(m, n, k, stored_a.data(), stored_b.data(), c.data(), alpha, beta); };
  for (unsigned cta = 0; cta < gridDim.x * gridDim.y * gridDim.z; ++cta) {
    blockIdx = {cta % gridDim.x, cta / gridDim.x % gridDim.y, cta / gridDim.x / gridDim.y};
    // What an earlier CTA left must not be taken for this one's: NaN in every type.
    std::memset(Kernel::shared_a(), 0xff, Kernel::kBytesA);
    std::memset(Kernel::shared_b(), 0xff, Kernel::kBytesB);
    host_cta::run_cta();
  }
  int wrong = 0;
  const int depth = k / TILE_SPLIT_K;
  for (int line = 0; line < TILE_SPLIT_K * m; ++line) {
    const int row = line % m;
    const int first = line / m * depth;
    for (int column = 0; column < n; ++column) {
      int sum = 0;
      for (int i = first; i < first + depth; ++i) {
        const int of_a = TILE_TRANSPOSED_A ? i * m + row : row * k + i;
        const int of_b = TILE_TRANSPOSED_B ? column * k + i : i * n + column;
        sum += a[static_cast<std::size_t>(of_a)] * b[static_cast<std::size_t>(of_b)];
      }
      const auto at = static_cast<std::size_t>(line * n + column);
      const float expected = alpha * static_cast<float>(sum) + beta * before[at];
      if (!(c[at] == expected)) ++wrong;
    }
  }
  if (wrong > 0) std::printf("%dx%dx%d: %d elements of C are wrong\n", m, n, k, wrong);
  return wrong == 0;
}

}  // namespace

int main() {
  host_cta::fibers.resize(Kernel::kThreads);
  bool good = check(2 * TILE_BM, 2 * TILE_BN, 5 * TILE_SPLIT_K * TILE_BK) &&
              check(TILE_BM, 3 * TILE_BN, 2 * TILE_SPLIT_K * TILE_BK);
  if (TILE_RAGGED) {
    constexpr int kVec = TILE_VEC;
    good = good && check(TILE_BM + 3 * kVec, 2 * TILE_BN - kVec, 3 * TILE_BK + kVec) && check(kVec, kVec, kVec) &&
           check(2 * TILE_BM - kVec, TILE_BN / 2 / kVec * kVec, 2 * TILE_BK - kVec) && check(4 * kVec, 4 * kVec, 0);
  }
  return good ? 0 : 1;
}
