// SMs that are present as request generators send what they would send if they ran every instruction.
#include <algorithm>

#include "tests/sim/probe.h"

using namespace tilesim;
using namespace tilesim::sim;
using namespace tilesim::sim::testing;

namespace {

/// Loads and stores of four warps in a loop; each access of each CTA touches lines that no other access touches.
SyntheticKernel kernel_of(std::uint64_t cta_pitch) {
  SyntheticKernel kernel;
  kernel.ctas.x = 300;
  kernel.threads.x = 128;
  kernel.trips = 3;
  kernel.address = [cta_pitch](std::uint32_t index, std::uint64_t trip, std::uint64_t cta, int warp, int lane) {
    return (std::uint64_t{1} << 32) + (std::uint64_t{index} << 28) + cta * cta_pitch + trip * 1024 +
           static_cast<std::uint64_t>(warp) * 256 + static_cast<std::uint64_t>(lane) * 4;
  };
  kernel.add_memory(isa::MemoryOp::kLoadGlobal, 4, 2, 0);
  kernel.add_memory(isa::MemoryOp::kLoadGlobal, 4, 2, 1);
  kernel.add(isa::Pipe::kAlu).wait_mask = 3;
  kernel.add_memory(isa::MemoryOp::kStoreGlobal, 4, 3, 7);
  kernel.add_control(isa::ControlOp::kBranch, 5).branch_target = 0;
  kernel.add_exit();
  return kernel;
}

SimulationResult simulate_on(const SyntheticKernel& kernel, const std::vector<int>& detailed) {
  const auto gpu = model::find_gpu_spec("h200");
  REQUIRE(gpu.has_value());
  SimulationOptions options;
  options.l1_bytes = 128 * 1024;
  options.detailed_sms = detailed;
  const auto result = simulate(*gpu, kernel, options);
  REQUIRE(result.has_value());
  return *result;
}

/// One SM per number of CTAs.
std::vector<int> one_of_each(const SyntheticKernel& kernel) {
  const auto gpu = model::find_gpu_spec("h200");
  const std::vector<std::uint64_t> counts = ctas_by_sm(*gpu, kernel.ctas.count(), 1);
  std::vector<int> sms;
  std::vector<std::uint64_t> seen;
  for (std::size_t sm = 0; sm < counts.size(); ++sm) {
    if (std::find(seen.begin(), seen.end(), counts[sm]) == seen.end()) {
      seen.push_back(counts[sm]);
      sms.push_back(static_cast<int>(sm));
    }
  }
  return sms;
}

void check_same_traffic(const SyntheticKernel& kernel) {
  const SimulationResult whole = simulate_on(kernel, {});
  const SimulationResult part = simulate_on(kernel, one_of_each(kernel));
  CHECK(part.instructions == whole.instructions);
  const ChipCounters& all = whole.chip;
  const ChipCounters& sampled = part.chip;
  CHECK(all.l2_read_sectors > 0);
  CHECK(sampled.l2_read_sectors == all.l2_read_sectors);
  CHECK(sampled.l2_write_sectors == all.l2_write_sectors);
  CHECK(sampled.dram_read_bytes == all.dram_read_bytes);
}

}  // namespace

TEST_CASE("CTAs that are moved copies send the same sectors as if simulated") { check_same_traffic(kernel_of(65536)); }

TEST_CASE("a distance between CTAs that is no multiple of a sector") { check_same_traffic(kernel_of(65536 + 20)); }

TEST_CASE("what the L1 holds is not sent again") {
  SyntheticKernel kernel = kernel_of(65536);
  kernel.trips = 20;
  kernel.address = [](std::uint32_t index, std::uint64_t trip, std::uint64_t cta, int, int lane) {
    return (std::uint64_t{1} << 32) + (std::uint64_t{index} << 28) + cta * 65536 + trip / 4 * 1024 +
           static_cast<std::uint64_t>(lane) * 4;
  };
  check_same_traffic(kernel);
  // Two loads of a line each in five groups of trips, which all warps share.
  CHECK(simulate_on(kernel, one_of_each(kernel)).chip.l2_read_sectors == 300 * 5 * 2 * 4);
}

TEST_CASE("a ragged edge: lanes, warps and whole accesses switched off in some CTAs") {
  SyntheticKernel kernel = kernel_of(65536);
  kernel.mask = [](std::uint32_t index, std::uint64_t cta, int warp) {
    if (cta % 10 == 9) {
      return warp == 3 ? 0U : warp == 2 ? 0xffU : ~0U;
    }
    return cta % 50 == 0 && index == 1 ? 0U : ~0U;
  };
  check_same_traffic(kernel);
}

TEST_CASE("instructions of all CTAs are counted, also of those that execute more or fewer") {
  SyntheticKernel kernel = kernel_of(65536);
  kernel.mask = [](std::uint32_t, std::uint64_t cta, int) { return cta % 7 == 0 ? 0xffU : ~0U; };
  kernel.trips_of = [](std::uint64_t cta) { return cta % 7 == 0 ? 2 : cta % 5 == 0 ? 6 : 4; };
  std::uint64_t expected = 0;
  for (std::uint64_t cta = 0; cta < kernel.ctas.count(); ++cta) {
    expected += kernel.threads.count() / isa::kWarpSize * (5 * kernel.trips_of(cta) + 1);
  }
  CHECK(simulate_on(kernel, {}).instructions == expected);
  CHECK(simulate_on(kernel, one_of_each(kernel)).instructions == expected);
}

TEST_CASE("a leader at the edge whose followers are not: nothing is lost") {
  SyntheticKernel kernel = kernel_of(65536);
  kernel.mask = [](std::uint32_t, std::uint64_t cta, int) { return cta == 0 ? 0U : cta == 1 ? 0xfU : ~0U; };
  check_same_traffic(kernel);
}
