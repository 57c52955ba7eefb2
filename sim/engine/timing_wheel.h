// A calendar queue for the near future of one SM: constant-time schedule and pop, first in first out within a cycle.
// Events further away than the wheel's span wait in an ordered overflow map.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "sim/engine/cycle.h"

namespace tilesim::sim {

/// Total order: (time, insertion sequence). Scheduling before the last popped cycle is a bug and stops the program.
template <class Event, std::size_t kSpan = 2048>
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
    std::vector<Event>& bucket = buckets_[s];
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      const Event event = bucket[i];
      handle(event);
    }
    bucket.clear();
    occupied_[s / 64] &= ~(std::uint64_t{1} << (s % 64));
  }

 private:
  static constexpr std::size_t kWords = kSpan / 64;
  static std::size_t slot(Cycle time) { return static_cast<std::size_t>(time) & (kSpan - 1); }
  void insert(Cycle time, const Event& event) {
    const std::size_t s = slot(time);
    buckets_[s].push_back(event);
    occupied_[s / 64] |= std::uint64_t{1} << (s % 64);
  }

  Cycle now_ = 0;
  std::array<std::vector<Event>, kSpan> buckets_;
  std::array<std::uint64_t, kWords> occupied_{};
  std::map<Cycle, std::vector<Event>> overflow_;
};

}  // namespace tilesim::sim
