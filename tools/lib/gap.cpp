#include "tools/lib/gap.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>

#include "model/roofline.h"
#include "tools/lib/ideal_source.h"
#include "tools/lib/simulate_kernel.h"

namespace tilesim::app {

namespace {

/// A number of the GPU spec and the value with which it costs nothing.
struct FreeNumber {
  const char* key;
  const char* value;
};

/// What becomes real in one step.
struct Mechanism {
  const char* key;
  const char* name;
  const char* what;
  std::vector<FreeNumber> numbers;
  bool Freedom::*freedom = nullptr;
};

/// In the order in which they become real; the first stays real in all runs.
const std::vector<Mechanism>& mechanisms() {
  static const std::vector<Mechanism> all{
      {"issue",
       "issue slots and math pipes",
       "instructions other than multiply-adds take issue slots; fixed latencies that too few warps cover",
       {}},
      {"shared_wavefronts",
       "shared memory without conflicts",
       "wavefronts of all shared accesses at their best, and their latency",
       {},
       &Freedom::shared},
      {"bank_conflicts", "bank conflicts", "further wavefronts where lanes meet in a bank", {}, &Freedom::conflicts},
      {"dispatch",
       "register banks and dispatch",
       "operands that wait for a read port of the register file; instructions that hold the dispatch",
       {{"issue.register_banks", "8"},
        {"issue.operand_window_cycles", "16"},
        {"issue.yield_extra_cycles", "0"},
        {"pipe.fma_wide_dispatch_hold", "0"}}},
      {"mio_queues",
       "MIO queues",
       "places in the queues to the shared-memory unit, and the transfer of registers to it",
       {{"mio.queue_entries", "256"},
        {"mio.shared_queue_entries", "256"},
        {"mio.slot_release_cycles", "0"},
        {"lsu.copies_waiting", "256"},
        {"mio.transfer_cycles_per_register", "1"}}},
      {"barriers",
       "barriers",
       "warps wait for each other, and the barrier's own cycles",
       {{"barrier.base_cycles", "0"},
        {"barrier.cycles_per_warp", "0"},
        {"barrier.register_cycles", "0"},
        {"barrier.release_cycles", "0"},
        {"barrier.release_skew_cycles", "0"}},
       &Freedom::barriers},
      {"launch",
       "launch and cold start",
       "kernel and CTA starts, first instructions and constants",
       {{"device.kernel_launch_cycles", "0"},
        {"cta.launch_cycles", "0"},
        {"cta.second_cta_cycles", "0"},
        {"cta.start_interval_ns", "0"},
        {"pipe.constant_miss_latency", "0"},
        {"icache.l0_miss_branch_cycles", "0"},
        {"icache.l1_miss_cycles_per_instruction", "0"},
        {"icache.l15_miss_cycles_per_instruction", "0"},
        {"icache.cold_cycles_per_instruction", "0"},
        {"icache.cold_latency", "0"}}},
      {"latency",
       "L1, L2 and DRAM latency",
       "global loads and stores, with unlimited bandwidth behind the SM",
       {},
       &Freedom::global},
      {"bandwidth",
       "L1, L2 and DRAM bandwidth",
       "global accesses that queue up behind each other",
       {{"l1.tag_lines_per_cycle", "64"},
        {"l1.miss_lines_per_cycle", "64"},
        {"l1.store_cycles_per_sector", "0"},
        {"l1.store_cycles_per_partial_line", "0"},
        {"l1.store_sectors_in_flight", "1000000"},
        {"lsu.bypass_request_interval", "0.1"},
        {"l2.request_bytes", "0"},
        {"l2.joined_share", "0"},
        {"l2.bytes_per_cycle_sm", "100000"},
        {"l2.bytes_per_cycle_gpc", "100000"},
        {"l2.bytes_per_cycle_chip", "1000000"},
        {"l2.write_sectors_per_cycle_chip", "1000000"},
        {"dram.read_bytes_per_second", "1e18"},
        {"dram.write_bytes_per_second", "1e18"}}}};
  return all;
}

/// Waves of resident CTAs that the short runs simulate, and the fewest CTAs per SM.
constexpr std::int64_t kWaves = 3;
constexpr std::int64_t kLeastCtas = 4;

/// How many CTAs the short runs launch; the time of an SM with many CTAs is scaled from fewer.
struct Sample {
  std::uint32_t ctas = 1;
  double scale = 1.0;  ///< CTAs of the busiest SM over those that it gets here
};

Sample sample_of(const KernelResult& kernel) {
  const auto all = static_cast<std::int64_t>(kernel.launch.grid.count());
  const std::int64_t sms = kernel.gpu.device.sm_count;
  const std::int64_t busiest = model::ceil_div(all, sms);
  const std::int64_t resident = std::max<std::int64_t>(1, kernel.occupancy.ctas);
  const std::int64_t fewer = std::max(kWaves, model::ceil_div(kLeastCtas, resident)) * resident;
  if (busiest <= fewer) {
    return Sample{static_cast<std::uint32_t>(all), 1.0};
  }
  return Sample{static_cast<std::uint32_t>(fewer * sms), static_cast<double>(busiest) / static_cast<double>(fewer)};
}

/// The time in seconds of a short run in which the mechanisms after number `last` cost nothing.
Result<double> time_with(const KernelResult& kernel, const KernelSource& source, const Sample& sample,
                         std::size_t last) {
  model::GpuSpec gpu = kernel.gpu;
  Freedom freedom;
  for (std::size_t i = last + 1; i < mechanisms().size(); ++i) {
    const Mechanism& mechanism = mechanisms()[i];
    for (const FreeNumber& number : mechanism.numbers) {
      if (const auto done = model::override_gpu_spec(gpu, number.key, number.value); !done) {
        return tl::unexpected<Error>(done.error());
      }
    }
    if (mechanism.freedom != nullptr) {
      freedom.*mechanism.freedom = true;
    }
  }
  const IdealSource ideal(source, freedom, sample.ctas);
  const auto result = simulate_kernel(gpu, ideal, kernel.launch, kernel.clock_mhz, Effort{false, true, 1});
  if (!result) {
    return tl::unexpected<Error>(result.error());
  }
  const double launch = gpu.device.kernel_launch_cycles / (kernel.clock_mhz * 1e6);  // once, not per CTA
  return launch + (result->seconds - launch) * sample.scale;
}

/// True if the short run with all mechanisms would be the run itself.
bool is_whole(const KernelResult& kernel) {
  return is_brief(kernel.coverage) && sample_of(kernel).ctas == kernel.launch.grid.count();
}

/// The times of all steps. Short runs, the slow ones (the last) first, on several threads; where all is real and the
/// run itself was a short one, its own time.
Result<std::vector<double>> times(const KernelResult& kernel, const KernelSource& source, int threads) {
  const Sample sample = sample_of(kernel);
  const std::size_t count = mechanisms().size() - (is_whole(kernel) ? 1 : 0);
  std::vector<std::optional<Result<double>>> found(count);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      const std::size_t step = count - 1 - i;
      found[step] = time_with(kernel, source, sample, step);
    }
  };
  std::vector<std::future<void>> workers;
  for (int t = 1; t < std::min<int>(threads, static_cast<int>(count)); ++t) {
    workers.push_back(std::async(std::launch::async, work));
  }
  work();
  for (std::future<void>& worker : workers) {
    worker.get();
  }
  std::vector<double> seconds;
  for (const std::optional<Result<double>>& time : found) {
    if (!*time) {
      return tl::unexpected<Error>(time->error());
    }
    seconds.push_back(**time);
  }
  seconds.resize(mechanisms().size(), kernel.seconds);
  return seconds;
}

}  // namespace

