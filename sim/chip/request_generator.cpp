#include "sim/chip/request_generator.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "sim/engine/hash.h"

namespace tilesim::sim {

namespace {

constexpr std::int64_t kSectorsPerLine = model::kLineBytes / model::kSectorBytes;

/// Distance per site in sectors if `other` is `own` moved by whole sectors, else false.
bool is_moved_copy(const WarpPath& own, const WarpPath& other) {
  if (own.signature != other.signature || own.executed != other.executed) {
    return false;
  }
  for (std::size_t site = 0; site < own.base.size(); ++site) {
    if (own.executed[site] && (other.base[site] - own.base[site]) % model::kSectorBytes != 0) {
      return false;
    }
  }
  return true;
}

std::uint64_t instructions_of(std::span<const WarpPath> paths) {
  return std::accumulate(paths.begin(), paths.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const WarpPath& path) { return sum + path.instructions; });
}

}  // namespace

Scout::Scout(const isa::KernelStream& kernel) : kernel_(kernel) {
  for (const isa::Instruction& instruction : kernel.program().instructions) {
    site_of_.push_back(site_count_);
    site_count_ += isa::is_global(instruction.memory) ? 1 : 0;
  }
}

bool Scout::run(std::uint64_t cta, std::span<const std::uint32_t> warps, std::vector<WarpPath>& out) {
  storage_ = kernel_.open(cta, std::move(storage_));
  const std::size_t count = warps.empty() ? static_cast<std::size_t>(storage_->warp_count()) : warps.size();
  out.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const int warp = static_cast<int>(warps.empty() ? i : warps[i]);
    if (!run_warp(storage_->warp(warp), out[i])) {
      return false;
    }
  }
  return true;
}

bool Scout::run_warp(isa::WarpStream& warp, WarpPath& path) {
  path.base.assign(site_count_, 0);
  path.executed.assign(site_count_, false);
  path.signature = 0;
  while (!warp.exited()) {
    if (!warp.step_to_global(kernel_.program(), dynamic_)) {
      error_ = warp.error();
      return false;
    }
    const std::uint32_t mask = dynamic_.active_mask;
    if (mask == 0) {
      continue;
    }
    const std::size_t place = site(dynamic_.index);
    const std::uint64_t first = dynamic_.addresses[static_cast<std::size_t>(std::countr_zero(mask))];
    const std::uint64_t last = dynamic_.addresses[static_cast<std::size_t>(31 - std::countl_zero(mask))];
    if (!path.executed[place]) {
      path.executed[place] = true;
      path.base[place] = first;
    }
    const std::uint64_t base = path.base[place];
    path.signature =
        mix(mix(path.signature ^ (std::uint64_t{mask} << 32 | place)) ^ (first - base) ^ std::rotl(last - base, 32));
  }
  path.instructions = warp.executed();
  return true;
}

void RequestGenerators::add(int sm, std::vector<std::uint64_t> ctas, Cycle delay) {
  followers_.push_back(Follower{static_cast<std::uint32_t>(sm), std::move(ctas), delay, 0});
  std::stable_sort(followers_.begin(), followers_.end(),
                   [](const Follower& a, const Follower& b) { return a.ctas.size() > b.ctas.size(); });
}

bool RequestGenerators::start(std::uint32_t cta_ordinal, Running& running) {
  while (running.followers < followers_.size() && cta_ordinal < followers_[running.followers].ctas.size()) {
    ++running.followers;
  }
  std::vector<WarpPath> own;
  if (!scout_.run(leader_ctas_[cta_ordinal], {}, own)) {
    error_ = scout_.error();
    return false;
  }
  instructions_ += instructions_of(own);
  // For each site the first warp that executes it; these warps, the first and the last are compared.
  std::vector<std::uint32_t> warps{0, static_cast<std::uint32_t>(own.size() - 1)};
  std::vector<std::size_t> user(scout_.site_count(), own.size());
  for (std::size_t site = 0; site < user.size(); ++site) {
    const auto found =
        std::find_if(own.begin(), own.end(), [site](const WarpPath& path) { return path.executed[site]; });
    user[site] = static_cast<std::size_t>(found - own.begin());
    if (found != own.end()) {
      warps.push_back(static_cast<std::uint32_t>(user[site]));
    }
  }
  std::sort(warps.begin(), warps.end());
  warps.erase(std::unique(warps.begin(), warps.end()), warps.end());

  running.sectors.assign(user.size() * running.followers, 0);
  running.emulated.resize(running.followers);
  std::vector<WarpPath> paths;
  for (std::size_t f = 0; f < running.followers; ++f) {
    const std::uint64_t cta = followers_[f].ctas[cta_ordinal];
    if (!scout_.run(cta, warps, paths)) {
      error_ = scout_.error();
      return false;
    }
    if (!count(cta, own, warps, paths)) {
      return false;
    }
    bool moved = true;
    for (std::size_t i = 0; i < warps.size(); ++i) {
      moved = moved && is_moved_copy(own[warps[i]], paths[i]);
    }
    if (!moved) {
      running.emulated[f] = scout_.kernel().open(cta, nullptr);
      continue;
    }
    for (std::size_t site = 0; site < user.size(); ++site) {
      if (user[site] < own.size()) {
        const auto i = static_cast<std::size_t>(
            std::lower_bound(warps.begin(), warps.end(), static_cast<std::uint32_t>(user[site])) - warps.begin());
        running.sectors[site * running.followers + f] =
            static_cast<std::int64_t>(paths[i].base[site] - own[user[site]].base[site]) / model::kSectorBytes;
      }
    }
  }
  return true;
}

