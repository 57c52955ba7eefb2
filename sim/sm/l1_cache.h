// L1 data cache of an SM: sectored lines, write-through without allocation on stores, least recently used in a set. All
// bits of the line number choose the set, so that lines a power of two apart do not meet in one (measured:
// traces/calibration/h200/l1_sets.csv): groups of bits are added modulo two, as published models of GPU caches do, and
// a remainder stands for what is no power of two in the number of sets. A sector that is on its way counts as a miss
// that joins the outstanding one.
#pragma once

#include <cstdint>
#include <vector>

namespace tilesim::sim {

class L1Cache {
 public:
  /// `bytes` may be 0 (everything is a miss).
  L1Cache(int bytes, int line_bytes, int ways);

  /// Looks up sectors `mask` of `line` (a line number) and marks it used; returns the sectors that are present.
  [[nodiscard]] std::uint32_t lookup(std::uint64_t line, std::uint32_t mask);

  /// Makes sectors present, evicting the least recently used line of the set if needed.
  void fill(std::uint64_t line, std::uint32_t mask);

 private:
  struct Way {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint32_t sectors = 0;
    std::uint64_t used = 0;
  };
  Way* find(std::uint64_t line);
  [[nodiscard]] Way* set_of(std::uint64_t line);

  std::uint64_t sets_;
  int ways_;
  unsigned folded_bits_ = 0;  ///< the power of two in the number of sets
  std::uint64_t clock_ = 0;
  std::vector<Way> storage_;
};

}  // namespace tilesim::sim