Result<Gap> split_gap(const KernelResult& kernel, const KernelSource& source, const model::TileSheet& sheet,
                      int threads) {
  const auto short_runs = times(kernel, source, threads);
  if (!short_runs) {
    return tl::unexpected<Error>(short_runs.error());
  }
  Gap gap;
  gap.seconds = kernel.seconds;
  double reached = 0.0;
  const auto add = [&gap, &reached](const char* key, const char* name, const char* what, double upto, bool simulated) {
    gap.parts.push_back(GapPart{key, name, what, upto - reached, simulated});
    reached = upto;
  };
  const model::Waves& waves = sheet.whole.waves;
  const std::string peak = pipe_name(kernel.math) + " peak";
  add("peak", peak.c_str(), "2MNK at the peak, all lanes always busy", sheet.whole.peak_seconds, false);
  double slower = 1.0;
  if (sheet.config.family == model::Family::kMma) {
    slower = model::fma_per_cycle_and_sm(kernel.gpu, kernel.math) /
             model::mma_sync_fma_per_cycle_and_sm(kernel.gpu, kernel.math);
    add("mma_sync", "rate of mma.sync", "products as fast as mma.sync issues them; only wgmma reaches the peak",
        sheet.whole.peak_seconds * slower, false);
  }
  // A CTA's K-steps are those of a whole tile; spread over all SMs evenly, then by whole CTAs.
  const double cta_seconds = sheet.whole.cta_alone_seconds * slower;
  add("padding", "padded work", "multiply-adds outside of C or past K",
      cta_seconds * static_cast<double>(waves.ctas) / static_cast<double>(kernel.gpu.device.sm_count), false);
  add("balance", "uneven spread of CTAs", "the busiest SM has more CTAs than the mean",
      cta_seconds * static_cast<double>(waves.busiest_sm_ctas), false);
  for (std::size_t i = 0; i < mechanisms().size(); ++i) {
    const Mechanism& mechanism = mechanisms()[i];
    add(mechanism.key, mechanism.name, mechanism.what, (*short_runs)[i], true);
  }
  if (!is_whole(kernel)) {
    add("longer_runs", "longer runs",
        "what the short runs do not show: more CTAs and K-steps, so that the L2 fills and CTAs drift apart",
        kernel.seconds, true);
  }
  return gap;
}

std::string gap_sign_note() {
  return "a negative part: with the mechanism the machine is faster than without, since stalls shift warps against "
         "each other so that they meet less often at the pipes and queues";
}

}  // namespace tilesim::app
