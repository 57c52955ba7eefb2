// The kernels of the corpus in the machine: all instructions that nvcc makes of GEMMs have a place there.
#include <fmt/format.h>

#include "model/gpu_spec.h"
#include "sim/simulate.h"
#include "tests/support/catch.h"
#include "tests/traces/corpus_launch.h"
#include "traces/emulator/functional.h"
#include "traces/emulator/main_loop.h"

namespace tilesim::traces {

TEST_CASE("every kernel of the corpus runs to its end in the machine") {
  const auto gpu = model::find_gpu_spec("h200");
  REQUIRE(gpu.has_value());
  std::size_t timed = 0;
  for (const test::CorpusKernel& kernel : test::corpus_kernels()) {
    INFO(kernel.name);
    const CubinKernel code = corpus_code(kernel);
    const auto decoded = decode_kernel(code);
    REQUIRE(decoded.has_value());
    const CorpusLaunch launch(kernel, {128, 128, 32, 2, 2}, code.static_shared_bytes);
    const auto stream = SassKernel::create(*decoded, launch.launch());
    REQUIRE(stream.has_value());
    sim::SimulationOptions options;
    options.ctas_per_sm = 2;
    options.l1_bytes = 32 * 1024;
    const auto simulated = sim::simulate(*gpu, **stream, options);
    INFO((simulated ? "" : simulated.error().message));
    REQUIRE(simulated.has_value());
    std::uint64_t instructions = 0;
    for (const sim::SmCounters& sm : simulated->sms) {
      instructions += sm.instructions;
    }
    const auto again = SassKernel::create(*decoded, launch.launch());
    REQUIRE(again.has_value());
    const auto executed = run_streams(**again);
    REQUIRE(executed.has_value());
    if ((*stream)->ordered()) {  // who comes first does more or less: waiting, drawing tiles
      CHECK(instructions > *executed / 2);
    } else {
      CHECK(instructions == *executed);
    }
    ++timed;
  }
  CHECK(timed == test::corpus_kernels().size());
}

TEST_CASE("a short inner loop does not stand for the kernel: the loop around it does") {
  // 16 trips for the rows of a tile, without unrolling, in the loop over K / 16 tiles.
  for (const test::CorpusKernel& kernel : test::corpus_kernels()) {
    if (kernel.name != "sgemm_register_tile") {
      continue;
    }
    const CubinKernel code = corpus_code(kernel);
    const CorpusLaunch launch(kernel, {64, 64, 1600, 1, 1}, code.static_shared_bytes);
    const auto stream = SassKernel::create(*decode_kernel(code), launch.launch());
    REQUIRE(stream.has_value());
    const auto loop = find_main_loop(**stream);
    REQUIRE(loop.has_value());
    REQUIRE(loop->has_value());
    CHECK((*loop)->trips == 100);
    return;
  }
  FAIL("sgemm_register_tile is not in the corpus");
}

}  // namespace tilesim::traces
