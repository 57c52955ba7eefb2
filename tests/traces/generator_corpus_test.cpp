// Generated code against what ptxas makes of the same configurations (traces/calibration/ptxas/*.csv): registers,
// resident CTAs, instructions of the main loop by class. Prints the figures that documents quote.
#include <fmt/format.h>

#include <cmath>

#include "model/legality.h"
#include "model/occupancy.h"
#include "model/register_plan.h"
#include "tests/support/catch.h"
#include "tests/support/ptxas_corpus.h"
#include "traces/generator/tile_kernel.h"

using namespace tilesim;

namespace {

/// Instructions of the main loop by class, for one K-slice.
struct LoopCounts {
  double products = 0, matrix_loads = 0, shared_loads = 0, shared_stores = 0, global_loads = 0, copies = 0,
         barriers = 0, other = 0;
  [[nodiscard]] double all() const {
    return products + matrix_loads + shared_loads + shared_stores + global_loads + copies + barriers + other;
  }
};

LoopCounts measured_counts(const test::CorpusRow& row) {
  LoopCounts n;
  const auto sum = [&row](std::initializer_list<const char*> columns) {
    double s = 0;
    for (const char* column : columns) {
      const auto cell = row.cells.find(std::string("loop_") + column);  // a family lacks what it cannot have
      s += cell != row.cells.end() ? std::stod(cell->second) : 0.0;
    }
    return s / std::stod(row.at("k_tiles_per_iteration"));  // mma: short loops are unrolled
  };
  n.products = sum({"ffma", "hmma"});
  n.matrix_loads = sum({"ldsm2", "ldsm4", "ldsm2t", "ldsm4t"});
  n.shared_loads = sum({"lds32", "lds64", "lds128"});
  n.shared_stores = sum({"sts16", "sts32", "sts64", "sts128"});
  n.global_loads = sum({"ldg16", "ldg32", "ldg64", "ldg128"});
  n.copies = sum({"ldgsts32", "ldgsts64", "ldgsts128"});
  n.barriers = sum({"bar"});
  n.other = sum({"instructions"}) - n.all();
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
    double& place = inst.pipe == isa::Pipe::kFma               ? n.products
                    : inst.pipe == isa::Pipe::kTensor          ? n.products
                    : is(isa::MemoryOp::kLoadMatrix)           ? n.matrix_loads
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

/// Shares of the configurations of a family, in percent, for which the generator is right.
struct Score {
  int compared = 0;
  double registers = 0, ctas = 0, loops = 0;
};

Score score_of(const std::string& family) {
  const auto rows = test::read_ptxas_corpus(family);
  const auto gpu = *model::find_gpu_spec("h200");
  int compared = 0, registers_right = 0, ctas_right = 0, loops_right = 0;
  for (const test::CorpusRow& row : rows) {
    const model::TileConfig config = row.config();
    if (config.register_cap != 0 || row.number("EPILOGUE") != 0 || row.number("RAGGED") != 0 ||
        row.number("spill_store_bytes") != 0) {
      continue;
    }
    // The corpus was compiled for the CTAs that the model plans; else registers and occupancy compare unlike kernels.
    CHECK(row.number("MIN_CTAS") == model::planned_ctas(config));
    model::Problem problem;
    problem.m = 4 * config.bm;
    problem.n = 4 * config.bn;
    problem.k = 16 * config.bk;
    problem.dtype = config.dtype;
    const auto kernel = traces::TileKernel::create(config, problem);
    REQUIRE(kernel.has_value());
    const std::int64_t measured = row.number("registers");
    const std::int64_t estimated = (*kernel)->estimate().registers;
    const LoopCounts loop = measured_counts(row);
    const LoopCounts guess = estimated_counts((*kernel)->program());
    const auto close = [](double a, double b) { return std::abs(a - b) <= 0.1 * b; };
    const bool loop_right =
        close(guess.products, loop.products) && close(guess.matrix_loads, loop.matrix_loads) &&
        close(guess.shared_loads, loop.shared_loads) && close(guess.shared_stores, loop.shared_stores) &&
        close(guess.global_loads, loop.global_loads) && close(guess.copies, loop.copies) &&
        close(guess.barriers, loop.barriers) && std::abs(guess.all() - loop.all()) <= 0.1 * loop.all();
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
              : fmt::format(
                    " WRONG ({}): products {} ({}) ldsm {} ({}) lds {} ({}) sts {} ({}) ldg {} ({}) copies {} ({}) bar "
                    "{} ({})",
                    loop.all(), guess.products, loop.products, guess.matrix_loads, loop.matrix_loads,
                    guess.shared_loads, loop.shared_loads, guess.shared_stores, loop.shared_stores, guess.global_loads,
                    loop.global_loads, guess.copies, loop.copies, guess.barriers, loop.barriers));
    }
  }
  const auto share = [compared](int n) { return 100.0 * n / compared; };
  fmt::print(
      "{}: {} configurations: registers within 8 of ptxas {:.1f} %, resident CTAs right {:.1f} %, main loop within 10 "
      "% by "
      "class {:.1f} %\n",
      family, compared, share(registers_right), share(ctas_right), share(loops_right));
  return {compared, share(registers_right), share(ctas_right), share(loops_right)};
}

}  // namespace

TEST_CASE("generated SIMT code against ptxas: registers, resident CTAs, main loop") {
  const Score score = score_of("simt");
  CHECK(score.compared >= 60);
  CHECK(score.registers >= 90.0);
  CHECK(score.loops >= 95.0);
  CHECK(score.ctas >= 95.0);
}

TEST_CASE("generated mma code against ptxas: registers, resident CTAs, main loop") {
  const Score score = score_of("mma");
  CHECK(score.compared >= 60);
  CHECK(score.registers >= 90.0);
  CHECK(score.loops >= 90.0);
  CHECK(score.ctas >= 95.0);
}
