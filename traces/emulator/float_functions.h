// Floating-point semantics on N lanes at once; conventions as in lane_functions.h.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "traces/emulator/half_precision.h"
#include "traces/emulator/lane_functions.h"

namespace tilesim::traces::lanes {

inline float as_float(Word bits) { return std::bit_cast<float>(bits); }
inline Word as_word(float value) { return std::bit_cast<Word>(value); }
inline double as_double(Word low, Word high) { return std::bit_cast<double>(std::uint64_t{high} << 32 | low); }

/// .FTZ: subnormal numbers are zeros of their sign.
inline float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}
/// .SAT: to [0, 1], not-a-number to 0.
inline double saturated(double value) { return value > 0 ? std::min(value, 1.0) : 0.0; }

/// sum + error, which is exact and |error| at most half a unit of the last place of `sum`, as FP32 in the direction of
/// Modifier::kRounding.
inline float round_exact(double sum, double error, unsigned rounding) {
  const auto nearest = static_cast<float>(sum);
  if (rounding == 0 || !std::isfinite(sum)) {
    return nearest;
  }
  const double beyond = sum - static_cast<double>(nearest) != 0 ? sum - static_cast<double>(nearest) : error;
  const bool down = rounding == 1 || (rounding == 3 && sum > 0);
  if (down ? beyond < 0 : beyond > 0) {
    return std::nextafter(nearest, down ? -INFINITY : INFINITY);
  }
  return nearest;
}

/// a * b + c with one rounding.
inline float fused(float a, float b, float c, unsigned rounding) {
  if (rounding == 0) {
    return std::fma(a, b, c);
  }
  const double product = double{a} * b;  // exact
  const double sum = product + c;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  return round_exact(sum, error, rounding);
}

/// FFMA, FADD and FMUL without modifiers.
template <int N>
inline void float_fma(Word* d, const Word* a, const Word* b, const Word* c) {
  for (int i = 0; i < N; ++i) {
    d[i] = as_word(std::fma(as_float(a[i]), as_float(b[i]), as_float(c[i])));
  }
}
template <int N>
inline void float_add(Word* d, const Word* a, const Word* b) {
  for (int i = 0; i < N; ++i) {
    d[i] = as_word(as_float(a[i]) + as_float(b[i]));
  }
}
template <int N>
inline void float_multiply(Word* d, const Word* a, const Word* b) {
  for (int i = 0; i < N; ++i) {
    d[i] = as_word(as_float(a[i]) * as_float(b[i]));
  }
}

/// FFMA, FADD (b = 1) and FMUL (c = -0, so that the product keeps its sign) with their modifiers.
template <int N>
inline void float_fma(Word* d, const Word* a, const Word* b, const Word* c, const Operation& op) {
  for (int i = 0; i < N; ++i) {
    float x = as_float(a[i]);
    float y = as_float(b[i]);
    float z = as_float(c[i]);
    if (op.flush) {
      x = flushed(x);
      y = flushed(y);
      z = flushed(z);
    }
    float result = fused(x, y, z, op.rounding);
    result = op.saturate ? static_cast<float>(saturated(result)) : result;
    d[i] = as_word(op.flush ? flushed(result) : result);
  }
}

/// Lanes in which `a` compares with `b` as FSETP's Modifier::kCompare says: bits 0 to 2 less, equal, greater, bit 3
/// unordered.
template <int N>
inline Word float_compare(const Word* a, const Word* b, const Operation& op) {
  return mask_of<N>([&](std::size_t i) {
    const float x = op.flush ? flushed(as_float(a[i])) : as_float(a[i]);
    const float y = op.flush ? flushed(as_float(b[i])) : as_float(b[i]);
    const unsigned is = std::isnan(x) || std::isnan(y) ? 8 : x < y ? 1 : x == y ? 2 : 4;
    return (op.compare & is) != 0;
  });
}

/// FMNMX: the smaller number where `minimum` has the lane, else the larger; the other one beside a not-a-number.
template <int N>
inline void float_minimum(Word* d, const Word* a, const Word* b, Word minimum, bool keeps_nan) {
  for (std::size_t i = 0; i < N; ++i) {
    const float x = as_float(a[i]);
    const float y = as_float(b[i]);
    const bool nan = std::isnan(x) || std::isnan(y);
    const float result = lane_bit(minimum, i) != 0 ? std::fmin(x, y) : std::fmax(x, y);
    d[i] = nan && keeps_nan ? 0x7fffffff : as_word(result);
  }
}

