// Generated code against what ptxas makes of the same configurations (traces/calibration/ptxas/simt.csv): registers,
// resident CTAs, instructions of the main loop by class. Prints the figures that documents quote.
#include <fmt/format.h>

#include <cmath>

#include "model/legality.h"
#include "model/occupancy.h"
#include "tests/support/catch.h"
#include "tests/support/ptxas_corpus.h"
#include "traces/generator/tile_kernel.h"

using namespace tilesim;

namespace {

/// Instructions of the main loop by class.
struct LoopCounts {
  double ffma = 0, shared_loads = 0, shared_stores = 0, global_loads = 0, copies = 0, barriers = 0, other = 0;
  [[nodiscard]] double all() const {
    return ffma + shared_loads + shared_stores + global_loads + copies + barriers + other;
  }
};

LoopCounts measured_counts(const test::CorpusRow& row) {
  LoopCounts n;
  const auto sum = [&row](std::initializer_list<const char*> columns) {
    double s = 0;
    for (const char* column : columns) {
      s += static_cast<double>(row.number(std::string("loop_") + column));
    }
    return s;
  };
  n.ffma = sum({"ffma"});
  n.shared_loads = sum({"lds32", "lds64", "lds128"});
  n.shared_stores = sum({"sts32", "sts64", "sts128"});
  n.global_loads = sum({"ldg32", "ldg64", "ldg128"});
  n.copies = sum({"ldgsts32", "ldgsts64", "ldgsts128"});
  n.barriers = sum({"bar"});
  n.other = static_cast<double>(row.number("loop_instructions")) - n.all();
  return n;
}

LoopCounts estimated_counts(const isa::Program& program) {
  LoopCounts n;
  std::size_t end = 0;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const isa::Instruction& inst = program.instructions[i];
    end = inst.control == isa::ControlOp::kBranch && inst.branch_target <= i ? i : end;
  }
  for (std::size_t i = program.instructions[end].branch_target; i <= end; ++i) {
    const isa::Instruction& inst = program.instructions[i];
    const auto is = [&inst](isa::MemoryOp op) { return inst.memory == op; };
    double& place = inst.pipe == isa::Pipe::kFma               ? n.ffma
                    : is(isa::MemoryOp::kLoadShared)           ? n.shared_loads
                    : is(isa::MemoryOp::kStoreShared)          ? n.shared_stores
                    : is(isa::MemoryOp::kLoadGlobal)           ? n.global_loads
                    : is(isa::MemoryOp::kCopyAsync)            ? n.copies
                    : inst.control == isa::ControlOp::kBarrier ? n.barriers
                                                               : n.other;
    place += 1;
  }
  return n;
}

std::int64_t resident(const model::TileConfig& config, std::int64_t registers) {
  const auto cc = *model::find_compute_capability(9, 0);
  const auto occupancy =
      model::occupancy(cc, {model::threads_per_cta(config), registers, model::shared_bytes(config), std::nullopt, 1});
  REQUIRE(occupancy.has_value());
  return occupancy->ctas;
}

}  // namespace

TEST_CASE("generated code against ptxas: registers, resident CTAs, main loop") {
  const auto rows = test::read_ptxas_corpus();
  const auto gpu = *model::find_gpu_spec("h200");
  int compared = 0, registers_right = 0, ctas_right = 0, loops_right = 0;
  for (const test::CorpusRow& row : rows) {
    const model::TileConfig config = row.config();
    if (config.register_cap != 0 || row.number("EPILOGUE") != 0 || row.number("RAGGED") != 0 ||
        row.number("spill_store_bytes") != 0) {
      continue;
    }
    model::Problem problem;
    problem.m = 4 * config.bm;
    problem.n = 4 * config.bn;
    problem.k = 16 * config.bk;
    const auto kernel = traces::TileKernel::create(config, problem);
    REQUIRE(kernel.has_value());
    const std::int64_t measured = row.number("registers");
    const std::int64_t estimated = (*kernel)->estimate().registers;
    const LoopCounts loop = measured_counts(row);
    const LoopCounts guess = estimated_counts((*kernel)->program());
    const auto close = [](double a, double b) { return std::abs(a - b) <= 0.1 * b; };
    const bool loop_right = close(guess.ffma, loop.ffma) && close(guess.shared_loads, loop.shared_loads) &&
                            close(guess.shared_stores, loop.shared_stores) &&
                            close(guess.global_loads, loop.global_loads) && close(guess.copies, loop.copies) &&
                            close(guess.barriers, loop.barriers) &&
                            std::abs(guess.all() - loop.all()) <= 0.1 * loop.all();
    const bool near = std::abs(measured - estimated) <= 8;
    const bool same = resident(config, measured) == resident(config, estimated);
    ++compared;
    registers_right += near ? 1 : 0;
    ctas_right += same ? 1 : 0;
    loops_right += loop_right ? 1 : 0;
    if (!near || !same || !loop_right) {
      fmt::print(
          "{:<34} registers {:>3} (ptxas {:>3}) CTAs {:>2} ({:>2}) other {:>3} ({:>3}) loop {}{}\n", row.at("name"),
          estimated, measured, resident(config, estimated), resident(config, measured), guess.other, loop.other,
          guess.all(),
          loop_right
              ? ""
              : fmt::format(" WRONG ({}): ffma {} ({}) lds {} ({}) sts {} ({}) ldg {} ({}) copies {} ({}) bar {} ({})",
                            loop.all(), guess.ffma, loop.ffma, guess.shared_loads, loop.shared_loads,
                            guess.shared_stores, loop.shared_stores, guess.global_loads, loop.global_loads,
                            guess.copies, loop.copies, guess.barriers, loop.barriers));
    }
  }
  const auto share = [compared](int n) { return 100.0 * n / compared; };
  fmt::print(
      "{} configurations: registers within 8 of ptxas {:.1f} %, resident CTAs right {:.1f} %, main loop within 10 % by "
      "class {:.1f} %\n",
      compared, share(registers_right), share(ctas_right), share(loops_right));
  CHECK(compared >= 60);
  CHECK(share(registers_right) >= 90.0);
  CHECK(share(loops_right) >= 95.0);
  // Known gap: 95 % is wanted. Small CTAs change their number with every 8 registers.
  CHECK(share(ctas_right) >= 80.0);
}
