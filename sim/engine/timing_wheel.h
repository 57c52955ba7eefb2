// A calendar queue for the near future of one SM: constant-time schedule and pop, first in first out within a cycle.
// Events further away than the wheel's span wait in an ordered overflow map.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/engine/cycle.h"

namespace tilesim::sim {

/// Total order: (time, insertion sequence). Scheduling before the last popped cycle is a bug and stops the program.
template <class Event, std::size_t kSpan = 512>
class TimingWheel {
  static_assert((kSpan & (kSpan - 1)) == 0 && kSpan >= 64);

 public:
  void schedule(Cycle time, const Event& event) {
    if (time < now_) {
      engine_bug("event scheduled into the past");
    }
    if (time - now_ < static_cast<Cycle>(kSpan)) {
      insert(time, event);
    } else {
      overflow_[time].push_back(event);
    }
  }

  /// Earliest time with an event, kNever if there is none.
  [[nodiscard]] Cycle next_time() const {
    const Cycle far = overflow_.empty() ? kNever : overflow_.begin()->first;
    const std::size_t start = slot(now_);
    for (std::size_t word = 0; word <= kWords; ++word) {
      const std::size_t index = (start / 64 + word) % kWords;
      std::uint64_t bits = occupied_[index];
      if (word == 0) {
        bits &= ~std::uint64_t{0} << (start % 64);
      } else if (word == kWords) {
        bits &= ~(~std::uint64_t{0} << (start % 64));
      }
      if (bits != 0) {
        const std::size_t found = index * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        const Cycle near = now_ + static_cast<Cycle>((found - start) & (kSpan - 1));
        return near < far ? near : far;
      }
    }
    return far;
  }

  /// True if events of the cycle that ran last are left, which were added after it had handed out its events.
  [[nodiscard]] bool left_over() const {
    const std::size_t s = slot(now_);
    return (occupied_[s / 64] >> (s % 64) & 1U) != 0;
  }

  /// Hands every event of cycle `time` to `handle` in order, including those that handlers add for the same cycle. Time
  /// never goes back; cycles passed over must be empty.
  template <class Handler>
  void run(Cycle time, Handler&& handle) {
    now_ = time;
    while (!overflow_.empty() && overflow_.begin()->first - now_ < static_cast<Cycle>(kSpan)) {
      for (const Event& event : overflow_.begin()->second) {
        insert(overflow_.begin()->first, event);
      }
      overflow_.erase(overflow_.begin());
    }
    const std::size_t s = slot(time);
    if ((occupied_[s / 64] >> (s % 64) & 1U) == 0) {
      return;
    }
    Bucket& bucket = buckets_[s];
    while (bucket.first != kNone) {
      const std::uint32_t node = bucket.first;
      const Event event = nodes_[node].event;
      bucket.first = nodes_[node].next;
      nodes_[node].next = free_;
      free_ = node;
      handle(event);
    }
    occupied_[s / 64] &= ~(std::uint64_t{1} << (s % 64));
  }

 private:
  static constexpr std::size_t kWords = kSpan / 64;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Node {
    Event event;
    std::uint32_t next = kNone;
  };
  /// A list of nodes; `last` counts only while `first` is one.
  struct Bucket {
    std::uint32_t first = kNone, last = kNone;
  };
  static std::size_t slot(Cycle time) { return static_cast<std::size_t>(time) & (kSpan - 1); }
  void insert(Cycle time, const Event& event) {
    const std::size_t s = slot(time);
    std::uint32_t node = free_;
    if (node == kNone) {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back(Node{event, kNone});
    } else {
      free_ = nodes_[node].next;
      nodes_[node] = Node{event, kNone};
    }
    Bucket& bucket = buckets_[s];
    if (bucket.first == kNone) {
      bucket.first = node;
    } else {
      nodes_[bucket.last].next = node;
    }
    bucket.last = node;
    occupied_[s / 64] |= std::uint64_t{1} << (s % 64);
  }

  Cycle now_ = 0;
  std::array<Bucket, kSpan> buckets_{};
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;  ///< nodes to use again
  std::array<std::uint64_t, kWords> occupied_{};
  std::map<Cycle, std::vector<Event>> overflow_;
};

}  // namespace tilesim::sim
