#include "traces/trace/loop_folder.h"

#include <algorithm>
#include <bit>

#include "sim/isa/barrier_call.h"

namespace tilesim::traces {

namespace {

constexpr std::size_t kLongestPeriod = 8;
constexpr std::size_t kRepetitions = 3;  // two differences that agree

std::int64_t difference(const Item& to, const Item& from) { return static_cast<std::int64_t>(to.base - from.base); }

}  // namespace

void LoopFolder::clear() {
  items_.clear();
  patterns_.clear();
  pattern_by_hash_.clear();
  last_pattern_.clear();
  trips_.clear();
}

std::uint32_t LoopFolder::pattern_of(const isa::DynamicInstruction& executed) {
  LanePattern pattern{};
  const std::uint64_t base = executed.addresses[static_cast<std::size_t>(std::countr_zero(executed.active_mask))];
  for (std::size_t lane = 0; lane < pattern.size(); ++lane) {
    pattern[lane] = (executed.active_mask >> lane & 1U) != 0 ? executed.addresses[lane] - base : 0;
  }
  const auto last = last_pattern_.find(executed.index);
  if (last != last_pattern_.end() && patterns_[last->second] == pattern) {
    return last->second;
  }
  std::uint64_t hash = 0;
  for (const std::uint64_t offset : pattern) {
    hash = (std::rotl(hash, 7) ^ offset) * 0x9e3779b97f4a7c15ULL;
  }
  std::vector<std::uint32_t>& candidates = pattern_by_hash_[hash];
  auto known =
      std::find_if(candidates.begin(), candidates.end(), [&](std::uint32_t id) { return patterns_[id] == pattern; });
  if (known == candidates.end()) {
    candidates.push_back(static_cast<std::uint32_t>(patterns_.size()));
    patterns_.push_back(pattern);
    known = candidates.end() - 1;
  }
  last_pattern_[executed.index] = *known;
  return *known;
}

void LoopFolder::add_access(const isa::DynamicInstruction& executed, const isa::Instruction& instruction) {
  Item item;
  item.kind = ItemKind::kAccess;
  item.space = space_of(instruction.memory);
  item.index = executed.index;
  item.mask = executed.active_mask;
  item.count = 1;
  item.pattern = pattern_of(executed);
  item.base = executed.addresses[static_cast<std::size_t>(std::countr_zero(executed.active_mask))];
  items_.push_back(item);
}

void LoopFolder::add(const isa::DynamicInstruction& executed, const isa::Instruction& instruction) {
  if (isa::carries_addresses(instruction) && executed.active_mask != 0) {
    add_access(executed, instruction);
    return;
  }
  Item* last = items_.empty() ? nullptr : &items_.back();
  const bool goes_on = last != nullptr && last->kind == ItemKind::kRun && !last->taken &&
                       last->mask == executed.active_mask && last->index + last->count == executed.index;
  if (goes_on) {
    ++last->count;
  } else {
    Item item;
    item.index = executed.index;
    item.mask = executed.active_mask;
    item.count = 1;
    items_.push_back(item);
  }
  if (executed.branch_taken) {
    items_.back().taken = true;
    if (instruction.branch_target <= executed.index) {
      end_trip(executed.index, instruction.branch_target);
    }
  } else if (instruction.control == isa::ControlOp::kBranch) {
    trips_.erase(executed.index);
  }
}

bool LoopFolder::same(std::size_t first, std::size_t second, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    const Item& a = items_[first + i];
    const Item& b = items_[second + i];
    if (a.kind != b.kind || a.index != b.index || a.mask != b.mask || a.count != b.count || a.taken != b.taken ||
        a.pattern != b.pattern || a.levels != b.levels || a.strides != b.strides ||
        (a.kind == ItemKind::kLoop && a.base != b.base)) {
      return false;
    }
  }
  return true;
}

