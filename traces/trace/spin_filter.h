// Leaves the waiting out of recordings: a warp that polls a flag executes the same trip of a loop over and over, as
// often as the recording happened to take.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "sim/isa/stream.h"

namespace tilesim::traces {

/// True for SASS text of loads that are meant to see what other CTAs store: .STRONG loads, and atomics with a result.
[[nodiscard]] bool polls_memory(std::string_view text);

/// Of one warp. The first trip of a waiting loop stays; trips behind it that execute the same instructions with the
/// same lanes and addresses, at least one of them a load that polls and none a store or a barrier, are left out.
class SpinFilter {
 public:
  /// Takes an executed instruction and hands on what is to be written: write(executed, instruction) -> Result<void>.
  template <class Write>
  [[nodiscard]] Result<void> add(const isa::DynamicInstruction& executed, const isa::Instruction& instruction,
                                 bool polls, Write&& write) {
    const Seen seen{executed, &instruction, polls};
    if (follows(seen)) {
      return {};
    }
    if (auto done = release(write); !done) {
      return done;
    }
    remember(seen);
    return write(executed, instruction);
  }
  /// Hands on what was held back when the recording ends in the middle of a trip.
  template <class Write>
  [[nodiscard]] Result<void> release(Write&& write) {
    for (const Seen& seen : held()) {
      if (auto done = write(seen.executed, *seen.instruction); !done) {
        return done;
      }
    }
    stop();
    return {};
  }
  /// True once a load that polls was seen: before, nothing needs to pass here.
  [[nodiscard]] bool active() const { return active_; }
  void activate() { active_ = true; }
  /// Instructions left out.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  struct Seen {
    isa::DynamicInstruction executed;
    const isa::Instruction* instruction = nullptr;  ///< lives as long as the recording
    bool polls = false;
  };
  /// True if it repeats the trip so far; it is held back, with its trip left out when that is complete.
  bool follows(const Seen& seen);
  void remember(const Seen& seen);
  [[nodiscard]] std::vector<Seen> held() const;
  void stop();

  std::vector<Seen> recent_;  ///< the last instructions
  std::vector<Seen> trip_;    ///< of a waiting loop; empty if the warp is in none
  std::size_t repeated_ = 0;  ///< instructions of it that were executed again
  std::uint64_t left_out_ = 0;
  bool active_ = false;
};

}  // namespace tilesim::traces
