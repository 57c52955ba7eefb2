// Things that happen inside an SM at a known future cycle.
#pragma once

#include <cstdint>

#include "sim/engine/timing_wheel.h"

namespace tilesim::sim {

struct SmEvent {
  enum class Kind : std::uint8_t {
    kScoreboardRelease,  ///< warp `slot` of sub-partition `sub`: one user of scoreboard `index` is done
    kStoreDrained,       ///< warp `slot` of `sub`: one store has left the SM
    kBarrierRelease,     ///< warp `slot` of `sub` may pass its barrier
    kCreditReturn,       ///< a request has left the SM-wide memory stage
    kQueueSlotFree,      ///< a place in the MIO queue of `sub` is free again
    kCtaStart,           ///< CTA slot `index` gets its next CTA
  };
  Kind kind = Kind::kScoreboardRelease;
  std::uint8_t sub = 0;
  std::uint8_t slot = 0;
  std::uint8_t index = 0;
};

using SmEventQueue = TimingWheel<SmEvent>;

}  // namespace tilesim::sim
