#include "model/tile_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tilesim::model {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

// Bytes of A and B that a CTA loads per K-step.
double tile_bytes(const TileConfig& config) {
  return real((config.bm + config.bn) * config.bk * element_bytes(config.dtype));
}

TileWork work_of(const TileConfig& config, const GpuSpec& gpu, double clock_mhz) {
  TileWork work;
  work.threads = threads_per_cta(config);
  work.warps = work.threads / 32;
  work.shared_bytes_per_buffer = shared_bytes_per_stage(config);
  work.shared_bytes = shared_bytes(config);
  work.register_estimate = estimate_registers(config);
  work.spill = spill_of(config);
  work.registers = registers_per_thread(config);
  const std::int64_t fma = config.bm * config.bn * config.bk;
  work.flops_per_k_step = 2 * fma;
  work.fma_per_thread_k_step = fma / work.threads;
  work.flops_per_thread_k_step = 2 * work.fma_per_thread_k_step;
  work.k_step_cycles = real(fma) / fma_per_cycle_and_sm(gpu, config.dtype);
  work.k_step_seconds = work.k_step_cycles / (clock_mhz * 1e6);
  return work;
}

TileIntensity intensity_of(const TileConfig& config, const Problem& problem, const GpuSpec& gpu,
                           const Roofline& verdict, std::int64_t k_steps) {
  TileIntensity intensity;
  intensity.problem = verdict.intensity;
  intensity.tile_k_step = tile_intensity(config, 1, problem.c_bytes);
  intensity.tile = tile_intensity(config, k_steps, problem.c_bytes);
  intensity.tile_limit = tile_intensity_limit(config);
  intensity.roofline = verdict;
  const double bandwidth = gpu.dram.peak_bytes_per_second;
  intensity.fp32_ridge = ridge_flop_per_byte(peak_flops_per_second(gpu, DataType::kF32), bandwidth);
  intensity.tensor_ridge = ridge_flop_per_byte(datasheet_flops_per_second(gpu, DataType::kF16), bandwidth);
  return intensity;
}

OnChipReads on_chip_of(const TileConfig& config, const GpuSpec& gpu, const TileWork& work,
                       const std::vector<SharedAccessCost>& accesses) {
  OnChipReads reads;
  const bool simt = config.family == Family::kSimt;
  const double rows = real(simt ? config.tm : config.wm);
  const double columns = real(simt ? config.tn : config.wn);
  reads.per_fma_tiled = (rows + columns) / (rows * columns);
  const double fma_bytes = fma_per_cycle_and_sm(gpu, config.dtype) * real(element_bytes(config.dtype));
  reads.bytes_per_cycle_untiled = reads.per_fma_untiled * fma_bytes;
  reads.bytes_per_cycle_tiled = reads.per_fma_tiled * fma_bytes;
  reads.bytes_per_cycle_available = gpu.peak.shared_bytes_per_cycle;
  for (const SharedAccessCost& access : accesses) {
    reads.wavefront_cycles += real(access.wavefronts * gpu.lsu.wavefront_interval);
  }
  reads.math_cycles = work.k_step_cycles;
  return reads;
}

Result<Residency> residency_of(const TileConfig& config, const GpuSpec& gpu, const TileWork& work,
                               std::optional<int> carveout_kb) {
  const auto cc = find_compute_capability(static_cast<int>(gpu.device.compute_capability_major),
                                          static_cast<int>(gpu.device.compute_capability_minor));
  if (!cc) return tl::unexpected(cc.error());
  OccupancyInput input;
  input.threads = work.threads;
  input.registers = work.registers;
  input.shared_bytes = work.shared_bytes;
  input.carveout_kb = carveout_kb;
  auto found = occupancy(*cc, input);
  if (!found) return tl::unexpected(found.error());
  if (found->ctas < 1)
    return fail(ErrorKind::kUsage, found->cannot_launch, "Choose a smaller tile or fewer registers.");
  Residency residency;
  residency.occupancy = *std::move(found);
  const double latency = gpu.dram.latency_ns * 1e-9;
  residency.bytes_in_flight_for_dram = gpu.dram.peak_bytes_per_second * latency / real(gpu.device.sm_count);
  residency.bytes_in_flight_for_kernel = tile_bytes(config) / work.k_step_seconds * latency;
  residency.bytes_in_flight_per_cta = tile_bytes(config) * real(std::max<std::int64_t>(1, config.stages - 1));
  const double need = std::min(residency.bytes_in_flight_for_dram, residency.bytes_in_flight_for_kernel);
  residency.ctas_needed =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(need / residency.bytes_in_flight_per_cta)));
  residency.enough = residency.occupancy.ctas >= residency.ctas_needed;
  return residency;
}

Result<WholeProblem> whole_of(const TileConfig& config, const Problem& problem, const GpuSpec& gpu,
                              const TileWork& work, const Roofline& verdict, std::int64_t resident) {
  const auto flops = gemm_flops(problem);
  const auto bytes = gemm_bytes(problem);
  const auto waves = count_waves(problem, extents(config), gpu.device.sm_count, resident);
  if (!flops) return tl::unexpected(flops.error());
  if (!bytes) return tl::unexpected(bytes.error());
  if (!waves) return tl::unexpected(waves.error());
  WholeProblem whole;
  whole.flops = *flops;
  whole.bytes = *bytes;
  whole.waves = *waves;
  whole.cta_alone_seconds = work.k_step_seconds * real(waves->k_steps);
  whole.wave_seconds = whole.cta_alone_seconds * real(resident);
  whole.peak_seconds = real(flops->products) / verdict.peak_flops;
  whole.whole_wave_seconds = whole.wave_seconds * real(waves->whole_waves);
  return whole;
}

