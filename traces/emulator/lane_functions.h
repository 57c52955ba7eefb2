// Instruction semantics on N lanes at once: N = 32 for warps, 1 for the uniform datapath. Every function writes `d`,
// which never aliases its sources, in plain loops that the compiler turns into vector code.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "traces/emulator/micro_program.h"

namespace tilesim::traces::lanes {

using Word = std::uint32_t;

/// The bit of each lane in a lane mask. Masks are made and tested with it, since shifts by the lane number do not
/// vectorise.
inline constexpr std::array<Word, isa::kWarpSize> kLaneBits = [] {
  std::array<Word, isa::kWarpSize> bits{};
  for (std::size_t i = 0; i < bits.size(); ++i) {
    bits[i] = Word{1} << i;
  }
  return bits;
}();

/// A lane mask from a condition per lane.
template <int N, class Condition>
inline Word mask_of(Condition holds) {
  Word mask = 0;
  for (std::size_t i = 0; i < N; ++i) {
    mask |= kLaneBits[i] & (Word{0} - Word{holds(i)});  // no branch: stays vector code
  }
  return mask;
}

/// 1 where the lane's bit is set.
inline Word lane_bit(Word mask, std::size_t lane) { return (mask & kLaneBits[lane]) != 0 ? 1 : 0; }

template <int N>
inline void add3(Word* d, const Word* a, const Word* b, const Word* c) {
  for (int i = 0; i < N; ++i) {
    d[i] = a[i] + b[i] + c[i];
  }
}

/// Carries out of a sum of three words and two carry bits: first, second.
struct Carries {
  Word first = 0;
  Word second = 0;
};

/// As add3, with carry-in masks and carry-out masks. `complement` counts the sources that were negated: a negated
/// source enters a carry chain as its complement plus one.
template <int N>
inline Carries add3_with_carry(Word* d, const Word* a, const Word* b, const Word* c, Word in, Word in2,
                               Word complement) {
  std::array<Word, N> carry;
  for (std::size_t i = 0; i < N; ++i) {
    const Word first = a[i] + b[i];
    const Word second = first + c[i];
    const Word third = second + lane_bit(in, i) + lane_bit(in2, i) + complement;
    d[i] = third;
    carry[i] = Word{first < a[i]} + Word{second < first} + Word{third < second};
  }
  return {mask_of<N>([&](std::size_t i) { return carry[i] >= 1; }),
          mask_of<N>([&](std::size_t i) { return carry[i] >= 2; })};
}

template <int N>
inline void multiply_add(Word* d, const Word* a, const Word* b, const Word* c) {
  for (int i = 0; i < N; ++i) {
    d[i] = a[i] * b[i] + c[i];
  }
}

/// a * b + (c_high:c), 64 bits; the mask of carries out.
template <int N>
inline Word multiply_add_wide(Word* d, Word* d_high, const Word* a, const Word* b, const Word* c, const Word* c_high,
                              bool is_signed) {
  const Word signs = is_signed ? ~Word{0} : 0;
  std::array<Word, N> carry;
  for (std::size_t i = 0; i < N; ++i) {
    // A signed product is the unsigned one less b << 32 where a is negative, and a << 32 where b is.
    const Word a_sign = static_cast<Word>(static_cast<std::int32_t>(a[i] & signs) >> 31);
    const Word b_sign = static_cast<Word>(static_cast<std::int32_t>(b[i] & signs) >> 31);
    const std::uint64_t product = std::uint64_t{a[i]} * b[i];
    const auto low = static_cast<Word>(product);
    const Word high = static_cast<Word>(product >> 32) - (a_sign & b[i]) - (b_sign & a[i]);
    const std::uint64_t low_sum = std::uint64_t{low} + c[i];
    const std::uint64_t high_sum = std::uint64_t{high} + c_high[i] + (low_sum >> 32);
    d[i] = static_cast<Word>(low_sum);
    d_high[i] = static_cast<Word>(high_sum);
    carry[i] = static_cast<Word>(high_sum >> 32);
  }
  return mask_of<N>([&](std::size_t i) { return carry[i] != 0; });
}

/// High word of (high:low) << shift, shift 0 to 31.
template <int N>
inline void shifted_high(Word* d, const Word* low, const Word* high, unsigned shift) {
  for (int i = 0; i < N; ++i) {
    d[i] = static_cast<Word>((std::uint64_t{high[i]} << 32 | low[i]) << shift >> 32);
  }
}

template <int N>
inline void sign_words(Word* d, const Word* a) {
  for (int i = 0; i < N; ++i) {
    d[i] = static_cast<Word>(static_cast<std::int32_t>(a[i]) >> 31);
  }
}

template <int N>
inline void shift_left(Word* d, const Word* a, unsigned shift) {
  for (int i = 0; i < N; ++i) {
    d[i] = a[i] << shift;
  }
}

/// SHF: (high:low) shifted left or right, its low or high word. Amounts clamp at 32 (64 for 64-bit types) or wrap.
template <int N>
inline void funnel_shift(Word* d, const Word* low, const Word* amount, const Word* high, const Operation& op) {
  const Word limit = op.wide ? 64 : 32;
  for (int i = 0; i < N; ++i) {
    const std::uint64_t value = std::uint64_t{high[i]} << 32 | low[i];
    const Word shift = op.wrap ? amount[i] & (limit - 1) : std::min(amount[i], limit);
    std::uint64_t result = 0;
    if (!op.right) {
      result = shift >= 64 ? 0 : value << shift;
    } else if (op.is_signed) {
      result = static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> std::min(shift, Word{63}));
    } else {
      result = shift >= 64 ? 0 : value >> shift;
    }
    d[i] = static_cast<Word>(op.high ? result >> 32 : result);
  }
}

