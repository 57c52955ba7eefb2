// The calibration kernels at two shapes against their Nsight Compute counters (traces/calibration/h200).
// Prints one line per run, so that the figures in documents come from here.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "model/gpu_spec.h"
#include "tests/accuracy/calibration_kernels.h"
#include "tests/support/catch.h"
#include "tools/lib/replay.h"

using namespace tilesim;
using namespace tilesim::test;

namespace {

/// Shares of all waiting, by state name; selected and not_selected left out.
template <class PerIssue>
std::map<std::string, double> shares(PerIssue&& per_issue) {
  std::map<std::string, double> result;
  double sum = 0.0;
  for (int s = 0; s < sim::kWarpStateCount; ++s) {
    const auto state = static_cast<sim::WarpState>(s);
    if (sim::is_waiting(state)) {
      const std::string name(sim::to_string(state));
      sum += result[name] = per_issue(name);
    }
  }
  for (auto& [name, value] : result) {
    value /= sum;
  }
  return result;
}

std::string largest(const std::map<std::string, double>& shares) {
  return std::max_element(shares.begin(), shares.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

/// One kernel at one size.
struct Comparison {
  app::KernelResult predicted;
  std::map<std::string, double> measured;
  double error = 0.0;        ///< of sm__cycles_active.avg
  double worst_share = 0.0;  ///< largest distance of a warp state's share of all waiting
  std::string largest_predicted, largest_measured;
};

Comparison compare(const model::GpuSpec& gpu, const CalibrationKernel& kernel, int size) {
  Comparison c;
  c.measured = counters(kernel.name, size);
  app::ReplayRequest request;
  request.file = fmt::format("{}/{}.sass", TILESIM_CALIBRATION_FOLDER, kernel.name);
  request.grid = {static_cast<std::uint32_t>(size / kernel.bn), static_cast<std::uint32_t>(size / kernel.bm), 1};
  request.block = {static_cast<std::uint32_t>(kernel.threads), 1, 1};
  request.shared_bytes = kernel.shared_bytes;
  request.carveout_kb = static_cast<int>(c.measured["launch__shared_mem_config_size"] / 1024);
  const std::int64_t elements = std::int64_t{size} * size;
  request.arguments = fmt::format("i32:{0},i32:{0},i32:{0},ptr:{1},ptr:{1},ptr:{2}", size,
                                  kernel.element_bytes * elements, 4 * elements);
  if (kernel.element_bytes == 2) {  // tensor runs did not keep the highest clock: each is simulated at its own
    request.clock_mhz = 1000.0 * c.measured["sm__cycles_elapsed.max"] / c.measured["gpu__time_duration.sum"];
  }
  request.threads = 2;
  auto result = app::replay(gpu, request);
  REQUIRE(result.has_value());
  c.predicted = std::move(*result);
  c.error = c.predicted.metrics.at("sm__cycles_active.avg").value / c.measured["sm__cycles_active.avg"] - 1.0;
  const auto metric = [](const std::string& state) {
    return fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", state);
  };
  const auto predicted = shares([&](const std::string& state) { return c.predicted.metrics.at(metric(state)).value; });
  const auto measured = shares([&](const std::string& state) { return c.measured[metric(state)]; });
  for (const auto& [state, share] : predicted) {
    c.worst_share = std::max(c.worst_share, std::abs(share - measured.at(state)));
  }
  c.largest_predicted = largest(predicted);
  c.largest_measured = largest(measured);
  return c;
}

struct Score {
  double error_sum = 0.0, worst_error = 0.0, worst_share = 0.0;
  int right_states = 0, runs = 0;
  void add(const Comparison& c) {
    error_sum += std::abs(c.error);
    worst_error = std::max(worst_error, std::abs(c.error));
    worst_share = std::max(worst_share, c.worst_share);
    right_states += c.largest_predicted == c.largest_measured ? 1 : 0;
    ++runs;
  }
  [[nodiscard]] double mape() const { return error_sum / runs; }
  void print(const char* title) const {
    fmt::print(
        "{}: MAPE {:.2f} %, worst {:.1f} %, largest waiting state right in {} of {}, worst state {:.1f} points\n",
        title, 100.0 * mape(), 100.0 * worst_error, right_states, runs, 100.0 * worst_share);
  }
};

void check_counts(Comparison& c, const CalibrationKernel& kernel) {
  const auto value = [&c](const std::string& name) { return c.predicted.metrics.at(name).value; };
  CHECK(c.predicted.launch.registers == kernel.registers);  // highest referenced + 3
  CHECK(std::abs(value("smsp__inst_executed.sum") / c.measured["smsp__inst_executed.sum"] - 1.0) < 0.001);
  // A cycle per instruction, extrapolated or not.
  CHECK(std::abs(value("smsp__average_warps_issue_stalled_selected_per_issue_active.ratio") - 1.0) < 1e-9);
  for (const char* limit : {"registers", "shared_mem", "warps", "blocks", "barriers"}) {
    const std::string name = fmt::format("launch__occupancy_limit_{}", limit);
    CAPTURE(name);
    CHECK(value(name) == c.measured[name]);
  }
  const char* conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
  if (c.measured[conflicts] > 1e6) {
    CHECK(std::abs(value(conflicts) / c.measured[conflicts] - 1.0) < 0.03);
  } else {
    CHECK(value(conflicts) < 1e6);
  }
}

void print(const Comparison& c, const CalibrationKernel& kernel, int size) {
  fmt::print(
      "{:<28} {}^3  sm__cycles_active.avg {:>10.0f} measured {:>10.0f}  {:+5.1f} %  largest wait {:<16} {}  worst "
      "state {:4.1f} points\n",
      kernel.name, size, c.predicted.metrics.at("sm__cycles_active.avg").value, c.measured.at("sm__cycles_active.avg"),
      100.0 * c.error, c.largest_predicted, c.largest_predicted == c.largest_measured ? "right" : "WRONG",
      100.0 * c.worst_share);
}

}  // namespace

TEST_CASE("calibration kernels: instructions, occupancy, conflicts, cycles and warp states") {
  auto gpu = model::find_gpu_spec("h200");
  REQUIRE(gpu.has_value());
  Score score;
  for (const CalibrationKernel& kernel : kCalibrationKernels) {
    for (const int size : {1024, 4096}) {
      Comparison c = compare(*gpu, kernel, size);
      CAPTURE(kernel.name, size);
      check_counts(c, kernel);
      CHECK(std::abs(c.error) < 0.08);
      CHECK(c.worst_share < 0.15);
      score.add(c);
      print(c, kernel, size);
    }
  }
  score.print("all");
  CHECK(score.mape() < 0.04);
  CHECK(score.right_states >= 8);

  // The same without the one number of the SM that is fitted to these kernels.
  REQUIRE(model::override_gpu_spec(*gpu, "mio.turn_warps", "32").has_value());
  Score unfitted;
  for (const CalibrationKernel& kernel : kCalibrationKernels) {
    for (const int size : {1024, 4096}) {
      unfitted.add(compare(*gpu, kernel, size));
    }
  }
  unfitted.print("without the fit (mio.turn_warps = 32)");
  CHECK(unfitted.runs == score.runs);
}

TEST_CASE("tensor calibration kernels: instructions, occupancy, conflicts, cycles and warp states") {
  const auto gpu = *model::find_gpu_spec("h200");
  Score score;
  for (const CalibrationKernel& kernel : kTensorKernels) {
    for (const int size : {1024, 4096}) {
      Comparison c = compare(gpu, kernel, size);
      CAPTURE(kernel.name, size);
      check_counts(c, kernel);
      CHECK(std::abs(c.error) < 0.08);
      score.add(c);
      print(c, kernel, size);
    }
  }
  score.print("tensor cores");
  CHECK(score.mape() < 0.05);
}
