#include "traces/emulator/grid_run.h"

#include <fmt/format.h>

#include <numeric>

#include "traces/emulator/cta_barriers.h"

namespace tilesim::traces {
namespace {

// A warp that runs longer than this is refused instead of waited for: minutes.
constexpr std::uint64_t kLongestWarp = std::uint64_t{1} << 32;

enum class Progress { kDone, kMoved, kWaits };

// A CTA under execution.
class RunningCta {
 public:
  RunningCta(const GridRun& run, std::uint64_t id) : run_(run), id_(id), cta_(run.open(id)) {
    barriers_.start(cta_->warp_count());
    executed_.resize(static_cast<std::size_t>(cta_->warp_count()));
  }

  // Runs each warp until it exits, waits at a barrier or waits for memory. kWaits if no warp can go on until another
  // CTA stores something.
  Result<Progress> run();
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] int warps() const { return cta_->warp_count(); }
  [[nodiscard]] std::uint64_t executed() const {
    return std::accumulate(executed_.begin(), executed_.end(), std::uint64_t{0});
  }

 private:
  Result<bool> run_warp(int w);

  const GridRun& run_;
  std::uint64_t id_;
  std::unique_ptr<isa::CtaStream> cta_;
  CtaBarriers barriers_;
  std::vector<std::uint64_t> executed_;
};

// True if the warp got further; a warp that waits for memory runs one trip of its loop.
Result<bool> RunningCta::run_warp(int w) {
  isa::WarpStream& warp = cta_->warp(w);
  const bool waited = warp.waits();
  std::uint64_t& executed = executed_[static_cast<std::size_t>(w)];
  isa::DynamicInstruction instruction;
  while (!warp.exited() && !barriers_.blocks(w)) {
    if (!warp.step(instruction)) {
      return tl::unexpected<Error>(warp.error());
    }
    if (++executed > kLongestWarp) {
      return fail(ErrorKind::kUsage, fmt::format("A warp executes more than {} instructions.", kLongestWarp),
                  "Check the problem size in the arguments.", run_.where);
    }
    if (run_.observer != nullptr) {
      if (auto done = run_.observer->executed(id_, w, instruction); !done) {
        return tl::unexpected<Error>(done.error());
      }
    }
    const isa::Instruction& code = run_.code[instruction.index];
    if (code.control == isa::ControlOp::kBarrier && instruction.active_mask != 0) {
      barriers_.arrive(w, isa::BarrierCall::of(code, instruction));
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

Result<Progress> RunningCta::run() {
  bool moved = false;
  while (true) {
    bool any = false;
    bool waits = false;
    bool left = false;
    for (int w = 0; w < cta_->warp_count(); ++w) {
      if (cta_->warp(w).exited()) {
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
      return waits ? Result<Progress>(moved ? Progress::kMoved : Progress::kWaits)
                   : Result<Progress>(isa::barriers_never_fill(run_.where));
    }
  }
}

}  // namespace

Result<std::uint64_t> run_grid(const GridRun& run) {
  constexpr int kMostIdlePasses = 1000;
  std::vector<std::unique_ptr<RunningCta>> running;
  std::uint64_t executed = 0;
  std::size_t started = 0;
  int idle = 0;
  while (started < run.ctas.size() || !running.empty()) {
    bool moved = false;
    for (std::size_t i = 0; i < running.size();) {
      const auto progress = running[i]->run();
      if (!progress) {
        return tl::unexpected<Error>(progress.error());
      }
      moved = moved || *progress != Progress::kWaits;
      if (*progress == Progress::kDone) {
        executed += running[i]->executed();
        if (run.observer != nullptr) {
          if (auto done = run.observer->end(running[i]->id()); !done) {
            return tl::unexpected<Error>(done.error());
          }
        }
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    idle = moved || started < run.ctas.size() ? 0 : idle + 1;
    if (idle > kMostIdlePasses && !running.empty()) {
      return fail(ErrorKind::kUsage,
                  fmt::format("{} for memory that none of them changes.",
                              running.size() == 1 ? "1 CTA waits" : fmt::format("{} CTAs wait", running.size())),
                  "Check the initial contents of flags and semaphores, and that all CTAs run that others wait for.",
                  run.where);
    }
    if (!moved && started < run.ctas.size()) {
      running.push_back(std::make_unique<RunningCta>(run, run.ctas[started]));
      ++started;
      if (run.observer != nullptr) {
        if (auto done = run.observer->begin(running.back()->id(), running.back()->warps()); !done) {
          return tl::unexpected<Error>(done.error());
        }
      }
    }
  }
  return executed;
}

}  // namespace tilesim::traces