/// FCHK: lanes whose quotient a / b needs the slow way: operands or results near the ends of the range.
template <int N>
inline Word needs_slow_division(const Word* a, const Word* b) {
  constexpr int kFar = 100;  // short of the range of exponents by what the fast way's steps need
  return mask_of<N>([&](std::size_t i) {
    const float x = as_float(a[i]);
    const float y = as_float(b[i]);
    if (!std::isnormal(y) || !(std::isnormal(x) || x == 0)) {
      return true;
    }
    const int over = x == 0 ? 0 : std::ilogb(x);
    const int under = std::ilogb(y);
    return std::abs(over) > kFar || std::abs(under) > kFar || std::abs(over - under) > kFar;
  });
}

/// Double precision from pairs of words; fma, for sums with b = 1, for products with c = -0.
template <int N>
inline void double_fma(Word* d, Word* d_high, const Word* const a[2], const Word* const b[2], const Word* const c[2]) {
  for (int i = 0; i < N; ++i) {
    const double result =
        std::fma(as_double(a[0][i], a[1][i]), as_double(b[0][i], b[1][i]), as_double(c[0][i], c[1][i]));
    const auto bits = std::bit_cast<std::uint64_t>(result);
    d[i] = static_cast<Word>(bits);
    d_high[i] = static_cast<Word>(bits >> 32);
  }
}

/// Packed 16-bit fma, lane by lane on both halves; for sums with b = 1, for products with c = -0.
template <int N>
inline void half_fma(Word* d, const Word* a, const Word* b, const Word* c, const Operation& op) {
  const HalfType type = op.bfloat ? HalfType::kBfloat16 : HalfType::kFloat16;
  for (int i = 0; i < N; ++i) {
    Word result = 0;
    for (unsigned shift = 0; shift < 32; shift += 16) {
      const auto part = [&](Word pair) {
        return double{half_to_float(static_cast<std::uint16_t>(pair >> shift), type)};
      };
      const double value = std::fma(part(a[i]), part(b[i]), part(c[i]));
      result |= Word{to_half(op.saturate ? saturated(value) : value, type)} << shift;
    }
    d[i] = result;
  }
}

/// HADD2.F32: the sum of the low halves as one FP32 number.
template <int N>
inline void half_add_wide(Word* d, const Word* a, const Word* b, const Operation& op) {
  const HalfType type = op.bfloat ? HalfType::kBfloat16 : HalfType::kFloat16;
  for (int i = 0; i < N; ++i) {
    const auto low = [type](Word pair) { return half_to_float(static_cast<std::uint16_t>(pair), type); };
    d[i] = as_word(low(a[i]) + low(b[i]));
  }
}

/// F2FP: `a` and `b` as 16-bit numbers, a in the high half; merged: the low half of `c` there.
template <int N>
inline void pack_halves(Word* d, const Word* a, const Word* b, const Word* c, const Operation& op) {
  const HalfType type = op.bfloat ? HalfType::kBfloat16 : HalfType::kFloat16;
  const bool towards_zero = op.rounding == 3;
  for (int i = 0; i < N; ++i) {
    const Word high = op.merge ? c[i] << 16 : Word{to_half(as_float(a[i]), type, towards_zero)} << 16;
    d[i] = high | to_half(as_float(b[i]), type, towards_zero);
  }
}

/// F2F from FP32 or FP64 to either; directed rounding of FP64 to FP32 as Modifier::kRounding says.
template <int N>
inline void float_to_float(Word* d, Word* d_high, const Word* a, const Word* a_high, const Operation& op) {
  for (int i = 0; i < N; ++i) {
    const double value = op.wide ? as_double(a[i], a_high[i]) : as_float(a[i]);
    if (op.wide_result) {
      const auto bits = std::bit_cast<std::uint64_t>(value);
      d[i] = static_cast<Word>(bits);
      d_high[i] = static_cast<Word>(bits >> 32);
    } else {
      d[i] = as_word(round_exact(value, 0, op.rounding));
    }
  }
}

}  // namespace tilesim::traces::lanes