/// mma.sync does not reach the peak that wgmma reaches.
double math_cycles_of(const TileConfig& config, const GpuSpec& gpu, const TileWork& work) {
  if (config.family != Family::kMma) return work.k_step_cycles;
  return real(config.bm * config.bn * config.bk) / mma_sync_fma_per_cycle_and_sm(gpu, config.dtype);
}

double least_seconds_of(const TileSheet& sheet, const GpuSpec& gpu) {
  double wavefronts = 0.0;  // without those that the rules may overcount
  for (const SharedAccessCost& access : sheet.shared_accesses) {
    wavefronts += access.confirmed ? real(access.wavefronts * gpu.lsu.wavefront_interval) : 0.0;
  }
  const double k_step = std::max(math_cycles_of(sheet.config, gpu, sheet.work), wavefronts);
  const Waves& waves = sheet.whole.waves;
  const double busiest = k_step * real(waves.k_steps * waves.busiest_sm_ctas) / (sheet.clock_mhz * 1e6);
  return std::max(sheet.intensity.roofline.seconds, busiest);
}

Overlap overlap_of(const TileConfig& config, const GpuSpec& gpu, const TileWork& work, std::int64_t resident,
                   double clock_mhz) {
  Overlap overlap;
  const double transfer = real(resident) * tile_bytes(config) / gpu.l2.bytes_per_cycle_sm;
  overlap.load_cycles = gpu.dram.latency_ns * 1e-3 * clock_mhz + transfer;
  // With one buffer only the math of other resident CTAs runs while a CTA waits.
  const std::int64_t steps = config.stages > 1 ? (config.stages - 1) * resident : resident - 1;
  overlap.window_cycles = work.k_step_cycles * real(steps);
  overlap.hidden_percent = 100.0 * std::min(1.0, overlap.window_cycles / overlap.load_cycles);
  overlap.barriers_per_k_step = !uses_shared_memory(config) ? 0 : config.stages > 1 ? 1 : 2;
  overlap.barrier_cycles = real(gpu.barrier.base_cycles + gpu.barrier.cycles_per_warp * work.warps);
  const double barriers = overlap.barrier_cycles * real(overlap.barriers_per_k_step);
  overlap.barrier_percent = 100.0 * barriers / (barriers + work.k_step_cycles);
  overlap.barrier_warning = overlap.barrier_percent > kBarrierWarningPercent;
  return overlap;
}

Result<std::vector<RasterChoice>> rasters_of(const TileConfig& config, const Problem& problem, const GpuSpec& gpu,
                                             const Waves& waves) {
  std::vector<RasterChoice> choices;
  for (const Raster& raster :
       {config.raster, Raster{RasterKind::kAlongN, 1}, Raster{RasterKind::kAlongM, 1}, Raster{RasterKind::kGroup, 8}}) {
    TileConfig other = config;
    other.raster = raster;
    auto traffic = raster_traffic(problem, other, waves, gpu.l2.effective_bytes);
    if (!traffic) return tl::unexpected(traffic.error());
    choices.push_back({raster, *traffic});
  }
  return choices;
}

}  // namespace

Result<TileSheet> make_tile_sheet(const TileConfig& config, const Problem& problem, const GpuSpec& gpu,
                                  double clock_mhz, std::optional<int> carveout_kb) {
  auto legality = check_legality(config, problem, gpu);
  if (!legality) return tl::unexpected(legality.error());
  if (!legality->legal()) return tl::unexpected(to_error(*legality));
  const auto verdict = roofline(problem, gpu, clock_mhz);
  if (!verdict) return tl::unexpected(verdict.error());
  TileSheet sheet;
  sheet.config = config;
  sheet.problem = problem;
  sheet.gpu = gpu.name.empty() ? gpu.id : gpu.name;
  sheet.clock_mhz = verdict->clock_mhz;
  sheet.legality = *std::move(legality);
  sheet.work = work_of(config, gpu, sheet.clock_mhz);
  auto residency = residency_of(config, gpu, sheet.work, carveout_kb);
  if (!residency) return tl::unexpected(residency.error());
  sheet.residency = *std::move(residency);
  const std::int64_t resident = sheet.residency.occupancy.ctas;
  auto whole = whole_of(config, problem, gpu, sheet.work, *verdict, resident);
  if (!whole) return tl::unexpected(whole.error());
  sheet.whole = *whole;
  auto rasters = rasters_of(config, problem, gpu, sheet.whole.waves);
  if (!rasters) return tl::unexpected(rasters.error());
  sheet.rasters = *std::move(rasters);
  sheet.intensity = intensity_of(config, problem, gpu, *verdict, sheet.whole.waves.k_steps);
  sheet.shared_accesses = shared_access_costs(config);
  sheet.layouts = layout_alternatives(config);
  sheet.global_loads = global_load_costs(config, problem);
  sheet.on_chip = on_chip_of(config, gpu, sheet.work, sheet.shared_accesses);
  sheet.whole.least_seconds = least_seconds_of(sheet, gpu);
  sheet.overlap = overlap_of(config, gpu, sheet.work, resident, sheet.clock_mhz);
  sheet.slips = explain_slips(sheet);
  return sheet;
}

}  // namespace tilesim::model
