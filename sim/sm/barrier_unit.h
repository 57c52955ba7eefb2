// CTA barriers of an SM. Arrivals are processed one by one; when the last warp of a CTA has arrived, its waiting warps
// are released in groups. A warp runs on past its BAR.SYNC until its next instruction needs memory, a scoreboard or
// control. Barriers of a part of the CTA, arrivals that do not wait and several numbers at once share the unit. Source:
// H200 microbenchmarks: a round over n warps takes 12 + 2n cycles, 12 more if number and warps come from registers; of
// several such groups at once each arrival takes 2 cycles and each release 2; release skew 2 cycles per 4 warps. Groups
// by number in the code were measured slower than that, see README.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/engine/cycle.h"
#include "sim/isa/barrier_call.h"
#include "sim/sm/sm_event.h"
#include "sim/sm/sm_parameters.h"

namespace tilesim::sim {

class BarrierUnit {
 public:
  BarrierUnit(const SmParameters& parameters, SmEventQueue& events, int cta_slots)
      : p_(parameters), events_(events), ctas_(static_cast<std::size_t>(cta_slots)) {}

  void start_cta(int cta_slot, int warps) {
    Cta& cta = ctas_[static_cast<std::size_t>(cta_slot)];
    cta.alive = warps;
    cta.barriers.assign(isa::kBarriersPerCta, {});
  }

  /// Warp `slot` of `sub` arrives at `now`; `call` is possible in its CTA.
  void arrive(int cta_slot, const isa::BarrierCall& call, bool from_registers, std::uint8_t sub, std::uint8_t slot,
              Cycle now) {
    Cta& cta = ctas_[static_cast<std::size_t>(cta_slot)];
    Barrier& b = cta.barriers[call.barrier];
    processed_ = std::max(processed_, now) + p_.barrier_per_warp;
    b.last_processed = std::max(b.last_processed, processed_ + (from_registers ? p_.barrier_register : 0));
    b.warps = static_cast<int>(call.warps);
    ++b.arrived;
    if (!call.arrives_only) {
      b.waiting.push_back({sub, slot});
    }
    release_if_complete(cta, b);
  }

  /// A warp of the CTA exits at `now`: the others no longer wait for it.
  void exit_warp(int cta_slot, Cycle now) {
    Cta& cta = ctas_[static_cast<std::size_t>(cta_slot)];
    --cta.alive;
    for (Barrier& b : cta.barriers) {
      b.last_processed = std::max(b.last_processed, now);
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
    int arrived = 0;
    int warps = 0;  ///< of the last call; 0: all that are alive
    Cycle last_processed = 0;
  };
  struct Cta {
    int alive = 0;
    std::vector<Barrier> barriers;
  };

  void release_if_complete(const Cta& cta, Barrier& b) {
    if (b.arrived == 0 || b.arrived < (b.warps == 0 ? cta.alive : b.warps)) {
      return;
    }
    processed_ += p_.barrier_release;
    const Cycle release = b.last_processed + p_.barrier_base;
    int released = 0;
    for (const Waiter& w : b.waiting) {
      const Cycle skew = released++ / p_.barrier_skew_warps * p_.barrier_skew_cycles;
      events_.schedule(release + skew, SmEvent{SmEvent::Kind::kBarrierRelease, w.sub, w.slot, 0});
    }
    b.waiting.clear();
    b.arrived = 0;
  }

  const SmParameters& p_;
  SmEventQueue& events_;
  std::vector<Cta> ctas_;
  Cycle processed_ = 0;
};

}  // namespace tilesim::sim