bool RequestGenerators::count(std::uint64_t cta, std::span<const WarpPath> leader, std::span<const std::uint32_t> warps,
                              std::span<const WarpPath> paths) {
  bool same = true;
  for (std::size_t i = 0; i < warps.size(); ++i) {
    const WarpPath& own = leader[warps[i]];
    same = same && own.signature == paths[i].signature && own.instructions == paths[i].instructions;
  }
  if (same) {
    instructions_ += instructions_of(leader);
    return true;
  }
  std::vector<WarpPath> all;
  if (!scout_.run(cta, {}, all)) {
    error_ = scout_.error();
    return false;
  }
  instructions_ += instructions_of(all);
  return true;
}

bool RequestGenerators::follow(std::span<const GlobalAccessMark> marks, std::span<const model::LineAccess> lines,
                               std::vector<MemoryRequest>& out) {
  out.insert(out.end(), leftovers_.begin(), leftovers_.end());
  leftovers_.clear();
  for (const GlobalAccessMark& mark : marks) {
    const auto [entry, fresh] = running_.try_emplace(mark.cta_ordinal);
    Running& running = entry->second;
    if (fresh && !start(mark.cta_ordinal, running)) {
      return false;
    }
    const auto mark_lines = lines.subspan(mark.first_line, mark.line_count);
    const std::int64_t* sectors = running.sectors.data() + scout_.site(mark.site) * running.followers;
    for (std::size_t f = 0; f < running.followers; ++f) {
      if (running.emulated[f] == nullptr) {
        repeat(followers_[f], sectors[f], mark, mark_lines, out);
        continue;
      }
      bool done = false;
      // What the leader's L1 held the follower's does too.
      std::vector<MemoryRequest>& sent = mark.line_count != 0 ? out : held_back_;
      if (!emulate(followers_[f], running.emulated[f]->warp(static_cast<int>(mark.warp)), mark.time, done, sent)) {
        return false;
      }
      held_back_.clear();
    }
  }
  return true;
}

void RequestGenerators::repeat(Follower& follower, std::int64_t sectors, const GlobalAccessMark& mark,
                               std::span<const model::LineAccess> lines, std::vector<MemoryRequest>& out) const {
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
      out.push_back(
          MemoryRequest{time, line + 1, moved >> kSectorsPerLine, follower.sm, follower.sequence++, mark.write, false});
    }
    ++time;
  }
}

bool RequestGenerators::emulate(Follower& follower, isa::WarpStream& warp, Cycle time, bool& done,
                                std::vector<MemoryRequest>& out) {
  const isa::Program& program = scout_.kernel().program();
  done = warp.exited();
  if (done) {
    return true;
  }
  if (!warp.step_to_global(program, dynamic_)) {
    error_ = warp.error();
    return false;
  }
  done = dynamic_.active_mask == 0;
  if (done) {
    return true;
  }
  const isa::Instruction& instruction = program.instructions[dynamic_.index];
  if (instruction.memory == isa::MemoryOp::kCopyAsync) {
    analyzer_.shared(dynamic_, ignored_);  // the requests of a copy depend on its shared side
  }
  analyzer_.global(dynamic_, ignored_, footprint_);
  const bool write = instruction.memory == isa::MemoryOp::kStoreGlobal;
  for (int i = 0; i < footprint_.line_count; ++i) {
    const model::LineAccess& access = footprint_.lines[static_cast<std::size_t>(i)];
    out.push_back(MemoryRequest{time + follower.delay + i, access.line, access.sector_mask, follower.sm,
                                follower.sequence++, write, false});
  }
  return true;
}

bool RequestGenerators::end_cta(std::uint32_t cta_ordinal, Cycle time) {
  const auto [found, fresh] = running_.try_emplace(cta_ordinal);
  if (fresh && !start(cta_ordinal, found->second)) {  // the leader's CTA had no access at all
    return false;
  }
  for (std::size_t f = 0; f < found->second.followers; ++f) {
    isa::CtaStream* cta = found->second.emulated[f].get();
    for (int w = 0; cta != nullptr && w < cta->warp_count(); ++w) {
      for (bool done = false; !done;) {
        if (!emulate(followers_[f], cta->warp(w), time, done, leftovers_)) {
          return false;
        }
      }
    }
  }
  running_.erase(found);
  return true;
}

}  // namespace tilesim::sim
