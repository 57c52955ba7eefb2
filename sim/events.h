// What the machine tells those who want to know. The engine never formats text: reports, timelines and tests listen.
#pragma once

#include <cstdint>

#include "sim/engine/cycle.h"
#include "sim/warp_state.h"

namespace tilesim::sim {

/// A warp on the chip: SM, CTA (linear id) and warp index in the CTA.
struct WarpId {
  std::uint32_t sm = 0;
  std::uint64_t cta = 0;
  std::uint32_t warp = 0;
  friend bool operator==(const WarpId&, const WarpId&) = default;
};

/// Receives typed events. A simulation without a listener does no work for any of this.
class Listener {
 public:
  virtual ~Listener() = default;
  /// `warp` issued instruction `index` at `cycle`.
  virtual void on_issue(const WarpId& warp, std::uint32_t index, Cycle cycle) = 0;
  /// `warp` was in `state` during [begin, end). The intervals of a warp tile its life without gap or overlap.
  virtual void on_state(const WarpId& warp, WarpState state, Cycle begin, Cycle end) = 0;
  /// `warp` became resident / left the SM.
  virtual void on_launch(const WarpId& warp, Cycle cycle) = 0;
  virtual void on_retire(const WarpId& warp, Cycle cycle) = 0;
};

}  // namespace tilesim::sim
