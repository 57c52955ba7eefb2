#include "tools/lib/replay_run.h"

#include <algorithm>
#include <future>
#include <map>
#include <memory>

#include "sim/simulate.h"
#include "tools/lib/replay.h"
#include "traces/emulator/main_loop.h"
#include "traces/emulator/sass_kernel.h"

namespace tilesim::app {

namespace {

/// A warp with more instructions than this is refused instead of waited for.
constexpr std::uint64_t kLongestWarp = std::uint64_t{1} << 30;
/// Trips of the short and the long run. The short one must be long against a CTA's epilogue, or the loop of one CTA
/// hides under the stores of another and the line is too flat.
struct Lengths {
  std::uint64_t shorter = 32;
  std::uint64_t longer = 64;
};
constexpr Lengths kFewCtasLengths{32, 64};
/// With this many CTAs per SM and more, SMs with one CTA less are scaled from the others instead of simulated, and
/// fewer trips are enough: many CTAs average over phases.
constexpr std::uint64_t kManyCtas = 20;
constexpr Lengths kManyCtasLengths{8, 24};

/// An SM that is simulated, how many SMs it stands for, and the factor for its counters (CTAs it stands for over its
/// own).
struct Representative {
  int sm = 0;
  double weight = 0.0;
};

std::vector<Representative> choose(const std::vector<std::uint64_t>& ctas) {
  std::map<std::uint64_t, Representative, std::greater<>> by_count;
  for (std::size_t sm = 0; sm < ctas.size(); ++sm) {
    if (ctas[sm] != 0) {
      const auto [entry, fresh] = by_count.try_emplace(ctas[sm]);
      entry->second.sm = fresh ? static_cast<int>(sm) : entry->second.sm;
      entry->second.weight += 1.0;
    }
  }
  std::vector<Representative> chosen;
  const std::uint64_t most = by_count.empty() ? 0 : by_count.begin()->first;
  for (const auto& [count, representative] : by_count) {
    if (!chosen.empty() && most >= kManyCtas) {
      chosen.front().weight += representative.weight * static_cast<double>(count) / static_cast<double>(most);
    } else {
      chosen.push_back(representative);
    }
  }
  return chosen;
}

void add(RunTotals& t, const sim::SmCounters& sm, double w) {
  const auto scaled = [w](std::uint64_t value) { return w * static_cast<double>(value); };
  t.active_cycles += scaled(sm.active_cycles);
  t.warp_cycles += scaled(sm.warp_cycles);
  t.instructions += scaled(sm.instructions);
  t.flops += scaled(sm.flops);
  t.data_pipe_cycles += scaled(sm.data_pipe_cycles);
  t.l1_load_sectors += scaled(sm.l1_load_sectors);
  t.l1_load_hits += scaled(sm.l1_load_sector_hits);
  for (std::size_t s = 0; s < t.states.size(); ++s) {
    t.states[s] += scaled(sm.state_cycles[s]);
  }
  t.sites.resize(sm.sites.size());
  for (std::size_t i = 0; i < sm.sites.size(); ++i) {
    t.sites[i].requests += scaled(sm.sites[i].requests);
    t.sites[i].wavefronts += scaled(sm.sites[i].wavefronts);
    t.sites[i].ideal_wavefronts += scaled(sm.sites[i].ideal_wavefronts);
    t.sites[i].sectors += scaled(sm.sites[i].sectors);
    t.sites[i].lines += scaled(sm.sites[i].lines);
  }
}

/// Every number of a RunTotals, in a fixed order, for extrapolation.
std::vector<double*> numbers(RunTotals& t) {
  std::vector<double*> all{&t.active_cycles,   &t.elapsed_cycles,   &t.warp_cycles,     &t.instructions,
                           &t.flops,           &t.data_pipe_cycles, &t.l1_load_sectors, &t.l1_load_hits,
                           &t.l2_read_sectors, &t.l2_read_hits,     &t.dram_read_bytes, &t.dram_write_bytes};
  for (double& state : t.states) {
    all.push_back(&state);
  }
  for (SiteTotals& site : t.sites) {
    all.insert(all.end(), {&site.requests, &site.wavefronts, &site.ideal_wavefronts, &site.sectors, &site.lines});
  }
  return all;
}

/// One simulation with `length` trips of the main loop (all of them if 0).
class Runner {
 public:
  Runner(const ReplayResult& result, const traces::DecodedKernel& kernel, const traces::LaunchParameters& launch,
         std::vector<Representative> representatives, traces::MainLoop loop)
      : result_(result), kernel_(kernel), launch_(launch), representatives_(std::move(representatives)), loop_(loop) {}

  struct Outcome {
    RunTotals totals;
    std::uint64_t instructions = 0;
  };

