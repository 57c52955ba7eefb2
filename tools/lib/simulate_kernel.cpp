#include "tools/lib/simulate_kernel.h"

#include <fmt/format.h>

#include <utility>

#include "model/roofline.h"

namespace tilesim::app {

namespace {

Result<model::Occupancy> fit(const model::GpuSpec& gpu, const KernelLaunch& launch) {
  const auto cc = model::find_compute_capability(static_cast<int>(gpu.device.compute_capability_major),
                                                 static_cast<int>(gpu.device.compute_capability_minor));
  if (!cc) {
    return tl::unexpected<Error>(cc.error());
  }
  auto occupancy = model::occupancy(*cc, {static_cast<std::int64_t>(launch.block.count()), launch.registers,
                                          launch.shared_bytes, launch.carveout_kb, launch.barriers});
  if (occupancy && occupancy->ctas == 0) {
    return fail(ErrorKind::kUsage, "the kernel does not fit the GPU: " + occupancy->cannot_launch,
                "use a smaller block, fewer registers or less shared memory");
  }
  return occupancy;
}

void add_occupancy_metrics(KernelResult& r) {
  const auto add = [&r](const char* name, std::int64_t value) {
    r.metrics[name] = Metric{static_cast<double>(value), "CTAs", MetricKind::kAnalytic};
  };
  add("launch__occupancy_limit_registers", r.occupancy.by_registers);
  add("launch__occupancy_limit_shared_mem", r.occupancy.by_shared);
  add("launch__occupancy_limit_warps", r.occupancy.by_warps);
  add("launch__occupancy_limit_blocks", r.occupancy.by_ctas);
  add("launch__occupancy_limit_barriers", r.occupancy.by_barriers_capped);
  add("tilesim__occupancy_limit_barriers_uncapped", r.occupancy.by_barriers);
  add("tilesim__resident_ctas_per_sm", r.occupancy.ctas);
  r.metrics["launch__registers_per_thread"] =
      Metric{static_cast<double>(r.launch.registers), "registers", MetricKind::kAnalytic};
  r.metrics["launch__waves_per_multiprocessor"] = Metric{r.waves, "waves", MetricKind::kAnalytic};
}

void add_counter_metrics(KernelResult& r, const RunTotals& t) {
  const auto add = [&r](const std::string& name, double value, const char* unit) {
    r.metrics[name] = Metric{value, unit, MetricKind::kSimulated};
  };
  add("sm__cycles_active.avg", r.cycles_active_avg, "cycles");
  add("sm__cycles_elapsed.max", r.cycles_elapsed_max, "cycles");
  add("gpu__time_duration.sum", r.seconds * 1e9, "ns");
  add("smsp__inst_executed.sum", t.executed, "instructions");
  for (int s = 0; s < sim::kWarpStateCount; ++s) {
    add(fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio",
                    sim::to_string(static_cast<sim::WarpState>(s))),
        r.state_per_issue[static_cast<std::size_t>(s)], "warps");
  }
  double loads = 0.0;
  double stores = 0.0;
  for (const SiteReport& site : r.sites) {
    (site.store ? stores : loads) += site.shared ? site.conflicts() : 0.0;
  }
  add("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", loads + stores, "wavefronts");
  add("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", loads, "wavefronts");
  add("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", stores, "wavefronts");
  const auto percent = [](double part, double whole) { return whole > 0.0 ? 100.0 * part / whole : 0.0; };
  add("l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", percent(t.l1_load_hits, t.l1_load_sectors), "%");
  add("lts__t_sector_op_read_hit_rate.pct", percent(t.l2_read_hits, t.l2_read_sectors), "%");
  add("dram__bytes_read.sum", t.dram_read_bytes, "bytes");
  add("dram__bytes_write.sum", t.dram_write_bytes, "bytes");
  const double slots = r.cycles_active_avg * static_cast<double>(r.gpu.device.sm_count) *
                       static_cast<double>(r.occupancy.ctas * r.occupancy.warps_per_cta) / r.occupancy.fraction;
  add("sm__warps_active.avg.pct_of_peak_sustained_active", percent(t.warp_cycles, slots), "%");
  const double issue_slots = t.active_cycles * static_cast<double>(r.gpu.issue.sub_partitions);
  add("smsp__issue_active.avg.pct_of_peak_sustained_active", percent(t.instructions, issue_slots), "%");
  add("tilesim__data_pipe_busy.pct", percent(t.data_pipe_cycles, t.active_cycles), "%");
}

void fill(KernelResult& r, const RunTotals& t, const isa::Program& program) {
  r.cycles_active_avg = t.active_cycles / static_cast<double>(r.gpu.device.sm_count);
  r.cycles_elapsed_max = t.elapsed_cycles + r.gpu.device.kernel_launch_cycles;
  r.seconds = r.cycles_elapsed_max / (r.clock_mhz * 1e6);
  r.flops = t.flops;
  r.instructions = t.executed;
  r.peak_flops_per_second = model::peak_flops_per_second(r.gpu, r.math, r.clock_mhz);
  for (std::size_t s = 0; s < r.state_per_issue.size(); ++s) {
    r.state_per_issue[s] = t.instructions > 0.0 ? t.states[s] / t.instructions : 0.0;
  }
  r.barrier_share =
      t.warp_cycles > 0.0 ? t.states[static_cast<std::size_t>(sim::WarpState::kBarrier)] / t.warp_cycles : 0.0;
  for (std::size_t i = 0; i < t.sites.size(); ++i) {
    const SiteTotals& site = t.sites[i];
    const isa::MemoryOp op = program.instructions[i].memory;
    if (site.requests > 0.0) {
      r.sites.push_back(SiteReport{static_cast<std::uint32_t>(i), program.text[i], !isa::is_global(op),
                                   isa::is_store(op), site.requests, site.wavefronts, site.ideal_wavefronts,
                                   site.sectors, site.lines});
    }
  }
  add_occupancy_metrics(r);
  add_counter_metrics(r, t);
}

void add_notes(KernelResult& r) {
  if (!r.launch.carveout_kb) {
    r.notes.push_back(fmt::format("shared-memory carve-out not given: the largest, {} KB, assumed; pass --carveout",
                                  r.occupancy.carveout_kb));
  }
  if (r.launch.carveout_kb && *r.launch.carveout_kb != r.occupancy.carveout_kb) {
    r.notes.push_back(fmt::format("{} KB is no carve-out of this GPU: the next one, {} KB, is taken",
                                  *r.launch.carveout_kb, r.occupancy.carveout_kb));
  }
  if (r.barrier_share > 0.10) {
    r.notes.push_back(
        fmt::format("warning: {:.1f} % of all warp time waits at barriers (over 10 %)", 100.0 * r.barrier_share));
  }
  if (r.coverage.lengths.size() > 1) {
    r.notes.emplace_back(
        "L2 hits and DRAM traffic come from shortened loops on SMs that keep step: a real run reads more from DRAM");
  }
}

}  // namespace

