// CTA barriers of an SM. Arrivals are processed one by one; when the last warp of a CTA has arrived, its waiting warps
// are released in groups. A warp runs on past its BAR.SYNC until its next instruction needs memory, a scoreboard or
// control. Source: H200 microbenchmarks: a round over n warps takes 12 + 2n cycles; release skew 2 cycles per 4 warps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/engine/cycle.h"
#include "sim/sm/sm_event.h"
#include "sim/sm/sm_parameters.h"

namespace tilesim::sim {

class BarrierUnit {
 public:
  static constexpr int kBarriersPerCta = 16;

  BarrierUnit(const SmParameters& parameters, SmEventQueue& events, int cta_slots)
      : p_(parameters), events_(events), ctas_(static_cast<std::size_t>(cta_slots)) {}

  void start_cta(int cta_slot, int warps) {
    Cta& cta = ctas_[static_cast<std::size_t>(cta_slot)];
    cta.alive = warps;
    cta.barriers.assign(kBarriersPerCta, {});
  }

  /// Warp `slot` of `sub` arrives at `now`.
  void arrive(int cta_slot, int barrier, std::uint8_t sub, std::uint8_t slot, Cycle now) {
    Cta& cta = ctas_[static_cast<std::size_t>(cta_slot)];
    Barrier& b = cta.barriers[static_cast<std::size_t>(barrier)];
    processed_ = std::max(processed_, now) + p_.barrier_per_warp;
    b.last_processed = processed_;
    b.waiting.push_back({sub, slot});
    release_if_complete(cta, b);
  }

  /// A warp of the CTA has exited: the others no longer wait for it.
  void exit_warp(int cta_slot) {
    Cta& cta = ctas_[static_cast<std::size_t>(cta_slot)];
    --cta.alive;
    for (Barrier& b : cta.barriers) {
      release_if_complete(cta, b);
    }
  }

 private:
  struct Waiter {
    std::uint8_t sub;
    std::uint8_t slot;
  };
  struct Barrier {
    std::vector<Waiter> waiting;
    Cycle last_processed = 0;
  };
  struct Cta {
    int alive = 0;
    std::vector<Barrier> barriers;
  };

  void release_if_complete(const Cta& cta, Barrier& b) {
    if (b.waiting.empty() || static_cast<int>(b.waiting.size()) < cta.alive) {
      return;
    }
    const Cycle release = b.last_processed + p_.barrier_base;
    int released = 0;
    for (const Waiter& w : b.waiting) {
      const Cycle skew = released++ / p_.barrier_skew_warps * p_.barrier_skew_cycles;
      events_.schedule(release + skew, SmEvent{SmEvent::Kind::kBarrierRelease, w.sub, w.slot, 0});
    }
    b.waiting.clear();
  }

  const SmParameters& p_;
  SmEventQueue& events_;
  std::vector<Cta> ctas_;
  Cycle processed_ = 0;
};

}  // namespace tilesim::sim
