#include "sim/chip/cta_scheduler.h"

#include <algorithm>
#include <cmath>

namespace tilesim::sim {

CtaScheduler::CtaScheduler(const ChipParameters& parameters, std::uint64_t ctas, int slots_per_sm)
    : p_(parameters), ctas_(ctas), slots_(slots_per_sm) {
  // Members of each GPC in order; GPC of an SM as in the memory system.
  std::vector<std::vector<int>> gpcs(static_cast<std::size_t>(p_.gpc_count));
  for (int sm = 0; sm < p_.sm_count; ++sm) {
    gpcs[static_cast<std::size_t>(sm) * gpcs.size() / static_cast<std::size_t>(p_.sm_count)].push_back(sm);
  }
  if (ctas >= static_cast<std::uint64_t>(p_.sm_count)) {
    for (const auto& members : gpcs) {
      order_.insert(order_.end(), members.begin(), members.end());
    }
    return;
  }
  // A partial grid: an even share per GPC, within it both SMs of the first TPCs, then the rest.
  for (std::size_t g = 0; g < gpcs.size(); ++g) {
    const std::uint64_t begin = ctas * g / gpcs.size();
    const std::uint64_t end = ctas * (g + 1) / gpcs.size();
    const std::size_t take = std::min<std::size_t>(end - begin, gpcs[g].size());
    order_.insert(order_.end(), gpcs[g].begin(), gpcs[g].begin() + static_cast<std::ptrdiff_t>(take));
    gpcs[g].erase(gpcs[g].begin(), gpcs[g].begin() + static_cast<std::ptrdiff_t>(take));
  }
  for (const auto& members : gpcs) {
    order_.insert(order_.end(), members.begin(), members.end());
  }
}

std::vector<CtaScheduler::Placement> CtaScheduler::first_placements() {
  std::vector<Placement> placements;
  const std::uint64_t sms = order_.size();
  const std::uint64_t count = std::min<std::uint64_t>(ctas_, sms * static_cast<std::uint64_t>(slots_));
  for (std::uint64_t cta = 0; cta < count; ++cta) {
    const std::uint64_t pass = cta / sms;
    const auto skew = static_cast<Cycle>(std::llround(static_cast<double>(cta % sms) * p_.cta_start_interval));
    placements.push_back(
        Placement{cta, order_[cta % sms], static_cast<int>(pass), skew + static_cast<Cycle>(pass) * p_.second_cta});
  }
  next_cta_ = count;
  return placements;
}

bool CtaScheduler::next(const CtaEnd& ended, Placement& out) {
  if (next_cta_ >= ctas_) {
    return false;
  }
  out = Placement{next_cta_++, ended.sm, ended.slot, ended.time + p_.cta_respawn};
  return true;
}

std::vector<std::uint64_t> CtaScheduler::static_share(int sm) const {
  std::vector<std::uint64_t> share;
  const auto position = static_cast<std::uint64_t>(std::find(order_.begin(), order_.end(), sm) - order_.begin());
  for (std::uint64_t cta = position; cta < ctas_; cta += order_.size()) {
    share.push_back(cta);
  }
  return share;
}

}  // namespace tilesim::sim
