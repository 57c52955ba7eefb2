// Operands of a product, made on the GPU from a function of row and column, and the comparison of C with the product in
// double precision: the reference needs neither the operands in memory nor their layout.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace runner {

enum class Type { kF32, kTf32, kF16, kBf16 };

constexpr __host__ __device__ int bytes_of(Type type) { return type == Type::kF16 || type == Type::kBf16 ? 2 : 4; }

constexpr unsigned kSeedA = 0x5bd1e995;
constexpr unsigned kSeedB = 0x1b873593;
constexpr unsigned kSeedC = 0xe6546b64;

// Uniform in [-1, 1): a mixing function of 32 bits in place of a generator, so that every thread can ask for any
// element.
__device__ inline float random_element(unsigned seed, int row, int column) {
  unsigned x = seed ^ static_cast<unsigned>(row) * 0x9e3779b1U ^ static_cast<unsigned>(column) * 0x85ebca77U;
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  x ^= x >> 16;
  return static_cast<float>(x >> 8) * 0x1p-23F - 1.0F;
}

// An element as the kernel sees it: the tensor core takes the upper 19 bits of a TF32 operand.
__device__ inline double seen(float value, Type type) {
  switch (type) {
    case Type::kF16:
      return __half2float(__float2half(value));
    case Type::kBf16:
      return __bfloat162float(__float2bfloat16(value));
    case Type::kTf32:
      return __uint_as_float(__float_as_uint(value) & 0xffffe000U);
    case Type::kF32:
      break;
  }
  return value;
}

__global__ void fill(void* matrix, int rows, int columns, bool transposed, Type type, unsigned seed) {
  const long long count = static_cast<long long>(rows) * columns;
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    const int row = static_cast<int>(transposed ? i % rows : i / columns);
    const int column = static_cast<int>(transposed ? i / rows : i % columns);
    const float value = random_element(seed, row, column);
    if (type == Type::kF16) {
      static_cast<__half*>(matrix)[i] = __float2half(value);
    } else if (type == Type::kBf16) {
      static_cast<__nv_bfloat16*>(matrix)[i] = __float2bfloat16(value);
    } else {
      static_cast<float*>(matrix)[i] = value;
    }
  }
}

// The elements of C that are compared: all rows and columns that are multiples of the steps. Odd steps meet every place
// of a tile whose extents are powers of two.
struct Sample {
  int rows = 0;
  int columns = 0;
  int row_step = 1;
  int column_step = 1;

  Sample() = default;
  Sample(int m, int n) {
    constexpr long long kWhole = 1 << 20;
    constexpr int kPerSide = 256;
    if (static_cast<long long>(m) * n > kWhole) {
      row_step = m / kPerSide | 1;
      column_step = n / kPerSide | 1;
    }
    rows = (m + row_step - 1) / row_step;
    columns = (n + column_step - 1) / column_step;
  }
  [[nodiscard]] __host__ __device__ int size() const { return rows * columns; }
};

// Of each element of the sample: the product, and the sum of the magnitudes of its terms.
__global__ void reference(Sample sample, int k, Type type, double* product, double* magnitude) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= sample.size()) return;
  const int row = i / sample.columns * sample.row_step;
  const int column = i % sample.columns * sample.column_step;
  double sum = 0.0;
  double absolute = 0.0;
  for (int j = 0; j < k; ++j) {
    const double term = seen(random_element(kSeedA, row, j), type) * seen(random_element(kSeedB, j, column), type);
    sum += term;
    absolute += fabs(term);
  }
  product[i] = sum;
  magnitude[i] = absolute;
}

// Largest |C - (alpha A B + beta C before)| over the sum of magnitudes, as bits of a float (order is that of the
// numbers); `parts` products lie behind each other and count together.
__global__ void compare(Sample sample, int m, int n, int parts, const float* c, const double* product,
                        const double* magnitude, double alpha, double beta, unsigned* worst) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= sample.size()) return;
  const int row = i / sample.columns * sample.row_step;
  const int column = i % sample.columns * sample.column_step;
  double found = 0.0;
  for (int part = 0; part < parts; ++part) {
    found += c[(static_cast<long long>(part) * m + row) * n + column];
  }
  const double before = beta == 0.0 ? 0.0 : beta * random_element(kSeedC, row, column);
  const double error = fabs(found - (alpha * product[i] + before)) / (fabs(alpha) * magnitude[i] + fabs(before));
  constexpr unsigned kInfinity = 0x7f800000;
  atomicMax(worst, error == error ? __float_as_uint(static_cast<float>(error)) : kInfinity);
}

// Elements that are still NaN, as the poison was: in all of C, so that no tile is missed.
__global__ void count_unwritten(const float* c, long long count, unsigned* unwritten) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  unsigned own = 0;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    own += c[i] == c[i] ? 0 : 1;
  }
  if (own > 0) atomicAdd(unwritten, own);
}

}  // namespace runner