  [[nodiscard]] Result<Outcome> run(std::uint64_t length) const {
    auto kernel = traces::SassKernel::create(kernel_, launch_);
    if (!kernel) {
      return tl::unexpected<Error>(kernel.error());
    }
    if (length != 0) {
      const auto skip = (*kernel)->set_trip_skip(traces::TripSkip{loop_.branch, length / 2, loop_.trips - length});
      if (!skip) {
        return tl::unexpected<Error>(skip.error());
      }
    }
    const auto simulated = sim::simulate(result_.gpu, **kernel, options());
    if (!simulated) {
      return tl::unexpected<Error>(simulated.error());
    }
    Outcome outcome;
    for (const Representative& r : representatives_) {
      const sim::SmCounters& sm = simulated->sms[static_cast<std::size_t>(r.sm)];
      add(outcome.totals, sm, r.weight);
      outcome.instructions += sm.instructions;
    }
    outcome.totals.elapsed_cycles = static_cast<double>(simulated->elapsed_cycles);
    outcome.totals.l2_read_sectors = static_cast<double>(simulated->chip.l2_read_sectors);
    outcome.totals.l2_read_hits = static_cast<double>(simulated->chip.l2_read_sector_hits);
    outcome.totals.dram_read_bytes = static_cast<double>(simulated->chip.dram_read_bytes);
    outcome.totals.dram_write_bytes = static_cast<double>(simulated->chip.dram_write_bytes);
    return outcome;
  }

 private:
  [[nodiscard]] sim::SimulationOptions options() const {
    sim::SimulationOptions o;
    o.ctas_per_sm = static_cast<int>(result_.occupancy.ctas);
    o.l1_bytes = static_cast<int>(result_.gpu.l1.capacity_bytes) - result_.occupancy.carveout_kb * 1024;
    o.clock_mhz = result_.clock_mhz;
    if (!result_.request.detailed) {
      for (const Representative& r : representatives_) {
        o.detailed_sms.push_back(r.sm);
      }
    }
    return o;
  }

  const ReplayResult& result_;
  const traces::DecodedKernel& kernel_;
  const traces::LaunchParameters& launch_;
  std::vector<Representative> representatives_;
  traces::MainLoop loop_;
};

}  // namespace

Result<RunTotals> run_replay(ReplayResult& result, const traces::DecodedKernel& kernel,
                             const traces::LaunchParameters& launch) {
  const auto base = traces::SassKernel::create(kernel, launch);
  if (!base) {
    return tl::unexpected<Error>(base.error());
  }
  const auto loop = traces::find_main_loop(**base, kLongestWarp);
  if (!loop) {
    return tl::unexpected<Error>(loop.error());
  }
  const std::vector<std::uint64_t> ctas =
      sim::ctas_by_sm(result.gpu, launch.grid.count(), static_cast<int>(result.occupancy.ctas));
  std::vector<Representative> representatives = choose(ctas);
  Coverage& coverage = result.coverage;
  coverage.detailed = result.request.detailed;
  coverage.loop_trips = *loop ? (*loop)->trips : 0;
  coverage.sms_with_work = static_cast<int>(std::count_if(ctas.begin(), ctas.end(), [](auto n) { return n != 0; }));
  const std::uint64_t most = *std::max_element(ctas.begin(), ctas.end());
  if (result.request.detailed) {
    representatives.clear();
    for (std::size_t sm = 0; sm < ctas.size(); ++sm) {
      representatives.push_back({static_cast<int>(sm), 1.0});
    }
  }
  coverage.simulated_sms = result.request.detailed ? coverage.sms_with_work : static_cast<int>(representatives.size());
  const Lengths lengths = most >= kManyCtas ? kManyCtasLengths : kFewCtasLengths;
  const std::uint64_t short_length = lengths.shorter;
  const std::uint64_t long_length = lengths.longer;
  const Runner runner(result, kernel, launch, representatives, loop->value_or(traces::MainLoop{}));
  if (result.request.detailed || coverage.loop_trips <= 2 * long_length) {
    auto outcome = runner.run(0);
    if (!outcome) {
      return tl::unexpected<Error>(outcome.error());
    }
    coverage.lengths = {coverage.loop_trips};
    coverage.instructions_simulated = outcome->instructions;
    return std::move(outcome->totals);
  }
  coverage.lengths = {short_length, long_length};
  const auto policy = result.request.threads > 1 ? std::launch::async : std::launch::deferred;
  auto pending = std::async(policy, [&runner, length = short_length] { return runner.run(length); });
  auto longer = runner.run(long_length);
  auto shorter = pending.get();
  for (const auto* outcome : {&shorter, &longer}) {
    if (!*outcome) {
      return tl::unexpected<Error>(outcome->error());
    }
    coverage.instructions_simulated += (*outcome)->instructions;
  }
  const double factor =
      static_cast<double>(coverage.loop_trips - short_length) / static_cast<double>(long_length - short_length);
  const std::vector<double*> from = numbers(shorter->totals);
  const std::vector<double*> to = numbers(longer->totals);
  for (std::size_t i = 0; i < to.size(); ++i) {
    *to[i] = std::max(0.0, *from[i] + (*to[i] - *from[i]) * factor);
  }
  return std::move(longer->totals);
}

}  // namespace tilesim::app
