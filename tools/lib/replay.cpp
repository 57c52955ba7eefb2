#include "tools/lib/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "sim/simulate.h"
#include "tools/lib/replay_run.h"
#include "traces/emulator/main_loop.h"
#include "traces/emulator/sass_kernel.h"
#include "traces/sass/decoder.h"
#include "traces/sass/listing_reader.h"

namespace tilesim::app {

namespace {

constexpr int kRegistersBeyondHighest =
    3;  // what ptxas allocates beyond the highest register, on all calibration kernels

Result<traces::DecodedKernel> load(const ReplayRequest& request) {
  const auto listing = traces::read_listing(request.listing);
  if (!listing) {
    return tl::unexpected<Error>(listing.error());
  }
  const auto chosen = traces::choose_kernel(*listing, request.kernel);
  if (!chosen) {
    return tl::unexpected<Error>(chosen.error());
  }
  return traces::decode_kernel(**chosen);
}

Result<model::Occupancy> fit(const model::GpuSpec& gpu, const ReplayRequest& request, int registers) {
  const auto cc = model::find_compute_capability(static_cast<int>(gpu.device.compute_capability_major),
                                                 static_cast<int>(gpu.device.compute_capability_minor));
  if (!cc) {
    return tl::unexpected<Error>(cc.error());
  }
  auto occupancy = model::occupancy(
      *cc, {static_cast<std::int64_t>(request.block.count()), registers, request.shared_bytes, request.carveout_kb, 1});
  if (occupancy && occupancy->ctas == 0) {
    return fail(ErrorKind::kUsage, "the kernel does not fit the GPU: " + occupancy->cannot_launch,
                "use a smaller block, fewer registers or less shared memory");
  }
  return occupancy;
}

void add_occupancy_metrics(ReplayResult& r) {
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
      Metric{static_cast<double>(r.registers), "registers", MetricKind::kAnalytic};
  r.metrics["launch__waves_per_multiprocessor"] = Metric{r.waves, "waves", MetricKind::kAnalytic};
}

void add_counter_metrics(ReplayResult& r, const RunTotals& t) {
  const auto add = [&r](const std::string& name, double value, const char* unit) {
    r.metrics[name] = Metric{value, unit, MetricKind::kSimulated};
  };
  add("sm__cycles_active.avg", r.cycles_active_avg, "cycles");
  add("sm__cycles_elapsed.max", r.cycles_elapsed_max, "cycles");
  add("gpu__time_duration.sum", r.seconds * 1e9, "ns");
  add("smsp__inst_executed.sum", t.instructions, "instructions");
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
}

void fill(ReplayResult& r, const RunTotals& t, const isa::Program& program) {
  r.cycles_active_avg = t.active_cycles / static_cast<double>(r.gpu.device.sm_count);
  r.cycles_elapsed_max = t.elapsed_cycles + r.gpu.device.kernel_launch_cycles;
  r.seconds = r.cycles_elapsed_max / (r.clock_mhz * 1e6);
  r.flops = t.flops;
  r.instructions = t.instructions;
  r.peak_flops_per_second =
      2.0 * static_cast<double>(r.gpu.peak.fp32_fma_lanes_per_sm * r.gpu.device.sm_count) * r.clock_mhz * 1e6;
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

void add_notes(ReplayResult& r) {
  if (r.registers_assumed) {
    r.notes.push_back(
        fmt::format("registers per thread not given: {} assumed (highest register in the code + {}); pass --regs",
                    r.registers, kRegistersBeyondHighest));
  }
  if (r.carveout_assumed) {
    r.notes.push_back(fmt::format("shared-memory carve-out not given: the largest, {} KB, assumed; pass --carveout",
                                  r.occupancy.carveout_kb));
  }
  if (r.barrier_share > 0.10) {
    r.notes.push_back(
        fmt::format("warning: {:.1f} % of all warp time waits at barriers (over 10 %)", 100.0 * r.barrier_share));
  }
}

}  // namespace

Result<ReplayResult> replay(const model::GpuSpec& gpu, const ReplayRequest& request) {
  auto decoded = load(request);
  if (!decoded) {
    return tl::unexpected<Error>(decoded.error());
  }
  traces::LaunchParameters launch;
  launch.grid = request.grid;
  launch.block = request.block;
  launch.shared_bytes = static_cast<std::uint64_t>(request.shared_bytes);
  auto arguments = traces::parse_arguments(request.arguments);
  if (!arguments) {
    return tl::unexpected<Error>(arguments.error());
  }
  launch.arguments = std::move(*arguments);
  const auto kernel = traces::SassKernel::create(*decoded, launch);
  if (!kernel) {
    return tl::unexpected<Error>(kernel.error());
  }
  ReplayResult r;
  r.kernel = traces::demangle(decoded->name);
  r.gpu = gpu;
  r.request = request;
  r.clock_mhz = request.clock_mhz.value_or(gpu.device.clock_fp32_mhz);
  r.registers_assumed = !request.registers;
  r.registers = request.registers.value_or(
      std::min(255, (*kernel)->program().registers_referenced - 1 + kRegistersBeyondHighest));
  r.carveout_assumed = !request.carveout_kb;
  const auto occupancy = fit(gpu, request, r.registers);
  if (!occupancy) {
    return tl::unexpected<Error>(occupancy.error());
  }
  r.occupancy = *occupancy;
  r.waves = static_cast<double>(request.grid.count()) / static_cast<double>(gpu.device.sm_count * r.occupancy.ctas);
  const auto totals = run_replay(r, *decoded, launch);
  if (!totals) {
    return tl::unexpected<Error>(totals.error());
  }
  fill(r, *totals, (*kernel)->program());
  add_notes(r);
  return r;
}

}  // namespace tilesim::app