bool LoopFolder::extend(Trips& trips) {
  const std::size_t loop = *trips.loop;
  const std::size_t count = items_[loop].count;
  const std::size_t group = trips.starts.front();
  if (items_.size() - group != count) {
    return false;
  }
  // The body knows the new loop's stride as the last one of each access, the group does not know it yet.
  for (std::size_t i = 0; i < count; ++i) {
    Item body = items_[loop + 1 + i];
    const Item& item = items_[group + i];
    if (body.kind == ItemKind::kAccess) {
      const auto level = static_cast<std::size_t>(body.levels - 1);
      const std::uint64_t expected = body.base + static_cast<std::uint64_t>(body.strides[level]) * items_[loop].base;
      body.strides[level] = 0;
      --body.levels;
      if (item.base != expected) {
        return false;
      }
    }
    const bool equal = body.kind == item.kind && body.index == item.index && body.mask == item.mask &&
                       body.count == item.count && body.taken == item.taken && body.pattern == item.pattern &&
                       body.levels == item.levels && body.strides == item.strides &&
                       (body.kind != ItemKind::kLoop || body.base == item.base);
    if (!equal) {
      return false;
    }
  }
  ++items_[loop].base;
  items_.resize(group);
  return true;
}

bool LoopFolder::fold(Trips& trips, std::size_t period) {
  const std::size_t begin = trips.starts[trips.starts.size() - kRepetitions * period];
  const std::size_t second = trips.starts[trips.starts.size() - 2 * period];
  const std::size_t third = trips.starts[trips.starts.size() - period];
  const std::size_t count = second - begin;
  if (count == 0 || third - second != count || items_.size() - third != count || !same(begin, second, count) ||
      !same(begin, third, count)) {
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Item& item = items_[begin + i];
    if (item.kind == ItemKind::kAccess &&
        (item.levels == kLoopDepth ||
         difference(items_[second + i], item) != difference(items_[third + i], items_[second + i]))) {
      return false;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    Item& item = items_[begin + i];
    if (item.kind == ItemKind::kAccess) {
      item.strides[item.levels] = difference(items_[second + i], item);
      ++item.levels;
    }
  }
  items_.resize(second);
  Item loop;
  loop.kind = ItemKind::kLoop;
  loop.count = static_cast<std::uint32_t>(count);
  loop.base = kRepetitions;
  items_.insert(items_.begin() + static_cast<std::ptrdiff_t>(begin), loop);
  trips.loop = begin;
  trips.period = period;
  return true;
}

void LoopFolder::forget_behind(std::size_t position, std::uint32_t except) {
  std::erase_if(trips_, [&](const auto& entry) {
    const Trips& trips = entry.second;
    const std::size_t last = trips.starts.empty() ? trips.loop.value_or(0) : trips.starts.back();
    return entry.first != except && std::max(last, trips.loop.value_or(0)) >= position;
  });
}

void LoopFolder::end_trip(std::uint32_t branch, std::uint32_t target) {
  // Whatever loops inside has ended.
  std::erase_if(trips_, [&](const auto& entry) { return entry.first >= target && entry.first < branch; });
  Trips& trips = trips_[branch];
  if (trips.loop && trips.starts.size() == trips.period) {
    const std::size_t group = trips.starts.front();
    if (extend(trips)) {
      trips.starts.assign(1, items_.size());
      forget_behind(group, branch);
      return;
    }
    trips.loop.reset();
  }
  for (std::size_t period = 1; !trips.loop && period <= kLongestPeriod; ++period) {
    if (trips.starts.size() < kRepetitions * period) {
      break;
    }
    if (fold(trips, period)) {
      trips.starts.assign(1, items_.size());
      forget_behind(*trips.loop, branch);
      return;
    }
  }
  if (trips.starts.size() >= kRepetitions * kLongestPeriod) {
    trips.starts.erase(trips.starts.begin());
  }
  trips.starts.push_back(items_.size());
}

}  // namespace tilesim::traces
