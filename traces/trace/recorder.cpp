#include "traces/trace/recorder.h"

#include <algorithm>
#include <vector>

#include "traces/emulator/grid_run.h"
#include "traces/trace/spin_filter.h"

namespace tilesim::traces {

namespace {

std::vector<bool> polling(const isa::Program& program) {
  std::vector<bool> polls;
  for (const std::string& text : program.text) {
    polls.push_back(polls_memory(text));
  }
  return polls;
}

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

/// Writes what CTAs execute side by side.
class Recorder final : public GridObserver {
 public:
  Recorder(const isa::Program& program, std::span<const std::uint64_t> opened, std::span<const std::uint64_t> ids,
           TraceWriter& writer, const std::function<Result<void>(std::size_t)>& after)
      : program_(program), polls_(polling(program)), opened_(opened), ids_(ids), writer_(writer), after_(after) {}

  [[nodiscard]] Result<void> begin(std::uint64_t cta, int warps) override {
    writer_.begin_cta(id_of(cta), warps);
    current_ = cta;
    return {};
  }
  [[nodiscard]] Result<void> executed(std::uint64_t cta, int warp,
                                      const isa::DynamicInstruction& instruction) override {
    if (cta != current_) {
      writer_.resume_cta(id_of(cta));
      current_ = cta;
    }
    return writer_.add(warp, instruction, program_.instructions[instruction.index], polls_[instruction.index]);
  }
  [[nodiscard]] Result<void> end(std::uint64_t cta) override {
    writer_.resume_cta(id_of(cta));
    if (auto done = writer_.end_cta(); !done) {
      return done;
    }
    return after_(++ended_);
  }

 private:
  [[nodiscard]] std::uint64_t id_of(std::uint64_t cta) const {
    return ids_[static_cast<std::size_t>(std::lower_bound(opened_.begin(), opened_.end(), cta) - opened_.begin())];
  }

  const isa::Program& program_;
  std::vector<bool> polls_;
  std::span<const std::uint64_t> opened_, ids_;
  TraceWriter& writer_;
  const std::function<Result<void>(std::size_t)>& after_;
  std::uint64_t current_ = 0;
  std::size_t ended_ = 0;
};

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

Result<void> record_together(const isa::KernelStream& kernel, std::span<const std::uint64_t> opened,
                             std::span<const std::uint64_t> ids, TraceWriter& writer,
                             const std::function<Result<void>(std::size_t)>& after) {
  Recorder recorder(kernel.program(), opened, ids, writer, after);
  GridRun run;
  run.open = [&kernel](std::uint64_t id) { return kernel.open(id, nullptr); };
  run.code = kernel.program().instructions;
  run.ctas = opened;
  run.where = kernel.program().name;
  run.observer = &recorder;
  const auto executed = run_grid(run);
  return executed ? Result<void>{} : tl::unexpected<Error>(executed.error());
}

}  // namespace tilesim::traces
