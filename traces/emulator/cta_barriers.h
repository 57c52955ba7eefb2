// The 16 named barriers of a CTA, as far as order goes: who waits and who may go on.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/isa/stream.h"

namespace tilesim::traces {

/// What a BAR instruction asks for. Streams report it in DynamicInstruction::addresses: [0] the barrier's number, [1]
/// the threads that take part (0: all of the CTA that have not exited), [2] 1 if the warp only arrives and does not
/// wait.
struct BarrierCall {
  std::uint32_t barrier = 0;
  std::uint32_t threads = 0;
  bool arrives_only = false;

  [[nodiscard]] static BarrierCall of(const isa::DynamicInstruction& bar) {
    return {static_cast<std::uint32_t>(bar.addresses[0]), static_cast<std::uint32_t>(bar.addresses[1]),
            bar.addresses[2] != 0};
  }
  void report(isa::DynamicInstruction& bar) const {
    bar.addresses[0] = barrier;
    bar.addresses[1] = threads;
    bar.addresses[2] = arrives_only ? 1 : 0;
  }
};

inline constexpr std::uint32_t kBarriers = 16;

class CtaBarriers {
 public:
  void start(int warps);
  /// Warp `w`, which is not blocked, executes BAR. Barriers count warps: PTX asks for multiples of the warp size.
  void arrive(int w, const BarrierCall& call);
  void exit(int w);
  [[nodiscard]] bool blocks(int w) const { return blocked_[static_cast<std::size_t>(w)]; }

 private:
  struct Barrier {
    std::uint32_t arrived = 0;
    std::uint32_t threads = 0;  // of the first call since it was last complete
    std::vector<int> waiting;
  };
  void release_if_complete(Barrier& barrier);

  std::vector<bool> blocked_;
  std::uint32_t left_ = 0;  // warps that have not exited
  std::array<Barrier, kBarriers> barriers_;
};

}  // namespace tilesim::traces
