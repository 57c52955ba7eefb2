// A fixed mixing function: the same numbers on every machine and run.
#pragma once

#include <cstdint>

namespace tilesim::sim {

/// Finaliser of MurmurHash3 (public domain): spreads all input bits over all output bits.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

/// A number in [-range, range] that depends on `key` only.
[[nodiscard]] constexpr std::int64_t spread(std::uint64_t key, std::int64_t range) {
  return range == 0 ? 0 : static_cast<std::int64_t>(mix(key) % static_cast<std::uint64_t>(2 * range + 1)) - range;
}

}  // namespace tilesim::sim
