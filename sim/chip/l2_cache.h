// L2 as one set-associative cache of sectored lines, least recently used in a set. Each line remembers when the data
// that was last asked of DRAM is there, so that later readers of a line on its way wait for the rest of that time only.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/cycle.h"

namespace tilesim::sim {

class L2Cache {
 public:
  struct Line {
    Cycle ready = 0;  ///< when the youngest sectors arrive from DRAM
    std::uint64_t used = 0;
    std::uint8_t sectors = 0;  ///< present or on their way
    std::uint8_t dirty = 0;
    std::uint8_t partitions = 0;  ///< bit p: partition p has the line
  };

  L2Cache(std::int64_t lines, int ways);

  /// The entry of `line`, made if it is absent; then `evicted_dirty` says how many dirty sectors its victim had.
  Line& access(std::uint64_t line, int& evicted_dirty);

  /// Brings the host's cache what access() will look at.
  void prefetch(std::uint64_t line) const;

 private:
  [[nodiscard]] std::uint64_t first_way(std::uint64_t line) const;

  std::uint64_t sets_;
  std::uint64_t ways_;
  std::uint64_t clock_ = 0;
  std::vector<std::uint64_t> tags_;  ///< apart from the rest: a lookup reads tags only
  std::vector<Line> lines_;
};

}  // namespace tilesim::sim
