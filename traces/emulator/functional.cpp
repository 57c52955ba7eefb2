#include "traces/emulator/functional.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>

#include "traces/emulator/cta_barriers.h"
#include "traces/emulator/cta_emulator.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

// A warp that runs longer than this is refused instead of waited for: minutes.
constexpr std::uint64_t kLongestWarp = std::uint64_t{1} << 32;

enum class Progress { kDone, kMoved, kWaits };

// A CTA under execution.
class RunningCta {
 public:
  RunningCta(const WarpContext& context, std::uint64_t id) : context_(context) {
    cta_.start(context, id);
    barriers_.start(cta_.warp_count());
    executed_.resize(static_cast<std::size_t>(cta_.warp_count()));
  }

  // Runs each warp until it exits, waits at a barrier or waits for memory. kWaits if no warp can go on until another
  // CTA stores something.
  Result<Progress> run();
  [[nodiscard]] std::uint64_t executed() const {
    return std::accumulate(executed_.begin(), executed_.end(), std::uint64_t{0});
  }

 private:
  Result<bool> run_warp(int w);
  [[nodiscard]] tl::unexpected<Error> stuck() const;

  const WarpContext& context_;
  CtaEmulator cta_;
  CtaBarriers barriers_;
  std::vector<std::uint64_t> executed_;
};

// True if the warp got further; a warp that waits for memory runs one trip of its loop.
Result<bool> RunningCta::run_warp(int w) {
  WarpEmulator& warp = cta_.warp(w);
  const bool waited = warp.waits();
  isa::DynamicInstruction instruction;
  while (!warp.exited() && !barriers_.blocks(w)) {
    if (!warp.step(instruction)) {
      return tl::unexpected<Error>(warp.error());
    }
    std::uint64_t& executed = executed_[static_cast<std::size_t>(w)];
    if (++executed > kLongestWarp) {
      return fail(ErrorKind::kUsage, fmt::format("A warp executes more than {} instructions.", kLongestWarp),
                  "Check the problem size in the arguments.", context_.kernel->where(instruction.index));
    }
    const isa::ControlOp control = context_.kernel->instructions[instruction.index].row->control;
    if (control == isa::ControlOp::kBarrier && instruction.active_mask != 0) {
      barriers_.arrive(w, BarrierCall::of(instruction));
    }
    if (instruction.branch_taken && warp.waits()) {
      return !waited;
    }
  }
  if (warp.exited()) {
    barriers_.exit(w);
  }
  return true;
}

tl::unexpected<Error> RunningCta::stuck() const {
  return fail(ErrorKind::kUsage, "The warps of a CTA wait at barriers that never fill.",
              "Check the block size, and the numbers of threads that the kernel gives its barriers.",
              context_.kernel->file);
}

Result<Progress> RunningCta::run() {
  bool moved = false;
  while (true) {
    bool any = false;
    bool waits = false;
    bool left = false;
    for (int w = 0; w < cta_.warp_count(); ++w) {
      if (cta_.warp(w).exited()) {
        continue;
      }
      left = true;
      if (barriers_.blocks(w)) {
        continue;
      }
      const auto further = run_warp(w);
      if (!further) {
        return tl::unexpected<Error>(further.error());
      }
      any = any || *further;
      waits = waits || !*further;
    }
    moved = moved || any;
    if (!left) {
      return Progress::kDone;
    }
    if (!any) {
      return waits ? Result<Progress>(moved ? Progress::kMoved : Progress::kWaits) : Result<Progress>(stuck());
    }
  }
}

// All CTAs of a launch: in order, and as many at once as wait for each other.
Result<std::uint64_t> run_grid(const WarpContext& context, std::span<const std::uint64_t> ctas, std::uint64_t count) {
  std::vector<std::unique_ptr<RunningCta>> running;
  std::uint64_t executed = 0;
  std::uint64_t started = 0;
  constexpr int kMostIdlePasses = 1000;
  int idle = 0;
  while (started < count || !running.empty()) {
    bool moved = false;
    for (std::size_t i = 0; i < running.size();) {
      const auto progress = running[i]->run();
      if (!progress) {
        return tl::unexpected<Error>(progress.error());
      }
      moved = moved || *progress != Progress::kWaits;
      if (*progress == Progress::kDone) {
        executed += running[i]->executed();
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    idle = moved || started < count ? 0 : idle + 1;
    if (idle > kMostIdlePasses && !running.empty()) {
      return fail(ErrorKind::kUsage, fmt::format("{} CTAs wait for memory that none of them changes.", running.size()),
                  "Check the initial contents of flags and semaphores.", context.kernel->file);
    }
    if (!moved && started < count) {
      running.push_back(std::make_unique<RunningCta>(context, ctas.empty() ? started : ctas[started]));
      ++started;
    }
  }
  return executed;
}

}  // namespace

Result<std::uint64_t> run_functional(const DecodedKernel& kernel, const LaunchParameters& launch, DeviceMemory& memory,
                                     std::span<const std::uint64_t> ctas) {
  if (auto checked = check_launch(launch); !checked) {
    return tl::unexpected<Error>(checked.error());
  }
  for (const Allocation& allocation : launch.arguments.allocations) {
    if (memory.at(allocation.address, static_cast<std::size_t>(allocation.bytes)) == nullptr) {
      return fail(ErrorKind::kFailed, "The memory was allocated for another launch.",
                  "Allocate it from the same arguments.");
    }
  }
  const auto program = compile(kernel, launch, Selection::kAll);
  if (!program) {
    return tl::unexpected<Error>(program.error());
  }
  WarpContext context{&kernel, &launch, &*program};
  context.memory = &memory;
  return run_grid(context, ctas, ctas.empty() ? launch.grid.count() : ctas.size());
}

Result<std::uint64_t> run_streams(const SassKernel& kernel) {
  return run_grid(kernel.context(), {}, kernel.grid().count());
}

}  // namespace tilesim::traces