/// LOP3: bit 4a + 2b + c of the table, for every bit position.
template <int N>
inline void lookup(Word* d, const Word* a, const Word* b, const Word* c, unsigned table) {
  std::fill(d, d + N, 0);
  for (unsigned term = 0; term < 8; ++term) {
    if ((table >> term & 1) == 0) {
      continue;
    }
    const Word flip_a = (term & 4) != 0 ? 0 : ~Word{0};
    const Word flip_b = (term & 2) != 0 ? 0 : ~Word{0};
    const Word flip_c = (term & 1) != 0 ? 0 : ~Word{0};
    for (int i = 0; i < N; ++i) {
      d[i] |= (a[i] ^ flip_a) & (b[i] ^ flip_b) & (c[i] ^ flip_c);
    }
  }
}

/// PRMT in its default mode: each selector nibble picks a byte of (c:a); bit 3 replicates its sign.
template <int N>
inline void permute(Word* d, const Word* a, const Word* selector, const Word* c) {
  for (int i = 0; i < N; ++i) {
    const std::uint64_t bytes = std::uint64_t{c[i]} << 32 | a[i];
    Word result = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const Word pick = selector[i] >> (4 * k) & 0xf;
      Word byte = static_cast<Word>(bytes >> (8 * (pick & 7))) & 0xff;
      if ((pick & 8) != 0) {
        byte = (byte & 0x80) != 0 ? 0xff : 0;
      }
      result |= byte << (8 * k);
    }
    d[i] = result;
  }
}

/// Mask of lanes in which `a` compares with `b` as Modifier::kCompare says (0 F, 1 LT, 2 EQ, 3 LE, 4 GT, 5 NE, 6 GE, 7
/// T).
template <int N>
inline Word compare(const Word* a, const Word* b, unsigned how, bool is_signed) {
  const Word bias = is_signed ? 0x80000000U : 0;
  const Word less = mask_of<N>([&](std::size_t i) { return (a[i] ^ bias) < (b[i] ^ bias); });
  const Word equal = mask_of<N>([&](std::size_t i) { return a[i] == b[i]; });
  const Word greater = ~(less | equal);
  return ((how & 1) != 0 ? less : 0) | ((how & 2) != 0 ? equal : 0) | ((how & 4) != 0 ? greater : 0);
}

template <int N>
inline void absolute(Word* d, const Word* a) {
  for (int i = 0; i < N; ++i) {
    d[i] = static_cast<std::int32_t>(a[i]) < 0 ? Word{0} - a[i] : a[i];
  }
}

/// Float nearest to `value` in the direction of Modifier::kRounding.
inline float round_to_float(double value, unsigned rounding) {
  const auto nearest = static_cast<float>(value);
  const bool down = rounding == 1 || (rounding == 3 && value > 0);
  const bool up = rounding == 2 || (rounding == 3 && value < 0);
  if (down && static_cast<double>(nearest) > value) {
    return std::nextafter(nearest, -INFINITY);
  }
  return up && static_cast<double>(nearest) < value ? std::nextafter(nearest, INFINITY) : nearest;
}

/// I2F from the low `bits` bits (8, 16, 32) of each source.
template <int N>
inline void integer_to_float(Word* d, const Word* a, unsigned bits, bool is_signed, unsigned rounding) {
  for (int i = 0; i < N; ++i) {
    const Word high = a[i] << (32 - bits);
    const double value = is_signed ? static_cast<double>(static_cast<std::int32_t>(high) >> (32 - bits))
                                   : static_cast<double>(high >> (32 - bits));
    d[i] = std::bit_cast<Word>(round_to_float(value, rounding));
  }
}

/// F2I to 32 bits: rounds as Modifier::kRounding says, then clamps; not-a-number gives 0.
template <int N>
inline void float_to_integer(Word* d, const Word* a, bool is_signed, unsigned rounding) {
  const double lowest = is_signed ? -2147483648.0 : 0.0;
  const double highest = is_signed ? 2147483647.0 : 4294967295.0;
  for (int i = 0; i < N; ++i) {
    const double value = static_cast<double>(std::bit_cast<float>(a[i]));
    const double whole = rounding == 0   ? std::nearbyint(value)
                         : rounding == 1 ? std::floor(value)
                         : rounding == 2 ? std::ceil(value)
                                         : std::trunc(value);
    d[i] = std::isnan(whole) ? 0 : static_cast<Word>(static_cast<std::int64_t>(std::clamp(whole, lowest, highest)));
  }
}

/// MUFU, by Modifier::kFunction: 2 EX2, 3 LG2, 4 RCP, 5 RSQ, 8 SQRT. The last bit may differ from the hardware's.
template <int N>
inline void special_function(Word* d, const Word* a, unsigned function) {
  for (int i = 0; i < N; ++i) {
    const float x = std::bit_cast<float>(a[i]);
    const float result = function == 2   ? std::exp2(x)
                         : function == 3 ? std::log2(x)
                         : function == 4 ? 1.0F / x
                         : function == 5 ? 1.0F / std::sqrt(x)
                                         : std::sqrt(x);
    d[i] = std::bit_cast<Word>(result);
  }
}

}  // namespace tilesim::traces::lanes
