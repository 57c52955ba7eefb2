// Semantics of integer instructions on bits, and of those whose lanes look at each other.
#pragma once

#include "traces/emulator/lane_functions.h"

namespace tilesim::traces::lanes {

/// SHFL (PTX ISA, shfl.sync): `mode` is Modifier::kShuffle, `bound` holds the segment mask in bits 8 to 12 and the
/// clamp in 0 to 4. Returns the lanes whose partner is in range; the others read their own value.
inline Word shuffle(Word* d, const Word* a, const Word* partner, const Word* bound, unsigned mode) {
  return mask_of<isa::kWarpSize>([&](std::size_t i) {
    const auto lane = static_cast<Word>(i);
    const Word segment = bound[i] >> 8 & 0x1f;
    const Word clamp = bound[i] & 0x1f;
    const Word lowest = lane & segment;
    const Word last = lowest | (clamp & ~segment);
    const Word distance = partner[i] & 0x1f;
    const Word from = mode == 0   ? lowest | (distance & ~segment)
                      : mode == 1 ? lane - distance
                      : mode == 2 ? lane + distance
                                  : lane ^ distance;
    const bool inside = mode == 1 ? static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(last) : from <= last;
    d[i] = a[inside ? from & 0x1f : i];
    return inside;
  });
}

/// MOVM.16.MT88: an 8 x 8 matrix of 16 bits, two elements of row i / 4 in lane i, becomes its transpose.
inline void transpose_matrix(Word* d, const Word* a) {
  const auto element = [a](std::size_t row, std::size_t column) {
    return a[row * 4 + column / 2] >> (16 * (column % 2)) & 0xffff;
  };
  for (std::size_t i = 0; i < isa::kWarpSize; ++i) {
    const std::size_t row = i / 4;
    const std::size_t column = i % 4 * 2;
    d[i] = element(column, row) | element(column + 1, row) << 16;
  }
}

/// FLO: number of the highest bit that is set (unsigned) or differs from the sign, -1 if there is none; .SH: how far it
/// is from the top instead.
template <int N>
inline void leading_bit(Word* d, const Word* a, bool is_signed, bool distance) {
  for (int i = 0; i < N; ++i) {
    const Word value = is_signed && static_cast<std::int32_t>(a[i]) < 0 ? ~a[i] : a[i];
    const auto zeros = static_cast<Word>(std::countl_zero(value));
    d[i] = value == 0 ? ~Word{0} : distance ? zeros : 31 - zeros;
  }
}

template <int N>
inline void count_bits(Word* d, const Word* a) {
  for (int i = 0; i < N; ++i) {
    d[i] = static_cast<Word>(std::popcount(a[i]));
  }
}

template <int N>
inline void reverse_bits(Word* d, const Word* a) {
  for (int i = 0; i < N; ++i) {
    Word value = a[i];
    value = (value >> 1 & 0x55555555U) | (value & 0x55555555U) << 1;
    value = (value >> 2 & 0x33333333U) | (value & 0x33333333U) << 2;
    value = (value >> 4 & 0x0f0f0f0fU) | (value & 0x0f0f0f0fU) << 4;
    value = (value >> 8 & 0x00ff00ffU) | (value & 0x00ff00ffU) << 8;
    d[i] = value >> 16 | value << 16;
  }
}

/// PRMT in the modes other than the default one, by Modifier::kPermuteMode (PTX ISA, prmt): 1 four bytes forwards from
/// the selected one, 2 backwards, 3 the byte four times, 4 and 5 clamped to the left and right, 6 a half twice.
template <int N>
inline void permute_mode(Word* d, const Word* a, const Word* selector, const Word* c, unsigned mode) {
  for (int i = 0; i < N; ++i) {
    const std::uint64_t bytes = std::uint64_t{c[i]} << 32 | a[i];
    const Word start = selector[i] & (mode == 1 || mode == 2 ? 7 : 3);
    Word result = 0;
    for (Word k = 0; k < 4; ++k) {
      const Word pick = mode == 1   ? start + k
                        : mode == 2 ? start - k
                        : mode == 3 ? start
                        : mode == 4 ? std::max(k, start)
                        : mode == 5 ? std::min(k, start)
                                    : (start & 1) * 2 + (k & 1);
      result |= static_cast<Word>(bytes >> (8 * (pick & 7)) & 0xff) << (8 * k);
    }
    d[i] = result;
  }
}

/// I2F of 64-bit integers.
template <int N>
inline void wide_integer_to_float(Word* d, const Word* a, const Word* a_high, bool is_signed, unsigned rounding) {
  for (int i = 0; i < N; ++i) {
    const std::uint64_t bits = std::uint64_t{a_high[i]} << 32 | a[i];
    const bool negative = is_signed && bits >> 63 != 0;
    const std::uint64_t magnitude = negative ? std::uint64_t{0} - bits : bits;
    // Two exact parts: the sum, and what the sum leaves out.
    const auto high = static_cast<double>(magnitude >> 32) * 0x1p32;
    const auto low = static_cast<double>(magnitude & 0xffffffffU);
    const double sum = high + low;
    const double error = low - (sum - high);
    const double sign = negative ? -1.0 : 1.0;
    const auto nearest = static_cast<float>(negative ? -static_cast<double>(static_cast<float>(magnitude))
                                                     : static_cast<double>(static_cast<float>(magnitude)));
    const double beyond = sign * ((sum - std::abs(static_cast<double>(nearest))) + error);
    const bool down = rounding == 1 || (rounding == 3 && !negative);
    const bool up = rounding == 2 || (rounding == 3 && negative);
    const float result = down && beyond < 0 ? std::nextafter(nearest, -INFINITY)
                         : up && beyond > 0 ? std::nextafter(nearest, INFINITY)
                                            : nearest;
    d[i] = std::bit_cast<Word>(result);
  }
}

/// F2I to 64 bits, as float_to_integer().
template <int N>
inline void float_to_wide_integer(Word* d, Word* d_high, const Word* a, bool is_signed, unsigned rounding) {
  for (int i = 0; i < N; ++i) {
    const auto value = static_cast<double>(std::bit_cast<float>(a[i]));
    const double whole = rounding == 0   ? std::nearbyint(value)
                         : rounding == 1 ? std::floor(value)
                         : rounding == 2 ? std::ceil(value)
                                         : std::trunc(value);
    std::uint64_t bits = 0;
    if (is_signed) {
      bits = whole >= 0x1p63    ? std::uint64_t{0x7fffffffffffffff}
             : whole <= -0x1p63 ? std::uint64_t{1} << 63
             : whole == whole   ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                                : std::uint64_t{1} << 63;
    } else {
      bits = whole >= 0x1p64 ? ~std::uint64_t{0} : whole > 0 ? static_cast<std::uint64_t>(whole) : 0;
    }
    d[i] = static_cast<Word>(bits);
    d_high[i] = static_cast<Word>(bits >> 32);
  }
}

}  // namespace tilesim::traces::lanes
