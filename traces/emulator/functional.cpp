#include "traces/emulator/functional.h"

#include <fmt/format.h>

#include "traces/emulator/cta_emulator.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

// Runs a warp until it has passed a barrier instruction or exited; adds to `executed`.
Result<void> run_to_barrier(WarpEmulator& warp, const DecodedKernel& kernel, std::uint64_t& executed) {
  isa::DynamicInstruction instruction;
  while (!warp.exited()) {
    if (!warp.step(instruction)) {
      return tl::unexpected<Error>(warp.error());
    }
    ++executed;
    if (kernel.instructions[instruction.index].row->control == isa::ControlOp::kBarrier &&
        instruction.active_mask != 0) {
      break;
    }
  }
  return {};
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
  const WarpContext context{&kernel, &launch, &*program, std::nullopt, std::nullopt};
  const std::uint64_t count = ctas.empty() ? launch.grid.count() : ctas.size();
  std::uint64_t executed = 0;
  CtaEmulator cta;
  for (std::uint64_t i = 0; i < count; ++i) {
    FunctionalMemory cta_memory(memory, launch.shared_bytes);
    cta.start(context, ctas.empty() ? i : ctas[i], &cta_memory);
    for (bool running = true; running;) {
      running = false;
      for (int w = 0; w < cta.warp_count(); ++w) {
        if (auto ran = run_to_barrier(cta.warp(w), kernel, executed); !ran) {
          return tl::unexpected<Error>(ran.error());
        }
        running = running || !cta.warp(w).exited();
      }
    }
  }
  return executed;
}

}  // namespace tilesim::traces
