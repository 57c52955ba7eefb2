#include "traces/emulator/functional.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <vector>

#include "traces/emulator/cta_emulator.h"
#include "traces/emulator/grid_run.h"
#include "traces/sass/lowering.h"

namespace tilesim::traces {
namespace {

Result<std::vector<std::uint64_t>> all_ctas(const LaunchParameters& launch) {
  constexpr std::uint64_t kMostCtas = std::uint64_t{1} << 24;  // their numbers are listed, in 8 bytes each
  if (launch.grid.count() > kMostCtas) {
    return fail(ErrorKind::kUsage,
                fmt::format("The grid has {} CTAs; at most {} can be run at once.", launch.grid.count(), kMostCtas),
                "Run a smaller grid.");
  }
  std::vector<std::uint64_t> ctas(static_cast<std::size_t>(launch.grid.count()));
  std::iota(ctas.begin(), ctas.end(), std::uint64_t{0});
  return ctas;
}

Result<std::uint64_t> run_ctas(const WarpContext& context, std::span<const std::uint64_t> ctas) {
  GridRun run;
  run.open = [&context](std::uint64_t id) -> std::unique_ptr<isa::CtaStream> {
    auto cta = std::make_unique<CtaEmulator>();
    cta->start(context, id);
    return cta;
  };
  const isa::Program program = lower(*context.kernel);
  run.code = program.instructions;
  run.ctas = ctas;
  run.where = context.kernel->file;
  return run_grid(run);
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
  if (!ctas.empty()) {
    return run_ctas(context, ctas);
  }
  const auto all = all_ctas(launch);
  return all ? run_ctas(context, *all) : tl::unexpected<Error>(all.error());
}

Result<std::uint64_t> run_streams(const SassKernel& kernel) {
  const auto all = all_ctas(kernel.launch());
  return all ? run_ctas(kernel.context(), *all) : tl::unexpected<Error>(all.error());
}

}  // namespace tilesim::traces
