#include "traces/trace/recorder.h"

namespace tilesim::traces {

namespace {

Result<void> record_to_barrier(isa::WarpStream& warp, int number, const isa::Program& program, TraceWriter& writer) {
  isa::DynamicInstruction executed;
  while (!warp.exited()) {
    if (!warp.step(executed)) {
      return tl::unexpected<Error>(warp.error());
    }
    const isa::Instruction& instruction = program.instructions[executed.index];
    if (auto done = writer.add(number, executed, instruction); !done) {
      return done;
    }
    if (instruction.control == isa::ControlOp::kBarrier) {
      break;
    }
  }
  return {};
}

}  // namespace

Result<void> record_cta(const isa::KernelStream& kernel, std::uint64_t opened, std::uint64_t id, TraceWriter& writer) {
  const auto cta = kernel.open(opened, nullptr);
  writer.begin_cta(id, cta->warp_count());
  for (bool running = true; running;) {
    running = false;
    for (int w = 0; w < cta->warp_count(); ++w) {
      isa::WarpStream& warp = cta->warp(w);
      if (auto done = record_to_barrier(warp, w, kernel.program(), writer); !done) {
        return done;
      }
      running = running || !warp.exited();
    }
  }
  return writer.end_cta();
}

}  // namespace tilesim::traces
