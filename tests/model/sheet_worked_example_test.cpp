// Every number of the published worked example (FP32, 128x128x8 tile, 8x8 per thread, 4096^3) on `article-card`.
#include <cmath>
#include <map>

#include "model/tile_sheet.h"
#include "tests/model/tile_fixtures.h"

namespace tilesim::model {
namespace {

TileSheet worked_example(std::int64_t stages = 1) {
  TileConfig config;
  config.stages = stages;
  config.registers = 100;  // "about 100" is an input of the example
  auto sheet = make_tile_sheet(config, problem_of(4096, 4096, 4096), shipped_gpu("article-card"));
  if (!sheet) FAIL(sheet.error().message);
  return *std::move(sheet);
}

TEST_CASE("Worked example: the CTA's work") {
  const TileWork work = worked_example().work;
  CHECK(work.threads == 256);
  CHECK(work.register_estimate.accumulators == 64);
  CHECK(work.shared_bytes == 8192);
  CHECK(worked_example(2).work.shared_bytes_per_buffer == 8192);
  CHECK(worked_example(2).work.shared_bytes == 16384);
  CHECK(work.flops_per_k_step == 262144);
  CHECK(work.flops_per_thread_k_step == 1024);
  CHECK(work.fma_per_thread_k_step == 512);
  CHECK(work.k_step_cycles == 1024.0);
  CHECK(work.k_step_seconds * 1e6 == Approx(0.683).margin(0.0005));
}

TEST_CASE("Worked example: FLOPs, bytes and intensity of the problem") {
  const TileSheet sheet = worked_example();
  CHECK(sheet.whole.flops.products == 137438953472);  // 1.374e11
  CHECK(sheet.whole.bytes.a == 67108864);             // 67.1 MB
  CHECK(sheet.whole.bytes.b == 67108864);
  CHECK(sheet.whole.bytes.c == 67108864);
  CHECK(sheet.whole.bytes.total() == 201326592);  // 201.3 MB
  CHECK(sheet.intensity.problem.flop_per_byte == Approx(682.7).margin(0.05));
  CHECK(problem_intensity(problem_of(128, 128, 128))->flop_per_byte == Approx(21.3).margin(0.05));
}

TEST_CASE("Worked example: ridges") {
  const TileSheet sheet = worked_example();
  CHECK(sheet.intensity.roofline.peak_flops == Approx(53.76e12));
  CHECK(sheet.intensity.roofline.peak_flops / 140.0 == Approx(384e9));
  CHECK(sheet.intensity.tensor_ridge == Approx(295.2).margin(0.05));
  CHECK(sheet.intensity.fp32_ridge == Approx(16.0).margin(0.05));
  CHECK(sheet.intensity.roofline.ridge == sheet.intensity.fp32_ridge);
  CHECK(sheet.intensity.roofline.bound == Bound::kCompute);
  CHECK(sheet.clock_mhz == 1500.0);
}

TEST_CASE("Worked example: registers and resident CTAs") {
  const Occupancy occupancy = worked_example().residency.occupancy;
  CHECK(occupancy.registers_per_thread == 104);
  CHECK(occupancy.registers_per_cta == 26624);
  CHECK(occupancy.registers_per_cta * 4 == 104 * 1024);
  CHECK(occupancy.by_registers == 2);
  CHECK(occupancy.ctas == 2);
  CHECK(occupancy.limiters == std::vector<std::string>{"registers"});
}

TEST_CASE("Worked example: waves and ideal times") {
  const WholeProblem whole = worked_example().whole;
  CHECK(whole.waves.ctas == 1024);
  CHECK(whole.waves.k_steps == 512);
  CHECK(whole.waves.ctas_per_sm == Approx(7.3).margin(0.05));
  CHECK(whole.waves.concurrent == 280);
  CHECK(whole.waves.whole_waves == 4);
  CHECK(whole.waves.busiest_sm_ctas == 8);
  CHECK(whole.cta_alone_seconds * 1e6 == Approx(349.5).margin(0.05));
  CHECK(whole.wave_seconds * 1e6 == Approx(699.0).margin(0.1));
  CHECK(whole.peak_seconds * 1e3 == Approx(2.56).margin(0.005));
  CHECK(whole.whole_wave_seconds * 1e3 == Approx(2.80).margin(0.005));
}

TEST_CASE("Worked example: where the sketch slips") {
  const TileSheet sheet = worked_example(2);
  CHECK(sheet.intensity.problem.flop_per_element == Approx(2731).margin(0.5));
  CHECK(sheet.intensity.tile_limit.flop_per_byte == Approx(32.0));
  CHECK(sheet.intensity.tile.flop_per_byte == Approx(32.0).epsilon(0.02));
  CHECK(sheet.intensity.tile_k_step.flop_per_byte < 4.0);
  REQUIRE(sheet.slips.size() == 5);
  CHECK(sheet.slips[0].find("2731 FLOP per element of f32 is 682.7 FLOP per byte") != std::string::npos);
  CHECK(sheet.slips[1].find("16.0 FLOP/B, not by the FP16 tensor ridge of 295.2") != std::string::npos);
  CHECK(sheet.slips[3].find("349.5 us at peak; 2 resident CTAs") != std::string::npos);
  CHECK(sheet.slips[4].find("must not load past K") != std::string::npos);
}

TEST_CASE("Worked example: TF32 keeps 4-byte elements, so the intensity does not double as with FP16") {
  CHECK(problem_intensity(problem_of(4096, 4096, 4096, DataType::kTf32))->flop_per_byte == Approx(682.7).margin(0.05));
  CHECK(problem_intensity(problem_of(4096, 4096, 4096, DataType::kF16))->flop_per_byte == Approx(1365.3).margin(0.05));
}

TEST_CASE("Worked example: one block at 192 KB of 228 KB cannot be double-buffered") {
  TileConfig config;
  config.bm = 256;
  config.bn = 128;
  config.bk = 128;
  config.tm = 16;
  const auto problem = problem_of(4096, 4096, 4096);
  const auto one = check_legality(config, problem, shipped_gpu("article-card"));
  REQUIRE(one);
  CHECK(one->shared.needed == 196608);
  CHECK(one->legal());
  config.stages = 2;
  const auto two = check_legality(config, problem, shipped_gpu("article-card"));
  REQUIRE(two);
  CHECK_FALSE(two->legal());
  CHECK(two->shared.needed == 393216);
  CHECK(two->shared.available == 232448);
  CHECK(two->shared.largest_stages == 1);
}

TEST_CASE("Sheet: shared reads per FMA with and without register tiling") {
  const OnChipReads reads = worked_example().on_chip;
  CHECK(reads.per_fma_untiled == 2.0);
  CHECK(reads.per_fma_tiled == 0.25);  // (8 + 8) per k for 8 * 8 multiply-adds
  CHECK(reads.bytes_per_cycle_untiled == 1024.0);
  CHECK(reads.bytes_per_cycle_tiled == 128.0);
  CHECK(reads.bytes_per_cycle_available == 128.0);
}

TEST_CASE("Sheet: barriers per K-step are 2 with one buffer and 1 with two (J01), and warn over 10 percent") {
  CHECK(worked_example(1).overlap.barriers_per_k_step == 2);
  CHECK(worked_example(2).overlap.barriers_per_k_step == 1);
  CHECK_FALSE(worked_example(1).overlap.barrier_warning);  // 2 * (12 + 2*8) of 1,080 cycles
  CHECK(worked_example(1).overlap.barrier_percent == Approx(100.0 * 56 / 1080));
  TileConfig small;
  small.bm = small.bn = 32;
  small.tm = small.tn = 2;
  small.bk = 32;
  const auto sheet = make_tile_sheet(small, problem_of(4096, 4096, 4096), shipped_gpu("article-card"));
  REQUIRE(sheet);
  CHECK(sheet->overlap.barrier_warning);  // 56 of 312 cycles
}

TEST_CASE("Sheet: a carve-out limits the resident CTAs") {
  TileConfig config;
  config.registers = 100;
  const auto with = [&config](std::optional<int> carveout_kb) {
    return make_tile_sheet(config, problem_of(4096, 4096, 4096), shipped_gpu("article-card"), 0.0, carveout_kb);
  };
  CHECK(with(16)->residency.occupancy.ctas == 1);  // 8,192 B and 1 KB of the system's each
  CHECK(with(16)->residency.occupancy.limiters == std::vector<std::string>{"shared memory"});
  CHECK(with(32)->residency.occupancy.ctas == 2);
}

TEST_CASE("Sheet: Little's law and overlap") {
  const TileSheet one = worked_example(1);
  const TileSheet two = worked_example(2);
  // 3.35 TB/s * 343 ns over 140 SMs
  CHECK(one.residency.bytes_in_flight_for_dram == Approx(3.35e12 * 343e-9 / 140));
  CHECK(one.residency.bytes_in_flight_per_cta == 8192.0);
  CHECK(one.residency.ctas_needed == 1);  // the kernel needs 8,192 B per 683 ns, over 343 ns
  CHECK(one.residency.enough);
  CHECK(two.overlap.hidden_percent == 100.0);
}

TEST_CASE("Sheet: entries are unique, finite and numbered") {
  std::map<std::string, double> entries;
  for (const SheetEntry& entry : sheet_entries(worked_example())) {
    CHECK(entries.emplace(entry.key, entry.value).second);
    CHECK(entry.item >= 1);
    CHECK(entry.item <= 15);
    CHECK_FALSE(entry.unit.empty());
    CHECK(std::isfinite(entry.value));
  }
  CHECK(entries.at("threads_per_cta") == 256.0);
  CHECK(entries.at("resident_ctas") == 2.0);
  CHECK(entries.at("allocated_registers_per_cta") == 26624.0);
  CHECK(entries.at("peak_per_sm") == Approx(384e9));
  for (const char* matrix : {"bytes_a", "bytes_b", "bytes_c"}) CHECK(entries.at(matrix) == 67108864.0);
}

TEST_CASE("the least time: the busiest SM's math and data pipe, not a full wave") {
  const GpuSpec gpu = *find_gpu_spec("h200");
  TileConfig config;
  config.stages = 2;
  const auto least = [&](std::int64_t m, std::int64_t n) {
    Problem problem;
    problem.m = m;
    problem.n = n;
    problem.k = 4096;
    const auto sheet = make_tile_sheet(config, problem, gpu);
    REQUIRE(sheet.has_value());
    CHECK(sheet->on_chip.wavefront_cycles > sheet->work.k_step_cycles);  // the data pipe is what limits this tile
    const double one_cta = 512 * sheet->on_chip.wavefront_cycles / (sheet->clock_mhz * 1e6);
    return sheet->whole.least_seconds / one_cta;
  };
  CHECK(least(128, 128) == Approx(1.0));            // 1 CTA
  CHECK(least(128 * 11, 128 * 12) == Approx(1.0));  // 132 CTAs: one on each SM
  CHECK(least(128 * 7, 128 * 19) == Approx(2.0));   // 133
  CHECK(least(4096, 4096) == Approx(8.0));          // 1,024: 7.8 each
}

TEST_CASE(
    "the least time of mma.sync kernels: a 16x8x16 product per 6 cycles and sub-partition, below the wgmma peak") {
  const GpuSpec gpu = *find_gpu_spec("h200");
  TileConfig config;
  config.family = Family::kMma;
  config.wm = 64;
  config.wn = 32;
  config.dtype = DataType::kBf16;
  config.bk = 32;
  config.stages = 3;
  config.copy = CopyPath::kAsync;
  config.vec = 8;
  config.pad_a = config.pad_b = 8;
  Problem problem;
  problem.m = problem.n = problem.k = 8192;
  problem.dtype = DataType::kBf16;
  const auto sheet = make_tile_sheet(config, problem, gpu);
  REQUIRE(sheet.has_value());
  const double rate = static_cast<double>(sheet->whole.flops.products) / sheet->whole.least_seconds;
  const double mma_peak = 2.0 * 132 * 4 * 2048 / 6.0 * sheet->clock_mhz * 1e6;
  CHECK(rate <= mma_peak);
  CHECK(rate >= 0.9 * mma_peak);
}

}  // namespace
}  // namespace tilesim::model
