#include "tools/lib/kernel_run.h"

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "sim/simulate.h"
#include "tools/lib/kernel_result.h"

namespace tilesim::app {

namespace {

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

/// One SM per number of CTAs; with `one` the SM with most of them stands for all.
std::vector<Representative> choose(const std::vector<std::uint64_t>& ctas, bool one) {
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
    if (!chosen.empty() && (one || most >= kManyCtas)) {
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

/// Every number of a RunTotals that grows with the trips that run, in a fixed order, for extrapolation.
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
  Runner(const KernelResult& result, const KernelSource& source, const Effort& effort,
         std::vector<Representative> representatives)
      : result_(result), source_(source), effort_(effort), representatives_(std::move(representatives)) {}

  struct Outcome {
    RunTotals totals;
    std::uint64_t instructions = 0;
  };

  [[nodiscard]] Result<Outcome> run(std::uint64_t length) const {
    const auto kernel = source_.open(length);
    if (!kernel) {
      return tl::unexpected<Error>(kernel.error());
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
    outcome.totals.executed = static_cast<double>(simulated->instructions);
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
    if (effort_.detailed) {
      o.threads = effort_.threads;
    } else {
      for (const Representative& r : representatives_) {
        o.detailed_sms.push_back(r.sm);
      }
    }
    return o;
  }

  const KernelResult& result_;
  const KernelSource& source_;
  Effort effort_;
  std::vector<Representative> representatives_;
};

/// Extends the line through two runs by `factor` of their distance; the result is in `longer`.
void extend(RunTotals& shorter, RunTotals& longer, double factor, const isa::Program& program) {
  const std::vector<double*> from = numbers(shorter);
  const std::vector<double*> to = numbers(longer);
  for (std::size_t i = 0; i < to.size(); ++i) {
    *to[i] = std::max(0.0, *from[i] + (*to[i] - *from[i]) * factor);
  }
  // A state that shrinks with the length ends at zero; the others then make up the warps' time. 'Selected' is a cycle
  // per instruction and stays.
  double& selected = longer.states[static_cast<std::size_t>(sim::WarpState::kSelected)];
  const double kept = std::exchange(selected, 0.0);
  const double others = std::accumulate(longer.states.begin(), longer.states.end(), 0.0);
  for (double& state : longer.states) {
    state *= others > 0.0 ? (longer.warp_cycles - kept) / others : 0.0;
  }
  selected = kept;
  // Write-back grows with the length of the runs only until all that was stored is in DRAM.
  double stored = 0.0;
  for (std::size_t i = 0; i < longer.sites.size(); ++i) {
    const isa::Instruction& inst = program.instructions[i];
    stored += inst.memory == isa::MemoryOp::kStoreGlobal ? longer.sites[i].requests * isa::kWarpSize * inst.access_bytes
                                                         : 0.0;
  }
  longer.dram_write_bytes = std::min(longer.dram_write_bytes, stored);
}

Lengths lengths_for(std::uint64_t most_ctas, const Effort& effort) {
  return effort.brief || most_ctas >= kManyCtas ? kManyCtasLengths : kFewCtasLengths;
}

}  // namespace

bool is_brief(const Coverage& c) {
  const Lengths brief = kManyCtasLengths;
  const std::vector<std::uint64_t> two{brief.shorter, brief.longer};
  return !c.detailed && (c.lengths == two || (c.lengths.size() == 1 && c.loop_trips <= 2 * brief.longer));
}

Result<RunTotals> run_kernel(KernelResult& result, const KernelSource& source, const Effort& asked) {
  Effort effort = asked;
  effort.detailed = effort.detailed || source.ordered();
  const std::vector<std::uint64_t> ctas =
      sim::ctas_by_sm(result.gpu, source.grid().count(), static_cast<int>(result.occupancy.ctas));
  std::vector<Representative> representatives = choose(ctas, effort.brief);
  Coverage& coverage = result.coverage;
  coverage.detailed = effort.detailed;
  coverage.loop_trips = source.loop_trips();
  coverage.sms_with_work = static_cast<int>(std::count_if(ctas.begin(), ctas.end(), [](auto n) { return n != 0; }));
  if (effort.detailed) {
    representatives.clear();
    for (std::size_t sm = 0; sm < ctas.size(); ++sm) {
      representatives.push_back({static_cast<int>(sm), 1.0});
    }
  }
  coverage.simulated_sms = effort.detailed ? coverage.sms_with_work : static_cast<int>(representatives.size());
  const Lengths lengths = lengths_for(*std::max_element(ctas.begin(), ctas.end()), effort);
  const Runner runner(result, source, effort, representatives);
  if (effort.detailed || coverage.loop_trips <= 2 * lengths.longer) {
    auto outcome = runner.run(0);
    if (!outcome) {
      return tl::unexpected<Error>(outcome.error());
    }
    coverage.lengths = {coverage.loop_trips};
    coverage.instructions_simulated = outcome->instructions;
    return std::move(outcome->totals);
  }
  coverage.lengths = {lengths.shorter, lengths.longer};
  const auto policy = effort.threads > 1 ? std::launch::async : std::launch::deferred;
  auto pending = std::async(policy, [&runner, length = lengths.shorter] { return runner.run(length); });
  auto longer = runner.run(lengths.longer);
  auto shorter = pending.get();
  for (const auto* outcome : {&shorter, &longer}) {
    if (!*outcome) {
      return tl::unexpected<Error>(outcome->error());
    }
    coverage.instructions_simulated += (*outcome)->instructions;
  }
  const double factor = static_cast<double>(coverage.loop_trips - lengths.shorter) /
                        static_cast<double>(lengths.longer - lengths.shorter);
  extend(shorter->totals, longer->totals, factor, source.program());
  return std::move(longer->totals);
}

}  // namespace tilesim::app