Result<KernelResult> simulate_kernel(const model::GpuSpec& gpu, const KernelSource& source, KernelLaunch launch,
                                     std::optional<double> clock_mhz, const Effort& effort) {
  KernelResult r;
  r.gpu = gpu;
  r.launch = std::move(launch);
  r.launch.grid = source.grid();
  r.launch.block = source.block();
  r.math = source.math();
  r.clock_mhz = clock_mhz.value_or(model::default_clock_mhz(gpu, r.math));
  constexpr std::uint64_t kMostCtas = std::uint64_t{1} << 18;  // minutes to simulate
  if (r.launch.grid.count() > kMostCtas) {
    return fail(ErrorKind::kUsage,
                fmt::format("the grid has {} CTAs; at most {} are simulated", r.launch.grid.count(), kMostCtas),
                "use larger tiles, a smaller problem or fewer batches");
  }
  const auto occupancy = fit(gpu, r.launch);
  if (!occupancy) {
    return tl::unexpected<Error>(occupancy.error());
  }
  r.occupancy = *occupancy;
  r.waves = static_cast<double>(r.launch.grid.count()) / static_cast<double>(gpu.device.sm_count * r.occupancy.ctas);
  const auto totals = run_kernel(r, source, effort);
  if (!totals) {
    return tl::unexpected<Error>(totals.error());
  }
  fill(r, *totals, source.program());
  add_notes(r);
  return r;
}

}  // namespace tilesim::app
