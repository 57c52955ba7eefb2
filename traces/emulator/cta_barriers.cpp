#include "traces/emulator/cta_barriers.h"

namespace tilesim::traces {

void CtaBarriers::start(int warps) {
  blocked_.assign(static_cast<std::size_t>(warps), false);
  left_ = static_cast<std::uint32_t>(warps);
  barriers_.fill({});
}

void CtaBarriers::arrive(int w, const isa::BarrierCall& call) {
  Barrier& barrier = barriers_[call.barrier % isa::kBarriersPerCta];
  barrier.warps = call.warps;
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
  const std::uint32_t wanted = barrier.warps == 0 ? left_ : barrier.warps;
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
