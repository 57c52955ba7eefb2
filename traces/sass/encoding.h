// One 128-bit instruction word of compute capability 7.0 and later, as a pair of 64-bit halves. Bit numbers run over
// the whole word: bits 0-63 are `low`, bits 64-127 `high`.
#pragma once

#include <cstdint>

namespace tilesim::traces {

struct Encoding {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  /// Bits [first, first + count), count at most 64; may span the halves.
  [[nodiscard]] constexpr std::uint64_t field(unsigned first, unsigned count) const {
    std::uint64_t value = first >= 64 ? high >> (first - 64) : low >> first;
    if (first < 64 && first + count > 64) {
      value |= high << (64 - first);
    }
    return count >= 64 ? value : value & ((std::uint64_t{1} << count) - 1);
  }
  [[nodiscard]] constexpr bool bit(unsigned position) const { return field(position, 1) != 0; }

  /// The field read as a two's complement number.
  [[nodiscard]] constexpr std::int64_t signed_field(unsigned first, unsigned count) const {
    const std::uint64_t sign = std::uint64_t{1} << (count - 1);
    return static_cast<std::int64_t>((field(first, count) ^ sign) - sign);
  }

  /// Replaces bits [first, first + count) by the low bits of `value`.
  constexpr void set_field(unsigned first, unsigned count, std::uint64_t value) {
    for (unsigned i = 0; i < count; ++i) {
      const unsigned position = first + i;
      std::uint64_t& half = position >= 64 ? high : low;
      const std::uint64_t mask = std::uint64_t{1} << (position % 64);
      half = (value >> i & 1) != 0 ? half | mask : half & ~mask;
    }
  }

  [[nodiscard]] friend constexpr bool operator==(const Encoding&, const Encoding&) = default;
  [[nodiscard]] friend constexpr Encoding operator&(Encoding a, Encoding b) { return {a.low & b.low, a.high & b.high}; }
  [[nodiscard]] friend constexpr Encoding operator|(Encoding a, Encoding b) { return {a.low | b.low, a.high | b.high}; }
  [[nodiscard]] constexpr Encoding operator~() const { return {~low, ~high}; }
};

}  // namespace tilesim::traces
