// Warp instructions of the recorded kernels, counted by emulating every warp of the launch without time, against
// smsp__inst_executed.sum of an H200. Development kernels that are off are printed by name, locked ones only counted.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "model/gpu_spec.h"
#include "tests/support/catch.h"
#include "tools/lib/validation.h"
#include "tools/lib/validation_summary.h"
#include "traces/recorded/recording.h"

using namespace tilesim;

namespace {

constexpr const char* kExecuted = "smsp__inst_executed.sum";
constexpr double kAllowed = 0.001;

/// Of all warps of the launch. The main loop's inner trips are passed over, which does not change the count.
Result<std::uint64_t> executed(const isa::KernelStream& kernel) {
  std::uint64_t sum = 0;
  std::unique_ptr<isa::CtaStream> cta;
  isa::DynamicInstruction instruction;
  for (std::uint64_t id = 0; id < kernel.grid().count(); ++id) {
    cta = kernel.open(id, std::move(cta));
    for (int w = 0; w < cta->warp_count(); ++w) {
      isa::WarpStream& warp = cta->warp(w);
      while (!warp.exited()) {
        if (!warp.step_to_global(kernel.program(), instruction)) {
          return tl::unexpected<Error>(warp.error());
        }
      }
      sum += warp.executed();
    }
  }
  return sum;
}

Result<std::uint64_t> executed(const model::GpuSpec& gpu, const traces::Recording& recording,
                               const traces::RecordedRun& run) {
  const auto prepared = app::prepare_run(gpu, recording, run, app::CodeKind::kCompiled);
  if (!prepared) {
    return tl::unexpected<Error>(prepared.error());
  }
  constexpr std::uint64_t kTrips = 2;
  const auto kernel = prepared->source->open(kTrips);
  return kernel ? executed(**kernel) : tl::unexpected<Error>(kernel.error());
}

struct Count {
  std::string name;
  traces::Part part = traces::Part::kDevelopment;
  double measured = 0.0;
  Result<std::uint64_t> executed = 0;
  [[nodiscard]] double error() const { return static_cast<double>(*executed) / measured - 1.0; }
};

/// Of the runs that `wanted` lets in and that have the counter.
template <class Wanted>
std::vector<Count> counts_of(Wanted&& wanted) {
  const auto gpu = *model::find_gpu_spec("h200");
  const auto recordings = traces::read_recordings(TILESIM_RECORDED_FOLDER);
  REQUIRE(recordings.has_value());
  const std::vector<traces::Part> parts = traces::split(*recordings);
  std::vector<Count> counts;
  std::vector<std::pair<const traces::Recording*, const traces::RecordedRun*>> runs;
  for (std::size_t i = 0; i < recordings->size(); ++i) {
    const traces::Recording& recording = (*recordings)[i];
    for (const traces::RecordedRun& run : recording.runs) {
      if (const auto measured = run.metrics.find(kExecuted); measured != run.metrics.end() && wanted(run)) {
        const std::string shape = fmt::format("{}x{}x{}", run.problem.m, run.problem.n, run.problem.k);
        counts.push_back({recording.name + " " + shape, parts[i], measured->second.value, 0});
        runs.emplace_back(&recording, &run);
      }
    }
  }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < runs.size(); i = next++) {
      counts[i].executed = executed(gpu, *runs[i].first, *runs[i].second);
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back(work);
  }
  threads.clear();
  return counts;
}

void check(const std::vector<Count>& counts, double allowed) {
  for (const traces::Part part : {traces::Part::kDevelopment, traces::Part::kLocked}) {
    std::size_t runs = 0;
    std::size_t exact = 0;
    std::size_t off = 0;
    double worst = 0.0;
    for (const Count& count : counts) {
      if (count.part != part) {
        continue;
      }
      const std::string name = part == traces::Part::kDevelopment ? count.name : "a locked run";
      INFO(name << ": " << (count.executed ? "" : count.executed.error().message));
      REQUIRE(count.executed.has_value());
      ++runs;
      exact += count.error() == 0.0 ? 1 : 0;
      worst = std::max(worst, std::abs(count.error()));
      if (std::abs(count.error()) > allowed) {
        ++off;
        fmt::print("{:<60} {:+.3f} %\n", name, 100.0 * count.error());
      }
    }
    fmt::print("{} part: {} runs, {} exact, {} off by more than {:.1f} %, worst {:.4f} %\n", app::to_string(part), runs,
               exact, off, 100.0 * allowed, 100.0 * worst);
    CHECK(runs > 0);
    CHECK(off == 0);
  }
}

bool is_one_of(const traces::RecordedRun& run, std::initializer_list<std::array<std::int64_t, 3>> shapes) {
  return std::find(shapes.begin(), shapes.end(), std::array{run.problem.m, run.problem.n, run.problem.k}) !=
         shapes.end();
}

}  // namespace

TEST_CASE("instructions executed: ragged problems of the recorded set, to the instruction") {
  const auto counts = counts_of([](const traces::RecordedRun& run) {
    return is_one_of(run, {{1000, 1000, 1000}, {4095, 4097, 257}});
  });
  CHECK(counts.size() == 188);
  check(counts, 0.0);
}

TEST_CASE("instructions executed: every run of the recorded set, within 0.1 %", "[recorded]") {
  check(counts_of([](const traces::RecordedRun&) { return true; }), kAllowed);
}
