// Estimated mma code against compiled code (the cubins that nvcc made of kernels/mma, traces/calibration/ptxas), and
// against measured kernels of the same tiles. Prints one line per configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include "model/gpu_spec.h"
#include "tests/accuracy/calibration_kernels.h"
#include "tests/accuracy/comparison.h"
#include "tests/support/catch.h"
#include "tests/support/ptxas_corpus.h"
#include "tools/lib/compiled_tile.h"
#include "tools/lib/simulate_kernel.h"
#include "tools/lib/tile_source.h"

using namespace tilesim;

TEST_CASE("estimated against compiled mma code at 2048 x 2048 x 1024") {
  const auto gpu = *model::find_gpu_spec("h200");
  model::Problem problem;
  problem.m = problem.n = 2048;
  problem.k = 1024;
  problem.c_bytes = 4;
  test::Errors errors;
  for (const test::CorpusRow& row : test::read_ptxas_corpus("mma")) {
    const std::string path = fmt::format("{}/{}.cubin", TILESIM_PTXAS_FOLDER, row.at("name"));
    if (!std::ifstream(path) || row.number("RAGGED") != 0) {
      continue;
    }
    const model::TileConfig config = row.config();
    problem.dtype = config.dtype;
    CAPTURE(row.at("name"));
    const auto compiled = app::load_compiled_tile(path, config, problem);
    REQUIRE(compiled.has_value());
    CHECK(compiled->source->math() == config.dtype);
    const auto estimated = app::TileSource::create(config, problem);
    REQUIRE(estimated.has_value());
    const double truth = test::brief_cycles(gpu, *compiled->source, compiled->registers, compiled->shared_bytes);
    const auto& code = (*estimated)->estimate();
    const double guess = test::brief_cycles(gpu, **estimated, code.registers, code.shared_bytes);
    fmt::print("{:<48} estimated {:>8.0f} cycles, {:>3} registers  compiled {:>8.0f}, {:>3}  {:+6.1f} %\n",
               row.at("name"), guess, code.registers, truth, compiled->registers, errors.add(guess, truth));
  }
  errors.print("estimated against compiled mma code");
  CHECK(errors.count >= 20);
  CHECK(errors.mape() < 0.15);
}

TEST_CASE("estimated mma code against measured kernels of the same tiles") {
  const auto gpu = *model::find_gpu_spec("h200");
  test::Errors errors;
  for (const char* name : {"hgemm_128_128_32_64_32_s3", "hgemm_128_256_32_64_64_s3", "hgemm_64_64_32_32_32_s3"}) {
    model::TileConfig config;
    config.family = model::Family::kMma;
    config.dtype = model::DataType::kBf16;
    config.layout = model::Layout::kNT;
    config.copy = model::CopyPath::kAsync;
    config.vec = 8;
    config.pad_a = config.pad_b = 8;
    REQUIRE(std::sscanf(name, "hgemm_%ld_%ld_%ld_%ld_%ld_s%ld", &config.bm, &config.bn, &config.bk, &config.wm,
                        &config.wn, &config.stages) == 6);
    for (const int size : {1024, 4096}) {
      auto measured = test::counters(name, size);
      model::Problem problem;
      problem.m = problem.n = problem.k = size;
      problem.dtype = config.dtype;
      problem.c_bytes = 4;
      const auto source = app::TileSource::create(config, problem);
      REQUIRE(source.has_value());
      app::KernelLaunch launch;
      launch.registers = (*source)->estimate().registers;
      launch.shared_bytes = (*source)->estimate().shared_bytes;
      launch.carveout_kb = static_cast<int>(measured["launch__shared_mem_config_size"] / 1024);
      const auto result = app::simulate_kernel(gpu, **source, launch, std::nullopt, app::Effort{false, false, 2});
      REQUIRE(result.has_value());
      const double error = errors.add(result->cycles_active_avg, measured["sm__cycles_active.avg"]);
      const double resident =
          std::min(measured["launch__occupancy_limit_registers"], measured["launch__occupancy_limit_shared_mem"]);
      fmt::print(
          "{:<28} {}^3  estimated {:>9.0f} cycles, {:>3} registers, {} CTAs   measured {:>9.0f}, {:>3}, {}   {:+6.1f} "
          "%\n",
          name, size, result->cycles_active_avg, launch.registers, result->occupancy.ctas,
          measured["sm__cycles_active.avg"], measured["launch__registers_per_thread"], resident, error);
      CAPTURE(name, size);
      CHECK(static_cast<double>(result->occupancy.ctas) == resident);
    }
  }
  errors.print("estimated mma code against measured kernels");
}
