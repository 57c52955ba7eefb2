// The 16-bit floating-point formats: to and from FP32, of which each of their values is one.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tilesim::traces {

enum class HalfType : std::uint8_t { kFloat16, kBfloat16 };

/// Exact.
inline float float16_to_float(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} << 16 & 0x80000000U;
  const std::uint32_t exponent = bits >> 10 & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0) {
    const float value = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t wide = exponent == 0x1f ? 0xffU : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}
inline float bfloat16_to_float(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
inline float half_to_float(std::uint16_t bits, HalfType type) {
  return type == HalfType::kFloat16 ? float16_to_float(bits) : bfloat16_to_float(bits);
}

/// To the nearest value, ties to even, or towards zero; overflow gives infinity, or the largest number if towards zero.
/// For a sum, product or fused product of 16-bit values that was computed in double this rounds correctly, but for
/// bfloat16 sums that lie on a tie up to an addend 2^45 times smaller.
inline std::uint16_t to_half(double value, HalfType type, bool towards_zero = false) {
  const bool wide_fraction = type == HalfType::kFloat16;
  const int fraction_bits = wide_fraction ? 10 : 7;
  const int lowest_exponent = wide_fraction ? -14 : -126;
  const int highest_exponent = wide_fraction ? 15 : 127;
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const auto infinity = static_cast<std::uint16_t>((2 * highest_exponent + 1) << fraction_bits);
  if (std::isnan(value)) {
    return 0x7fff;
  }
  const double magnitude = std::abs(value);
  if (std::isinf(magnitude) || magnitude == 0) {
    return static_cast<std::uint16_t>(magnitude == 0 ? sign : sign | infinity);
  }
  int exponent = 0;
  static_cast<void>(std::frexp(magnitude, &exponent));  // magnitude < 2^exponent
  const int unit = std::max(exponent - 1, lowest_exponent) - fraction_bits;
  const double scaled = std::ldexp(magnitude, -unit);
  const auto whole = static_cast<std::uint32_t>(towards_zero ? std::trunc(scaled) : std::nearbyint(scaled));
  // Encodings follow each other: a carry out of the fraction raises the exponent.
  const auto biased = static_cast<std::uint32_t>(unit + fraction_bits - lowest_exponent);
  const std::uint32_t bits = (biased << fraction_bits) + whole;
  if (bits >= infinity) {
    return static_cast<std::uint16_t>(sign | (towards_zero ? infinity - 1 : infinity));
  }
  return static_cast<std::uint16_t>(sign | bits);
}

}  // namespace tilesim::traces
