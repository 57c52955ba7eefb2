#include "traces/emulator/convergence.h"

#include <algorithm>

namespace tilesim::traces {

void Convergence::start(std::uint32_t live) {
  live_ = active_ = live;
  jumps_ = 0;
  paths_.clear();
  groups_.clear();
}

void Convergence::put_off(std::uint32_t lanes, Index index) {
  paths_.push_back({lanes, index});
  active_ &= ~lanes;
}

Convergence::Index Convergence::jump_back_diverged(Index index) {
  if (++jumps_ < kPatience || paths_.empty()) {
    return index;
  }
  jumps_ = 0;
  paths_.insert(paths_.begin(), {active_, index});
  active_ = paths_.back().lanes;
  const Index next = paths_.back().index;
  paths_.pop_back();
  return next;
}

void Convergence::enlist(std::uint8_t barrier, std::uint32_t lanes) {
  withdraw(barrier, lanes);
  groups_.push_back({barrier, lanes, 0, 0});
}

void Convergence::withdraw(std::uint8_t barrier, std::uint32_t lanes) {
  for (std::size_t i = groups_.size(); i-- > 0;) {
    Group& group = groups_[i];
    if (group.barrier == barrier) {
      group.members &= ~lanes;
      if ((group.members & live_) == 0 && group.waiting == 0) {
        groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
}

std::uint32_t Convergence::members(std::uint8_t barrier) const {
  for (const Group& group : groups_) {
    if (group.barrier == barrier && (group.members & active_) != 0) {
      return group.members & live_;
    }
  }
  return 0;
}

std::optional<Convergence::Index> Convergence::meet(std::uint8_t barrier, Index next) {
  for (std::size_t i = groups_.size(); i-- > 0;) {
    Group& group = groups_[i];
    if (group.barrier == barrier && (group.members & active_) != 0) {
      group.waiting |= active_;
      group.next = next;
      return complete(group) ? release(i) : next_path();
    }
  }
  return next;  // nobody to wait for
}

std::optional<Convergence::Index> Convergence::meet_lanes(std::uint32_t lanes, Index next) {
  if ((lanes & live_ & ~active_) == 0) {
    return next;
  }
  const auto same = [&](const Group& g) { return g.barrier == kNoBarrier && g.members == lanes && g.next == next; };
  auto group = std::find_if(groups_.begin(), groups_.end(), same);
  if (group == groups_.end()) {
    group = groups_.insert(groups_.end(), {kNoBarrier, lanes, 0, next});
  }
  group->waiting |= active_;
  return complete(*group) ? release(static_cast<std::size_t>(group - groups_.begin())) : next_path();
}

bool Convergence::complete(const Group& group) const {
  std::uint32_t come = group.waiting;
  for (const Group& other : groups_) {
    come |= group.barrier == kNoBarrier && other.barrier == kNoBarrier && other.members == group.members ? other.waiting
                                                                                                         : 0;
  }
  return (group.members & live_ & ~come) == 0;
}

std::optional<Convergence::Index> Convergence::end(std::uint32_t lanes, Index next) {
  live_ &= ~lanes;
  active_ &= ~lanes;
  return active_ != 0 ? std::optional<Index>(next) : next_path();
}

std::optional<Convergence::Index> Convergence::release(std::size_t chosen) {
  const Group group = groups_[chosen];
  groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(chosen));
  for (std::size_t i = groups_.size(); i-- > 0;) {  // WARPSYNC: those that waited elsewhere go on there
    if (group.barrier == kNoBarrier && groups_[i].barrier == kNoBarrier && groups_[i].members == group.members) {
      paths_.push_back({groups_[i].waiting & live_, groups_[i].next});
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  active_ = group.waiting & live_;
  return group.next;
}

std::optional<Convergence::Index> Convergence::next_path() {
  jumps_ = 0;
  while (!paths_.empty()) {
    const Path path = paths_.back();
    paths_.pop_back();
    active_ = path.lanes & live_;
    if (active_ != 0) {
      return path.index;
    }
  }
  active_ = 0;
  for (std::size_t i = groups_.size(); i-- > 0;) {
    const Group& group = groups_[i];
    if ((group.waiting & live_) != 0 && complete(group)) {
      return release(i);
    }
  }
  return std::nullopt;
}

}  // namespace tilesim::traces
