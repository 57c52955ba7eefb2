// Freed mechanisms, and the parts of the time.
#include "tools/lib/gap.h"

#include <fmt/format.h>

#include <cmath>

#include "tests/support/catch.h"
#include "tools/lib/ideal_source.h"
#include "tools/lib/run.h"
#include "tools/lib/simulate_kernel.h"
#include "tools/lib/tile_source.h"

namespace tilesim::app {

namespace {

/// 16 CTAs of 8 x 8 elements per thread, whose loads of B conflict, and with a transposed store of A that does too.
RunRequest small_request() {
  RunRequest request;
  request.config.stages = 2;
  request.problem = {512, 512, 96};
  return request;
}

struct Case {
  RunRequest request = small_request();
  model::GpuSpec gpu = *model::find_gpu_spec("h200");
  std::unique_ptr<TileSource> source = std::move(*TileSource::create(request.config, request.problem));

  [[nodiscard]] KernelResult run(const Freedom& freedom) const {
    const IdealSource ideal(*source, freedom, static_cast<std::uint32_t>(source->grid().count()));
    KernelLaunch launch;
    launch.registers = source->estimate().registers;
    launch.shared_bytes = source->estimate().shared_bytes;
    auto result = simulate_kernel(gpu, ideal, launch, std::nullopt, Effort{true, false, 1});
    REQUIRE(result);
    return *std::move(result);
  }
};

double sum_over(const KernelResult& r, bool shared, double (*of)(const SiteReport&)) {
  double sum = 0.0;
  for (const SiteReport& site : r.sites) {
    sum += site.shared == shared ? of(site) : 0.0;
  }
  return sum;
}
double wavefronts(const SiteReport& site) { return site.wavefronts; }
double ideal_wavefronts(const SiteReport& site) { return site.ideal_wavefronts; }
double requests(const SiteReport& site) { return site.requests; }

double barrier_cycles(const KernelResult& r) {
  return r.state_per_issue[static_cast<std::size_t>(sim::WarpState::kBarrier)];
}

}  // namespace

TEST_CASE("a kernel that is freed of nothing runs as before", "[unit]") {
  const Case c;
  KernelLaunch launch;
  launch.registers = c.source->estimate().registers;
  launch.shared_bytes = c.source->estimate().shared_bytes;
  const auto plain = simulate_kernel(c.gpu, *c.source, launch, std::nullopt, Effort{true, false, 1});
  REQUIRE(plain);
  const KernelResult same = c.run({});
  CHECK(same.cycles_elapsed_max == plain->cycles_elapsed_max);
  CHECK(same.instructions == plain->instructions);
  CHECK(sum_over(same, true, wavefronts) == sum_over(*plain, true, wavefronts));
}

TEST_CASE("without conflicts every shared access needs its phases, and as many as before", "[unit]") {
  const Case c;
  const KernelResult real = c.run({});
  Freedom freedom;
  freedom.conflicts = true;
  const KernelResult free = c.run(freedom);
  CHECK(sum_over(real, true, wavefronts) > sum_over(real, true, ideal_wavefronts));
  CHECK(sum_over(free, true, wavefronts) == sum_over(free, true, ideal_wavefronts));
  CHECK(sum_over(free, true, ideal_wavefronts) == sum_over(real, true, ideal_wavefronts));
  CHECK(sum_over(free, true, requests) == sum_over(real, true, requests));
}

TEST_CASE("free accesses leave no trace but their issue slots", "[unit]") {
  const Case c;
  const KernelResult real = c.run({});
  Freedom freedom;
  freedom.shared = true;
  freedom.global = true;
  const KernelResult free = c.run(freedom);
  CHECK(sum_over(free, true, requests) == 0.0);
  CHECK(sum_over(free, false, requests) == 0.0);
  CHECK(free.instructions == real.instructions);
  CHECK(free.flops == real.flops);
  CHECK(free.cycles_elapsed_max < real.cycles_elapsed_max);
}

TEST_CASE("free barriers hold nobody up", "[unit]") {
  const Case c;
  CHECK(barrier_cycles(c.run({})) > 0.0);
  Freedom freedom;
  freedom.barriers = true;
  CHECK(barrier_cycles(c.run(freedom)) == 0.0);
}

TEST_CASE("the parts of the gap add up to the simulated time, whatever the number of threads", "[unit]") {
  for (const model::Problem& problem : {model::Problem{512, 512, 96}, model::Problem{300, 200, 2000}}) {
    RunRequest request = small_request();
    request.problem = problem;
    const model::GpuSpec gpu = *model::find_gpu_spec("h200");
    const auto one = run_tile(gpu, request);
    request.threads = 3;
    const auto three = run_tile(gpu, request);
    REQUIRE(one);
    REQUIRE(three);
    double sum = 0.0;
    REQUIRE(one->gap.parts.size() == three->gap.parts.size());
    for (std::size_t i = 0; i < one->gap.parts.size(); ++i) {
      CHECK(one->gap.parts[i].seconds == three->gap.parts[i].seconds);
      CHECK(std::isfinite(one->gap.parts[i].seconds));
      sum += one->gap.parts[i].seconds;
    }
    CHECK(sum == Approx(one->kernel.seconds).epsilon(1e-9));
    CHECK(one->gap.seconds == one->kernel.seconds);
    CHECK(one->gap.parts.front().key == "peak");
    CHECK(one->gap.parts.front().seconds == Approx(one->sheet.whole.peak_seconds));
  }
}

TEST_CASE("padding and an uneven spread are parts of the gap", "[unit]") {
  RunRequest request = small_request();
  request.problem = {129, 128, 64};
  const auto result = run_tile(*model::find_gpu_spec("h200"), request);
  REQUIRE(result);
  const auto part = [&result](const std::string& key) {
    for (const GapPart& p : result->gap.parts) {
      if (p.key == key) return p.seconds;
    }
    FAIL("no part " << key);
    return 0.0;
  };
  const double useful = 2.0 * 129 * 128 * 64;
  CHECK(part("padding") / part("peak") == Approx(2.0 * 256 * 128 * 64 / useful - 1.0));
  // Two CTAs on 132 SMs take as long as one on each.
  CHECK((part("peak") + part("padding") + part("balance")) / (part("peak") + part("padding")) == Approx(66.0));
}

TEST_CASE("what mma.sync cannot reach is a part of its own: a third of the H200's tensor rate", "[unit]") {
  RunRequest request;
  request.config.family = model::Family::kMma;
  request.config.wm = 64;
  request.config.wn = 32;
  request.config.dtype = model::DataType::kBf16;
  request.config.bk = 32;
  request.config.vec = 8;
  request.problem = {256, 256, 128};
  request.problem.dtype = request.config.dtype;
  const auto result = run_tile(*model::find_gpu_spec("h200"), request);
  REQUIRE(result);
  const std::vector<GapPart>& parts = result->gap.parts;
  REQUIRE(parts.at(1).key == "mma_sync");
  // 2,048 multiply-adds per cycle and SM against four products of 16 x 8 x 16 in 6 cycles.
  CHECK(parts[1].seconds / parts[0].seconds == Approx(0.5));
  CHECK(parts[0].seconds == Approx(2.0 * 256 * 256 * 128 / (2.0 * 2048 * 132 * 1800e6)));
  // Four CTAs on 132 SMs.
  CHECK(parts.at(3).key == "balance");
  CHECK(parts[3].seconds / (parts[0].seconds + parts[1].seconds) == Approx(32.0));
}

TEST_CASE("bank conflicts cost what a layout without them saves, about", "[unit]") {
  RunRequest request = small_request();
  request.problem = {2048, 2048, 256};
  const model::GpuSpec gpu = *model::find_gpu_spec("h200");
  const auto conflicting = run_tile(gpu, request);
  REQUIRE(conflicting);
  double part = 0.0;
  for (const GapPart& p : conflicting->gap.parts) {
    part += p.key == "bank_conflicts" ? p.seconds : 0.0;
  }
  CHECK(part > 0.02 * conflicting->kernel.seconds);
}

TEST_CASE("a run speaks of one number of registers: that of the generated code", "[unit]") {
  const auto result = run_tile(*model::find_gpu_spec("h200"), small_request());
  REQUIRE(result);
  const auto registers = TileSource::create(small_request().config, small_request().problem);
  CHECK(result->kernel.launch.registers == (*registers)->estimate().registers);
  CHECK(result->sheet.work.registers == result->kernel.launch.registers);
  CHECK(result->sheet.residency.occupancy.ctas == result->kernel.occupancy.ctas);
  CHECK(result->kernel.code == "estimated");
}

}  // namespace tilesim::app
