#include "traces/emulator/matrix.h"

#include <algorithm>
#include <cmath>

#include "traces/emulator/half_precision.h"

namespace tilesim::traces {
namespace {

using Type = MatrixOperation::Type;

constexpr std::size_t kRows = 16;
constexpr std::size_t kColumns = 8;
constexpr std::size_t kMostDepth = 16;
constexpr int kKeptBits = 25;  // under the largest exponent: FP32's 24 and one more

struct Matrices {
  std::array<std::array<double, kMostDepth>, kRows> a{};
  std::array<std::array<double, kMostDepth>, kColumns> b{};  // by column
  std::array<std::array<double, kColumns>, kRows> c{};
};

// A lane's place in a fragment: a quad of lanes shares a row of A, C, D and a column of B.
struct Place {
  explicit Place(std::size_t lane) : group(lane / 4), member(lane % 4) {}
  std::size_t group;
  std::size_t member;
};

std::uint32_t word(const LaneRow* rows, std::uint16_t row, std::size_t lane) {
  return row == kNoDestination ? 0 : rows[row].lane[lane];
}

float half_of(std::uint32_t pair, std::size_t which, Type type) {
  const auto bits = static_cast<std::uint16_t>(pair >> (16 * which));
  return type == Type::kBfloat16 ? bfloat16_to_float(bits) : float16_to_float(bits);
}

// TF32 reads the upper 19 bits of a register.
float tf32_of(std::uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000U); }

void unpack_inputs(const MatrixOperation& op, const LaneRow* rows, Matrices& out) {
  const bool single = op.type == Type::kTf32;
  const std::size_t per_register = single ? 1 : 2;
  const std::size_t half_depth = 4 * per_register;  // elements of K that a quad's registers hold side by side
  const std::size_t parts = op.depth / half_depth;
  for (std::size_t lane = 0; lane < isa::kWarpSize; ++lane) {
    const Place place(lane);
    for (std::size_t part = 0; part < parts; ++part) {
      for (std::size_t i = 0; i < per_register; ++i) {
        const std::size_t k = part * half_depth + place.member * per_register + i;
        const auto value = [&](std::uint32_t bits) { return single ? tf32_of(bits) : half_of(bits, i, op.type); };
        out.a[place.group][k] = value(word(rows, op.a[2 * part], lane));
        out.a[place.group + 8][k] = value(word(rows, op.a[2 * part + 1], lane));
        out.b[place.group][k] = value(word(rows, op.b[part], lane));
      }
    }
  }
}

void unpack_sums(const MatrixOperation& op, const LaneRow* rows, Matrices& out) {
  for (std::size_t lane = 0; lane < isa::kWarpSize; ++lane) {
    const Place place(lane);
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t bits = word(rows, op.c[op.half_accumulator ? i / 2 : i], lane);
      const float value = op.half_accumulator ? half_of(bits, i % 2, Type::kFloat16) : std::bit_cast<float>(bits);
      out.c[place.group + i / 2 * 8][2 * place.member + i % 2] = value;
    }
  }
}

void pack_sums(const MatrixOperation& op, const Matrices& in, LaneRow* rows) {
  for (std::size_t lane = 0; lane < isa::kWarpSize; ++lane) {
    const Place place(lane);
    const auto result = [&](std::size_t i) { return in.c[place.group + i / 2 * 8][2 * place.member + i % 2]; };
    for (std::size_t i = 0; i < (op.half_accumulator ? 2U : 4U); ++i) {
      if (op.d[i] == kNoDestination) {
        continue;
      }
      if (op.half_accumulator) {
        const std::uint32_t low = to_half(result(2 * i), HalfType::kFloat16);
        const std::uint32_t high = to_half(result(2 * i + 1), HalfType::kFloat16);
        rows[op.d[i]].lane[lane] = high << 16 | low;
      } else {
        rows[op.d[i]].lane[lane] = std::bit_cast<std::uint32_t>(static_cast<float>(result(i)));
      }
    }
  }
}

double cut_to_float(double value) {
  const auto nearest = static_cast<float>(value);
  return std::abs(static_cast<double>(nearest)) > std::abs(value) ? std::nextafter(nearest, 0.0F) : nearest;
}

// One block: the addends cut off at a common bit, added exactly.
double fused_sum(const double* a, const double* b, std::size_t count, double sum) {
  std::array<double, kMostDepth + 1> addends;
  addends[0] = sum;
  double largest = std::abs(sum);
  bool finite = std::isfinite(sum);
  double plain = sum;  // what infinities and not-a-numbers give
  for (std::size_t i = 0; i < count; ++i) {
    addends[i + 1] = a[i] * b[i];
    plain += addends[i + 1];
    finite = finite && std::isfinite(addends[i + 1]);
    largest = std::max(largest, std::abs(addends[i + 1]));
  }
  if (!finite || largest == 0) {
    return plain;
  }
  int exponent = 0;
  static_cast<void>(std::frexp(largest, &exponent));
  const int unit = exponent - kKeptBits;
  double total = 0;
  for (std::size_t i = 0; i <= count; ++i) {
    total += std::trunc(std::ldexp(addends[i], -unit));  // integers below 2^30: exact
  }
  return std::ldexp(total, unit);
}

std::size_t block_depth(Type type) { return type == Type::kTf32 ? 4 : 8; }

}  // namespace

void multiply_matrices(const MatrixOperation& operation, LaneRow* rows) {
  Matrices matrices;
  unpack_inputs(operation, rows, matrices);
  unpack_sums(operation, rows, matrices);
  const std::size_t block = block_depth(operation.type);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kColumns; ++j) {
      double sum = matrices.c[i][j];
      for (std::size_t k = 0; k < operation.depth; k += block) {
        sum = fused_sum(&matrices.a[i][k], &matrices.b[j][k], block, sum);
        sum = operation.half_accumulator ? half_to_float(to_half(sum, HalfType::kFloat16), HalfType::kFloat16)
                                         : cut_to_float(sum);
      }
      matrices.c[i][j] = sum;
    }
  }
  pack_sums(operation, matrices, rows);
}

double matrix_error_bound(int k, bool half_accumulator) {
  constexpr int kShortestBlock = 4;
  const double steps = (k + kShortestBlock - 1) / kShortestBlock;
  return steps * (half_accumulator ? 0x1p-11 : (kShortestBlock + 2) * 0x1p-23);
}

}  // namespace tilesim::traces
