#include "sim/chip/l2_cache.h"

#include <algorithm>
#include <bit>

#include "sim/engine/hash.h"

namespace tilesim::sim {

L2Cache::L2Cache(std::int64_t lines, int ways)
    : sets_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(lines) / static_cast<std::uint64_t>(ways))),
      ways_(static_cast<std::uint64_t>(ways)),
      tags_(sets_ * ways_, ~std::uint64_t{0}),
      lines_(sets_ * ways_) {}

std::uint64_t L2Cache::first_way(std::uint64_t line) const { return (mix(line) % sets_) * ways_; }

void L2Cache::prefetch(std::uint64_t line) const {
  const std::uint64_t first = first_way(line);
  __builtin_prefetch(&tags_[first]);
  __builtin_prefetch(&lines_[first]);
}

L2Cache::Line& L2Cache::access(std::uint64_t line, int& evicted_dirty) {
  evicted_dirty = 0;
  const std::uint64_t first = first_way(line);
  for (std::uint64_t i = first; i < first + ways_; ++i) {
    if (tags_[i] == line) {
      lines_[i].used = ++clock_;
      return lines_[i];
    }
  }
  std::uint64_t victim = first;
  for (std::uint64_t i = first; i < first + ways_; ++i) {
    victim = lines_[i].used < lines_[victim].used ? i : victim;
  }
  evicted_dirty = std::popcount(lines_[victim].dirty);
  tags_[victim] = line;
  lines_[victim] = Line{};
  lines_[victim].used = ++clock_;
  return lines_[victim];
}

}  // namespace tilesim::sim
