#include "traces/emulator/main_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "traces/emulator/cta_emulator.h"

namespace tilesim::traces {
namespace {

MainLoop& entry(std::map<std::uint32_t, MainLoop>& loops, const isa::Program& program, std::uint32_t branch) {
  const auto [place, added] = loops.try_emplace(branch);
  if (added) {
    place->second.branch = branch;
    place->second.target = program.instructions[branch].branch_target;
    place->second.body = branch - place->second.target + 1;
  }
  return place->second;
}

bool encloses(const MainLoop& outer, const MainLoop& inner) {
  return outer.branch != inner.branch && outer.target <= inner.target && outer.branch >= inner.branch;
}

/// The smallest loop around `inner`; null if there is none.
const MainLoop* loop_around(const std::map<std::uint32_t, MainLoop>& loops, const MainLoop& inner) {
  const MainLoop* found = nullptr;
  for (const auto& [branch, loop] : loops) {
    if (loop.taken > 0 && encloses(loop, inner) && (found == nullptr || loop.body < found->body)) {
      found = &loop;
    }
  }
  return found;
}

}  // namespace

Result<std::optional<MainLoop>> find_main_loop(const SassKernel& kernel, std::uint64_t limit) {
  const isa::Program& program = kernel.program();
  const auto cta = kernel.open(0, nullptr);
  auto& warp = static_cast<CtaEmulator&>(*cta).warp(0);
  std::map<std::uint32_t, MainLoop> loops;
  std::uint64_t executed = 0;
  BranchEvent event;
  while (!warp.exited()) {
    if (!warp.run_to_branch(event)) {
      return tl::unexpected<Error>(warp.error());
    }
    if (warp.exited() || program.instructions[event.index].branch_target > event.index) {
      continue;
    }
    MainLoop& loop = entry(loops, program, event.index);
    ++loop.trips;
    loop.taken += event.taken ? 1 : 0;
    executed += loop.body;
    if (executed > limit) {
      return fail(ErrorKind::kUsage, fmt::format("A warp executes more than {} instructions.", limit),
                  "Check the problem size in the arguments: the main loop does not end.",
                  kernel.decoded().where(event.index));
    }
  }
  const auto weight = [](const auto& item) { return item.second.taken * item.second.body; };
  const auto best =
      std::max_element(loops.begin(), loops.end(), [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
  if (best == loops.end() || best->second.taken == 0) {
    return std::nullopt;
  }
  const MainLoop* chosen = &best->second;
  while (chosen->trips <= kTripsInARow * (chosen->trips - chosen->taken)) {
    const MainLoop* around = loop_around(loops, *chosen);
    if (around == nullptr) {
      break;
    }
    chosen = around;
  }
  return *chosen;
}

}  // namespace tilesim::traces
