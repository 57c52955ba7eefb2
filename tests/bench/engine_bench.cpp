// Simulated warp instructions per second on one thread, every SM and every instruction: the calibration kernels at a
// size that takes seconds.
#include <benchmark/benchmark.h>

#include "sim/simulate.h"
#include "traces/emulator/sass_kernel.h"
#include "traces/sass/decoder.h"
#include "traces/sass/listing_reader.h"

namespace {

using namespace tilesim;

void detailed(benchmark::State& state, const char* name, int tile, int shared_bytes, int ctas_per_sm) {
  const auto gpu = model::find_gpu_spec("h200");
  const auto listing = traces::read_listing(std::string(TILESIM_CALIBRATION_FOLDER) + "/" + name + ".sass");
  const auto decoded = traces::decode_kernel(listing->kernels.front());
  constexpr std::uint32_t kSize = 1024;
  traces::LaunchParameters launch;
  launch.grid = {kSize / static_cast<std::uint32_t>(tile), kSize / static_cast<std::uint32_t>(tile), 1};
  launch.block = {256, 1, 1};
  launch.shared_bytes = static_cast<std::uint64_t>(shared_bytes);
  launch.arguments = *traces::parse_arguments("i32:1024,i32:1024,i32:1024,ptr:4MiB,ptr:4MiB,ptr:4MiB");
  const auto kernel = traces::SassKernel::create(*decoded, launch);
  sim::SimulationOptions options;
  options.ctas_per_sm = ctas_per_sm;
  options.l1_bytes = 128 * 1024;
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    const auto result = sim::simulate(*gpu, **kernel, options);
    for (const sim::SmCounters& sm : result->sms) {
      instructions += sm.instructions;
    }
  }
  state.counters["warp_instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(detailed, sgemm_128_128_8_8_8_s1_p0, "sgemm_128_128_8_8_8_s1_p0", 128, 8192, 2)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(detailed, sgemm_128_128_8_8_8_s2_p4, "sgemm_128_128_8_8_8_s2_p4", 128, 16640, 2)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(detailed, sgemm_128_128_16_8_8_s2_p0, "sgemm_128_128_16_8_8_s2_p0", 128, 32768, 1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(detailed, sgemm_64_64_16_4_4_s2_p0, "sgemm_64_64_16_4_4_s2_p0", 64, 16384, 3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(detailed, sgemm_32_32_32_2_2_s1_p0, "sgemm_32_32_32_2_2_s1_p0", 32, 8192, 8)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
