#include "traces/emulator/sass_kernel.h"

#include <unordered_map>

#include "traces/emulator/warp_emulator.h"
#include "traces/sass/lowering.h"

namespace tilesim::traces {
namespace {

class SassCta final : public isa::CtaStream {
 public:
  SassCta(const SassKernel& kernel, std::uint64_t linear_id) { reset(kernel, linear_id); }

  void reset(const SassKernel& kernel, std::uint64_t linear_id) {
    const auto warps = static_cast<std::size_t>((kernel.block().count() + isa::kWarpSize - 1) / isa::kWarpSize);
    if (warps_.size() != warps) {
      warps_.clear();
      warps_.reserve(warps);
      for (std::size_t w = 0; w < warps; ++w) {
        warps_.emplace_back(kernel);
      }
    }
    for (std::size_t w = 0; w < warps; ++w) {
      warps_[w].start(linear_id, static_cast<std::uint32_t>(w));
    }
  }
  [[nodiscard]] int warp_count() const override { return static_cast<int>(warps_.size()); }
  [[nodiscard]] isa::WarpStream& warp(int index) override { return warps_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] bool belongs_to(const SassKernel& kernel) const {
    return !warps_.empty() && warps_[0].belongs_to(kernel);
  }

 private:
  std::vector<WarpEmulator> warps_;
};

}  // namespace

Result<std::unique_ptr<SassKernel>> SassKernel::create(const DecodedKernel& kernel, LaunchParameters launch) {
  if (const Result<void> ok = check_launch(launch); !ok) {
    return tl::unexpected<Error>(ok.error());
  }
  Result<MicroProgram> micro = compile(kernel, launch, Selection::kSlice);
  if (!micro) {
    return tl::unexpected<Error>(micro.error());
  }
  std::unique_ptr<SassKernel> result(new SassKernel);
  result->kernel_ = kernel;
  result->launch_ = std::move(launch);
  result->program_ = lower(kernel);
  result->micro_ = std::move(*micro);
  return result;
}

std::unique_ptr<isa::CtaStream> SassKernel::open(std::uint64_t linear_id,
                                                 std::unique_ptr<isa::CtaStream> recycled) const {
  if (auto* cta = dynamic_cast<SassCta*>(recycled.get()); cta != nullptr && cta->belongs_to(*this)) {
    cta->reset(*this, linear_id);
    return recycled;
  }
  return std::make_unique<SassCta>(*this, linear_id);
}

std::unique_ptr<SassKernel> SassKernel::with_skip(const TripSkip& skip) const {
  std::unique_ptr<SassKernel> result(new SassKernel(*this));
  result->skip_ = skip;
  return result;
}

Result<std::optional<MainLoop>> SassKernel::find_main_loop() const {
  std::unordered_map<std::uint32_t, std::uint64_t> taken;
  WarpEmulator warp(*this);
  warp.start(0, 0);
  if (!warp.run_branches([&taken](std::uint32_t branch, std::uint32_t target) {
        if (target <= branch) {
          ++taken[branch];
        }
      })) {
    return tl::unexpected<Error>(warp.error());
  }
  std::optional<MainLoop> best;
  std::uint64_t most = 0;
  for (const auto& [branch, count] : taken) {
    const std::uint32_t target = micro_.branches[micro_.operand_index[branch]].target;
    const std::uint32_t body = branch - target + 1;
    const std::uint64_t executed = count * body;
    if (executed > most || (executed == most && best && branch < best->branch)) {
      most = executed;
      best = MainLoop{branch, body, count};
    }
  }
  return best;
}

}  // namespace tilesim::traces
