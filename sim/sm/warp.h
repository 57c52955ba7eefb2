// State of one warp slot of a sub-partition.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "sim/engine/cycle.h"
#include "sim/events.h"
#include "sim/isa/program.h"
#include "sim/isa/stream.h"

namespace tilesim::sim {

/// Scoreboards SB0-5 of a warp: users per scoreboard, and whether any of them belongs to L1TEX (long scoreboard).
class Scoreboards {
 public:
  void add(int sb, bool long_latency) {
    ++users_[sb];
    busy_ |= static_cast<std::uint8_t>(1U << sb);
    long_ |= static_cast<std::uint8_t>((long_latency ? 1U : 0U) << sb);
  }
  void release(int sb) {
    if (--users_[sb] == 0) {
      busy_ &= static_cast<std::uint8_t>(~(1U << sb));
      long_ &= static_cast<std::uint8_t>(~(1U << sb));
    }
  }
  [[nodiscard]] std::uint8_t busy() const { return busy_; }
  [[nodiscard]] std::uint8_t long_latency() const { return long_; }
  [[nodiscard]] int users(int sb) const { return users_[sb]; }

 private:
  std::array<std::uint16_t, isa::kScoreboards> users_{};
  std::uint8_t busy_ = 0;
  std::uint8_t long_ = 0;
};

struct Warp {
  isa::WarpStream* stream = nullptr;  ///< null: slot empty
  const isa::Instruction* next = nullptr;
  WarpId id;
  std::uint16_t cta_slot = 0;
  WarpState state = WarpState::kNoInstruction;  ///< while not ready
  Cycle since = 0;                              ///< start of the present state
  Cycle launched = 0;
  Cycle stalled_until = 0;
  Cycle queues_since = 0;         ///< waits for a place in the MIO queue
  Cycle branched = 0;             ///< when a taken branch has its target
  Cycle fetched = 0;              ///< when the next instruction is there
  std::uint32_t cta_ordinal = 0;  ///< how many CTAs the SM had started before this warp's
  Scoreboards scoreboards;
  std::uint32_t outstanding_stores = 0;
  bool ready = false;       ///< nothing but pipes, ports and queues can hold it back
  bool at_barrier = false;  ///< has arrived at a barrier that is not released
  bool exited = false;
};

}  // namespace tilesim::sim
