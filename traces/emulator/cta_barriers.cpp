#include "traces/emulator/cta_barriers.h"

namespace tilesim::traces {

void CtaBarriers::start(int warps) {
  blocked_.assign(static_cast<std::size_t>(warps), false);
  left_ = static_cast<std::uint32_t>(warps);
  barriers_.fill({});
}

void CtaBarriers::arrive(int w, const BarrierCall& call) {
  Barrier& barrier = barriers_[call.barrier % kBarriers];
  barrier.threads = call.threads;
  ++barrier.arrived;
  if (!call.arrives_only) {
    blocked_[static_cast<std::size_t>(w)] = true;
    barrier.waiting.push_back(w);
  }
  release_if_complete(barrier);
}

void CtaBarriers::exit(int /*w*/) {
  --left_;
  for (Barrier& barrier : barriers_) {
    release_if_complete(barrier);
  }
}

void CtaBarriers::release_if_complete(Barrier& barrier) {
  const std::uint32_t wanted = barrier.threads == 0 ? left_ : barrier.threads / isa::kWarpSize;
  if (barrier.arrived == 0 || barrier.arrived < wanted) {
    return;
  }
  for (const int w : barrier.waiting) {
    blocked_[static_cast<std::size_t>(w)] = false;
  }
  barrier.arrived = 0;
  barrier.waiting.clear();
}

}  // namespace tilesim::traces
