// Instruction semantics on N lanes at once: N = 32 for warps, 1 for the uniform datapath. Every function writes `d`, which
// never aliases its sources, in plain loops that the compiler turns into vector code.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "traces/emulator/micro_program.h"

namespace tilesim::traces::lanes {

using Word = std::uint32_t;

/// A lane mask from a predicate per lane.
template <int N, class Predicate>
inline Word mask_of(Predicate holds) {
  Word mask = 0;
  for (int i = 0; i < N; ++i) {
    mask |= static_cast<Word>(holds(i)) << i;
  }
  return mask;
}

inline Word lane_bit(Word mask, int lane) { return mask >> lane & 1; }

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

/// As add3, with carry-in masks and carry-out masks. `complement` counts the sources that were negated: a negated source
/// enters a carry chain as its complement plus one.
template <int N>
inline Carries add3_with_carry(Word* d, const Word* a, const Word* b, const Word* c, Word in, Word in2, Word complement) {
  Carries out;
  for (int i = 0; i < N; ++i) {
    const std::uint64_t sum =
        std::uint64_t{a[i]} + b[i] + c[i] + lane_bit(in, i) + lane_bit(in2, i) + complement;
    d[i] = static_cast<Word>(sum);
    out.first |= static_cast<Word>(sum >> 32 >= 1) << i;
    out.second |= static_cast<Word>(sum >> 32 >= 2) << i;
  }
  return out;
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
  Word carry = 0;
  for (int i = 0; i < N; ++i) {
    const std::uint64_t addend = std::uint64_t{c_high[i]} << 32 | c[i];
    const std::uint64_t product =
        is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a[i])} * static_cast<std::int32_t>(b[i]))
                  : std::uint64_t{a[i]} * b[i];
    const std::uint64_t sum = product + addend;
    d[i] = static_cast<Word>(sum);
    d_high[i] = static_cast<Word>(sum >> 32);
    carry |= static_cast<Word>(sum < product) << i;
  }
  return carry;
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

/// Mask of lanes in which `a` compares with `b` as Modifier::kCompare says (0 F, 1 LT, 2 EQ, 3 LE, 4 GT, 5 NE, 6 GE, 7 T).
template <int N>
inline Word compare(const Word* a, const Word* b, unsigned how, bool is_signed) {
  const Word bias = is_signed ? 0x80000000U : 0;
  Word less = 0;
  Word equal = 0;
  for (int i = 0; i < N; ++i) {
    less |= static_cast<Word>((a[i] ^ bias) < (b[i] ^ bias)) << i;
    equal |= static_cast<Word>(a[i] == b[i]) << i;
  }
  const Word greater = ~(less | equal);
  return ((how & 1) != 0 ? less : 0) | ((how & 2) != 0 ? equal : 0) | ((how & 4) != 0 ? greater : 0);
}

template <int N>
inline void float_fma(Word* d, const Word* a, const Word* b, const Word* c) {
  for (int i = 0; i < N; ++i) {
    d[i] = std::bit_cast<Word>(std::fma(std::bit_cast<float>(a[i]), std::bit_cast<float>(b[i]), std::bit_cast<float>(c[i])));
  }
}

template <int N>
inline void float_add(Word* d, const Word* a, const Word* b) {
  for (int i = 0; i < N; ++i) {
    d[i] = std::bit_cast<Word>(std::bit_cast<float>(a[i]) + std::bit_cast<float>(b[i]));
  }
}

template <int N>
inline void float_multiply(Word* d, const Word* a, const Word* b) {
  for (int i = 0; i < N; ++i) {
    d[i] = std::bit_cast<Word>(std::bit_cast<float>(a[i]) * std::bit_cast<float>(b[i]));
  }
}

}  // namespace tilesim::traces::lanes
