#include "sim/sm/l1_cache.h"

#include <algorithm>

namespace tilesim::sim {

L1Cache::L1Cache(int bytes, int line_bytes, int ways)
    : sets_(static_cast<std::uint64_t>(std::max(0, bytes / line_bytes / ways))),
      ways_(ways),
      storage_(sets_ * static_cast<std::uint64_t>(ways)) {
  for (std::uint64_t sets = sets_; sets != 0 && sets % 2 == 0; sets /= 2) {
    ++folded_bits_;
  }
}

L1Cache::Way* L1Cache::set_of(std::uint64_t line) {
  std::uint64_t folded = 0;
  for (std::uint64_t rest = folded_bits_ > 0 ? line : 0; rest != 0; rest >>= folded_bits_) {
    folded ^= rest;
  }
  const std::uint64_t low = folded & ((std::uint64_t{1} << folded_bits_) - 1);
  const std::uint64_t group = (line >> folded_bits_) % (sets_ >> folded_bits_);
  return &storage_[(low + (group << folded_bits_)) * static_cast<std::uint64_t>(ways_)];
}

L1Cache::Way* L1Cache::find(std::uint64_t line) {
  if (sets_ == 0) {
    return nullptr;
  }
  Way* const set = set_of(line);
  Way* const hit = std::find_if(set, set + ways_, [line](const Way& way) { return way.line == line; });
  return hit == set + ways_ ? nullptr : hit;
}

std::uint32_t L1Cache::lookup(std::uint64_t line, std::uint32_t mask) {
  Way* const way = find(line);
  if (way == nullptr) {
    return 0;
  }
  way->used = ++clock_;
  return way->sectors & mask;
}

void L1Cache::fill(std::uint64_t line, std::uint32_t mask) {
  if (sets_ == 0) {
    return;
  }
  Way* way = find(line);
  if (way == nullptr) {
    Way* const set = set_of(line);
    way = std::min_element(set, set + ways_, [](const Way& a, const Way& b) { return a.used < b.used; });
    *way = Way{line, 0, 0};
  }
  way->sectors |= mask;
  way->used = ++clock_;
}

}  // namespace tilesim::sim
