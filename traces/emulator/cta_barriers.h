// The 16 named barriers of a CTA, as far as order goes: who waits and who may go on.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/isa/barrier_call.h"

namespace tilesim::traces {

class CtaBarriers {
 public:
  void start(int warps);
  /// Warp `w`, which is not blocked, executes BAR.
  void arrive(int w, const isa::BarrierCall& call);
  void exit(int w);
  [[nodiscard]] bool blocks(int w) const { return blocked_[static_cast<std::size_t>(w)]; }

 private:
  struct Barrier {
    std::uint32_t arrived = 0;
    std::uint32_t warps = 0;  // of the last call; 0: all that have not exited
    std::vector<int> waiting;
  };
  void release_if_complete(Barrier& barrier);

  std::vector<bool> blocked_;
  std::uint32_t left_ = 0;  // warps that have not exited
  std::array<Barrier, isa::kBarriersPerCta> barriers_;
};

}  // namespace tilesim::traces
