#include "sim/chip/request_generator.h"

#include <algorithm>
#include <bit>

namespace tilesim::sim {

namespace {
constexpr std::int64_t kSectorsPerLine = model::kLineBytes / model::kSectorBytes;
}  // namespace

bool Scout::run(std::uint64_t cta, SiteBases& out) {
  storage_ = kernel_.open(cta, std::move(storage_));
  isa::WarpStream& warp = storage_->warp(0);
  while (!warp.exited()) {
    if (!warp.step_to_global(kernel_.program(), dynamic_)) {
      error_ = warp.error();
      return false;
    }
    if (dynamic_.active_mask != 0) {
      out.base.try_emplace(dynamic_.index, dynamic_.addresses[std::countr_zero(dynamic_.active_mask)]);
    }
  }
  return true;
}

void RequestGenerators::add(int sm, std::vector<std::uint64_t> ctas, Cycle delay) {
  followers_.push_back(Follower{static_cast<std::uint32_t>(sm), std::move(ctas), delay, 0});
  std::stable_sort(followers_.begin(), followers_.end(),
                   [](const Follower& a, const Follower& b) { return a.ctas.size() > b.ctas.size(); });
}

bool RequestGenerators::start(std::uint32_t cta_ordinal, Running& running) {
  SiteBases own;
  if (!scout_.run(leader_ctas_[cta_ordinal], own)) {
    return false;
  }
  for (const Follower& follower : followers_) {
    if (cta_ordinal >= follower.ctas.size()) {
      break;
    }
    SiteBases bases;
    if (!scout_.run(follower.ctas[cta_ordinal], bases)) {
      return false;
    }
    for (const auto& [site, base] : own.base) {
      const auto found = bases.base.find(site);
      const std::uint64_t other = found == bases.base.end() ? base : found->second;
      running.sectors[site].push_back(static_cast<std::int64_t>(other - base) / model::kSectorBytes);
    }
    ++running.followers;
  }
  return true;
}

bool RequestGenerators::follow(std::span<const GlobalAccessMark> marks, std::span<const model::LineAccess> lines,
                               std::vector<MemoryRequest>& out) {
  for (const GlobalAccessMark& mark : marks) {
    const auto [entry, fresh] = running_.try_emplace(mark.cta_ordinal);
    if (fresh && !start(mark.cta_ordinal, entry->second)) {
      return false;
    }
    repeat(mark, lines.subspan(mark.first_line, mark.line_count), entry->second, out);
  }
  return true;
}

void RequestGenerators::repeat(const GlobalAccessMark& mark, std::span<const model::LineAccess> lines,
                               const Running& running, std::vector<MemoryRequest>& out) {
  const auto distances = running.sectors.find(mark.site);
  if (distances == running.sectors.end()) {
    return;
  }
  for (std::size_t f = 0; f < running.followers; ++f) {
    Follower& follower = followers_[f];
    const std::int64_t sectors = distances->second[f];
    const std::int64_t whole =
        sectors >= 0 ? sectors / kSectorsPerLine : -((-sectors + kSectorsPerLine - 1) / kSectorsPerLine);
    const auto rest = static_cast<unsigned>(sectors - whole * kSectorsPerLine);
    Cycle time = mark.time + follower.delay;
    for (const model::LineAccess& access : lines) {
      const std::uint64_t line = access.line + static_cast<std::uint64_t>(whole);
      const std::uint32_t moved = access.sector_mask << rest;
      const std::uint32_t low = moved & 0xfU;
      if (low != 0) {
        out.push_back(MemoryRequest{time, line, low, follower.sm, follower.sequence++, mark.write, false});
      }
      if (moved >> kSectorsPerLine != 0) {
        out.push_back(MemoryRequest{time, line + 1, moved >> kSectorsPerLine, follower.sm, follower.sequence++,
                                    mark.write, false});
      }
      ++time;
    }
  }
}

}  // namespace tilesim::sim
