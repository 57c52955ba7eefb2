// Runs a synthetic kernel on one SM of the H200 and records what a listener hears.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "sim/simulate.h"
#include "tests/sim/synthetic_kernel.h"
#include "tests/support/catch.h"

namespace tilesim::sim::testing {

struct Recorder final : Listener {
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>;  // SM, CTA, warp
  struct Issue {
    std::uint32_t index;
    Cycle cycle;
    friend bool operator==(const Issue&, const Issue&) = default;
  };
  struct Interval {
    WarpState state;
    Cycle begin, end;
    friend bool operator==(const Interval&, const Interval&) = default;
  };
  std::map<Key, std::vector<Issue>> issues;
  std::map<Key, std::vector<Interval>> states;
  std::map<Key, std::pair<Cycle, Cycle>> life;

  static Key key(const WarpId& w) { return {w.sm, w.cta, w.warp}; }
  void on_issue(const WarpId& w, std::uint32_t index, Cycle cycle) override {
    issues[key(w)].push_back({index, cycle});
  }
  /// Adjacent intervals of one state are one: how finely the engine reports a state is its own business.
  void on_state(const WarpId& w, WarpState s, Cycle b, Cycle e) override {
    std::vector<Interval>& list = states[key(w)];
    if (!list.empty() && list.back().state == s && list.back().end == b) {
      list.back().end = e;
    } else {
      list.push_back({s, b, e});
    }
  }
  void on_launch(const WarpId& w, Cycle c) override { life[key(w)].first = c; }
  void on_retire(const WarpId& w, Cycle c) override { life[key(w)].second = c; }

  /// Issue cycles of warp `warp` of CTA 0.
  [[nodiscard]] std::vector<Cycle> cycles(std::uint32_t warp = 0) const {
    std::vector<Cycle> result;
    for (const auto& [k, list] : issues) {
      if (std::get<1>(k) == 0 && std::get<2>(k) == warp) {
        for (const Issue& issue : list) {
          result.push_back(issue.cycle);
        }
      }
    }
    return result;
  }
};

struct Run {
  Recorder heard;
  SimulationResult result;
};

inline Run run(const SyntheticKernel& kernel, int ctas_per_sm = 1, bool every_cycle = false) {
  auto gpu = model::find_gpu_spec("h200");
  REQUIRE(gpu.has_value());
  // The code is warm: these tests are about other units.
  REQUIRE(model::override_gpu_spec(*gpu, "icache.cold_cycles_per_instruction", "1").has_value());
  REQUIRE(model::override_gpu_spec(*gpu, "icache.cold_latency", "0").has_value());
  Run out;
  SimulationOptions options;
  options.ctas_per_sm = ctas_per_sm;
  options.l1_bytes = 128 * 1024;
  options.every_cycle = every_cycle;
  options.listener = &out.heard;
  auto result = simulate(*gpu, kernel, options);
  REQUIRE(result.has_value());
  out.result = *result;
  return out;
}

}  // namespace tilesim::sim::testing
