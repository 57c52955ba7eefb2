#include "sim/chip/l2_cache.h"

#include <algorithm>
#include <bit>

#include "sim/engine/hash.h"

namespace tilesim::sim {

L2Cache::L2Cache(std::int64_t lines, int ways)
    : sets_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(lines) / static_cast<std::uint64_t>(ways))),
      ways_(static_cast<std::uint64_t>(ways)),
      storage_(sets_ * ways_) {}

L2Cache::Line& L2Cache::access(std::uint64_t line, int& evicted_dirty) {
  evicted_dirty = 0;
  Line* const set = &storage_[(mix(line) % sets_) * ways_];
  Line* victim = set;
  for (Line* way = set; way != set + ways_; ++way) {
    if (way->line == line) {
      way->used = ++clock_;
      return *way;
    }
    if (way->used < victim->used) {
      victim = way;
    }
  }
  evicted_dirty = std::popcount(victim->dirty);
  *victim = Line{};
  victim->line = line;
  victim->used = ++clock_;
  return *victim;
}

}  // namespace tilesim::sim
