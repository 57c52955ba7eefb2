#include "traces/generator/tile_code.h"

#include <algorithm>
#include <type_traits>

#include "model/register_plan.h"
#include "traces/generator/mma_code.h"
#include "traces/generator/registers.h"
#include "traces/generator/scheduler.h"
#include "traces/generator/simt_code.h"

namespace tilesim::traces::generator {

namespace {

using isa::Pipe;

constexpr int kLargestRegisterCount = 255;

/// Appends scheduled blocks to the program.
class Emitter {
 public:
  explicit Emitter(const model::TileConfig& config) : config_(config) {}

  void append(const Block& block, int budget) {
    const Schedule order = schedule(block, ScheduleOptions{budget, config_.family == model::Family::kMma});
    std::vector<Operation> operations;
    operations.reserve(order.order.size());
    for (const int op : order.order) {
      operations.push_back(block.operations[static_cast<std::size_t>(op)]);
    }
    set_control(operations);
    most_registers_ = std::max(most_registers_, assign_registers(config_, block.values, operations));
    for (Operation& op : operations) {
      code_.program.instructions.push_back(op.code);
      code_.program.text.push_back(std::move(op.name));
      code_.references.push_back({op.access, op.tile});
    }
  }

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(code_.program.instructions.size()); }
  [[nodiscard]] TileCode& code() { return code_; }
  [[nodiscard]] int most_registers() const { return most_registers_; }

 private:
  const model::TileConfig& config_;
  TileCode code_;
  int most_registers_ = 0;
};

/// One slice of the main loop, through shared memory.
template <class Builder>
void build_slice(const model::TileConfig& config, Builder& build, TileCode& code) {
  const bool async = config.copy == model::CopyPath::kAsync;
  if (config.stages == 1) {
    if (async) {
      build.barrier();
      build.copy_slice(0);
      build.wait_groups(0);
    } else {
      const std::vector<int> staged = build.load_slice(0);
      build.barrier();
      build.store_slice(staged, 0);
    }
    build.barrier();
    build.multiply(0);
  } else if (async) {
    build.wait_groups(config.stages - 2);
    build.barrier();
    build.copy_slice(config.stages - 1);
    build.multiply(0);
  } else {
    const std::vector<int> staged = build.load_slice(1);
    build.multiply(0);
    build.store_slice(staged, 1);
    build.barrier();
    code.peeled = 1;
  }
}

/// Direct loads where K is no multiple of BK: the steps that are left go one by one behind the loop.
void append_remainder(const model::TileConfig& config, const model::Problem& problem, SimtBuilder& build, Emitter& emit,
                      int budget) {
  const std::int64_t steps = problem.split_k == 1 ? problem.k % config.bk : 0;
  for (std::int64_t k = 0; k < steps; ++k) {
    build.integers(kRemainderIntegers, 2);
    build.multiply(0, k, 1);
    emit.append(build.take(), budget);
  }
  emit.code().peeled = steps != 0 ? 1 : 0;
}

template <class Builder>
TileCode make_code(const model::TileConfig& config, TileAccesses& accesses) {
  Builder build(config, accesses);
  Emitter emit(config);
  const LoopOverhead overhead = loop_overhead(config, accesses.in_bounds());
  const int budget = fragment_budget(config);
  const bool async = config.copy == model::CopyPath::kAsync;
  TileCode& code = emit.code();

  build.start(prologue_integers(config), Builder::kZeroed);
  if (async && config.stages > 1) {
    for (std::int64_t s = 0; s + 1 < config.stages; ++s) {
      build.copy_slice(s);
    }
  } else if (config.copy == model::CopyPath::kRegister && config.stages > 1) {
    build.store_slice(build.load_slice(0), 0);
    build.barrier();
  }
  emit.append(build.take(), kLargestRegisterCount);

  code.loop_begin = emit.size();
  build.integers(overhead.wide, 1, Pipe::kFmaWide, "IMAD.WIDE");
  build.integers(overhead.integers, 2);
  build.integers(overhead.uniform, 2, Pipe::kUniform, "UIADD3");
  if (uses_shared_memory(config)) {
    build_slice(config, build, code);
  } else {
    build.multiply(0);
  }
  const model::Spill spill = model::spill_of(config);
  build.spill(spill.registers, spill.loads_per_k_step, spill.stores_per_k_step);
  build.branch();
  emit.append(build.take(), budget);
  code.loop_end = emit.size();
  code.program.instructions[code.loop_end - 1].branch_target = code.loop_begin;

  if (code.peeled != 0) {
    build.multiply(0);
    emit.append(build.take(), budget);
  }
  if constexpr (std::is_same_v<Builder, SimtBuilder>) {
    if (!uses_shared_memory(config)) {
      append_remainder(config, accesses.problem(), build, emit, budget);
    }
  }
  build.store_c();
  emit.append(build.take(), kLargestRegisterCount);

  code.registers = static_cast<int>(model::registers_per_thread(config));
  code.spilled_bytes = std::int64_t{4} * spill.registers;
  code.program.name = "tile_gemm";
  code.program.registers_referenced = code.registers;
  return std::move(code);
}

}  // namespace

TileCode make_tile_code(const model::TileConfig& config, TileAccesses& accesses) {
  return config.family == model::Family::kSimt ? make_code<SimtBuilder>(config, accesses)
                                               : make_code<MmaBuilder>(config, accesses);
}

}  // namespace tilesim::traces::generator
