// The five FP32 calibration kernels at two shapes against their Nsight Compute counters (traces/calibration/h200).
// Prints one line per run, so that the figures in documents come from here.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "model/gpu_spec.h"
#include "tests/support/catch.h"
#include "tools/lib/replay.h"

using namespace tilesim;

namespace {

struct Kernel {
  const char* name;
  int bm, bn, registers;
  int shared_bytes;
};
constexpr Kernel kKernels[] = {{"sgemm_128_128_8_8_8_s1_p0", 128, 128, 119, 8192},
                               {"sgemm_128_128_8_8_8_s2_p4", 128, 128, 128, 16640},
                               {"sgemm_128_128_16_8_8_s2_p0", 128, 128, 143, 32768},
                               {"sgemm_64_64_16_4_4_s2_p0", 64, 64, 69, 16384},
                               {"sgemm_32_32_32_2_2_s1_p0", 32, 32, 30, 8192}};

std::map<std::string, double> counters(const std::string& name, int size) {
  std::ifstream file(fmt::format("{}/{}.{}x{}x{}.csv", TILESIM_CALIBRATION_FOLDER, name, size, size, size));
  REQUIRE(file);
  std::map<std::string, double> values;
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(',');
    const std::size_t second = line.find(',', first + 1);
    if (second != std::string::npos) {
      values[line.substr(0, first)] = std::strtod(line.c_str() + second + 1, nullptr);
    }
  }
  return values;
}

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

}  // namespace

TEST_CASE("calibration kernels: instructions, occupancy, conflicts, cycles and warp states") {
  const auto gpu = model::find_gpu_spec("h200");
  REQUIRE(gpu.has_value());
  double sum_of_errors = 0.0;
  double worst_share = 0.0;
  int right_states = 0;
  int runs = 0;
  for (const Kernel& kernel : kKernels) {
    for (const int size : {1024, 4096}) {
      std::map<std::string, double> measured = counters(kernel.name, size);
      app::ReplayRequest request;
      request.listing = fmt::format("{}/{}.sass", TILESIM_CALIBRATION_FOLDER, kernel.name);
      request.grid = {static_cast<std::uint32_t>(size / kernel.bn), static_cast<std::uint32_t>(size / kernel.bm), 1};
      request.block = {256, 1, 1};
      request.shared_bytes = kernel.shared_bytes;
      request.carveout_kb = static_cast<int>(measured["launch__shared_mem_config_size"] / 1024);
      request.arguments =
          fmt::format("i32:{0},i32:{0},i32:{0},ptr:{1},ptr:{1},ptr:{1}", size, std::int64_t{4} * size * size);
      request.threads = 2;
      const auto result = app::replay(*gpu, request);
      REQUIRE(result.has_value());
      const auto value = [&result](const std::string& name) { return result->metrics.at(name).value; };
      CAPTURE(kernel.name, size);

      CHECK(result->registers == kernel.registers);  // highest referenced + 3
      CHECK(std::abs(value("smsp__inst_executed.sum") / measured["smsp__inst_executed.sum"] - 1.0) < 0.001);
      for (const char* limit : {"registers", "shared_mem", "warps", "blocks", "barriers"}) {
        const std::string name = fmt::format("launch__occupancy_limit_{}", limit);
        CAPTURE(name);
        CHECK(value(name) == measured[name]);
      }
      const char* conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
      if (measured[conflicts] > 1e6) {
        CHECK(std::abs(value(conflicts) / measured[conflicts] - 1.0) < 0.03);
      }
      const double error = value("sm__cycles_active.avg") / measured["sm__cycles_active.avg"] - 1.0;
      CHECK(std::abs(error) < 0.08);
      sum_of_errors += std::abs(error);

      const auto metric = [](const std::string& state) {
        return fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", state);
      };
      const auto predicted_shares = shares([&](const std::string& state) { return value(metric(state)); });
      const auto measured_shares = shares([&](const std::string& state) { return measured[metric(state)]; });
      double worst = 0.0;
      for (const auto& [state, share] : predicted_shares) {
        worst = std::max(worst, std::abs(share - measured_shares.at(state)));
      }
      const bool known_gap = std::string(kernel.name) == "sgemm_32_32_32_2_2_s1_p0" && size == 4096;
      if (known_gap) {  // barrier against MIO with 16 warps per sub-partition: a fix must drop this line
        CHECK(worst >= 0.15);
        CHECK(worst < 0.16);
      } else {
        CHECK(worst < 0.15);
      }
      worst_share = std::max(worst_share, worst);
      const bool right = largest(predicted_shares) == largest(measured_shares);
      right_states += right ? 1 : 0;
      ++runs;
      fmt::print(
          "{:<28} {}^3  sm__cycles_active.avg {:>10.0f} measured {:>10.0f}  {:+5.1f} %  largest wait {:<16} {}  worst "
          "state {:4.1f} points\n",
          kernel.name, size, value("sm__cycles_active.avg"), measured["sm__cycles_active.avg"], 100.0 * error,
          largest(predicted_shares), right ? "right" : "WRONG", 100.0 * worst);
    }
  }
  fmt::print("MAPE {:.2f} %, largest waiting state right in {} of {}, worst state {:.1f} points\n",
             100.0 * sum_of_errors / runs, right_states, runs, 100.0 * worst_share);
  CHECK(sum_of_errors / runs < 0.04);
  CHECK(right_states >= 8);
}
