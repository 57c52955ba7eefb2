// The sheet as a flat list and as sentences.
#include <fmt/format.h>

#include <string_view>

#include "model/tile_sheet.h"

namespace tilesim::model {
namespace {

class Entries {
 public:
  template <class Number>
  void add(int item, std::string_view key, Number value, std::string_view unit) {
    entries_.push_back({item, std::string(key), static_cast<double>(value), std::string(unit)});
  }
  [[nodiscard]] std::vector<SheetEntry> take() { return std::move(entries_); }

 private:
  std::vector<SheetEntry> entries_;
};

void add_work(Entries& out, const TileWork& work) {
  out.add(1, "threads_per_cta", work.threads, "threads");
  out.add(2, "shared_bytes_per_buffer", work.shared_bytes_per_buffer, "B");
  out.add(2, "shared_bytes", work.shared_bytes, "B");
  out.add(3, "accumulators_per_thread", work.register_estimate.accumulators, "registers");
  out.add(3, "operand_registers", work.register_estimate.operands, "registers");
  out.add(3, "staging_registers", work.register_estimate.staging, "registers");
  out.add(3, "address_registers", work.register_estimate.addresses, "registers");
  out.add(3, "registers_per_thread", work.registers, "registers");
  out.add(3, "spilled_registers", work.spill.registers, "registers");
  out.add(3, "spill_bytes_per_k_step", work.spill.bytes_per_k_step, "B");
  out.add(4, "flops_per_k_step", work.flops_per_k_step, "FLOP");
  out.add(4, "flops_per_thread_k_step", work.flops_per_thread_k_step, "FLOP");
  out.add(4, "fma_per_thread_k_step", work.fma_per_thread_k_step, "FMA");
  out.add(4, "k_step_cycles", work.k_step_cycles, "cycles");
  out.add(4, "k_step_seconds", work.k_step_seconds, "s");
}

void add_intensity(Entries& out, const TileIntensity& intensity, double sms) {
  out.add(5, "problem_intensity", intensity.problem.flop_per_byte, "FLOP/B");
  out.add(5, "problem_intensity_per_element", intensity.problem.flop_per_element, "FLOP/element");
  out.add(5, "tile_intensity_k_step", intensity.tile_k_step.flop_per_byte, "FLOP/B");
  out.add(5, "tile_intensity", intensity.tile.flop_per_byte, "FLOP/B");
  out.add(5, "tile_intensity_limit", intensity.tile_limit.flop_per_byte, "FLOP/B");
  out.add(6, "peak", intensity.roofline.peak_flops, "FLOP/s");
  out.add(6, "peak_per_sm", intensity.roofline.peak_flops / sms, "FLOP/s");
  out.add(6, "ridge", intensity.roofline.ridge, "FLOP/B");
  out.add(6, "fp32_ridge", intensity.fp32_ridge, "FLOP/B");
  out.add(6, "fp16_tensor_ridge", intensity.tensor_ridge, "FLOP/B");
  out.add(6, "attainable", intensity.roofline.attainable, "FLOP/s");
}

void add_on_chip(Entries& out, const TileSheet& sheet) {
  const OnChipReads& reads = sheet.on_chip;
  out.add(7, "shared_reads_per_fma_untiled", reads.per_fma_untiled, "elements/FMA");
  out.add(7, "shared_reads_per_fma", reads.per_fma_tiled, "elements/FMA");
  out.add(7, "shared_demand_untiled", reads.bytes_per_cycle_untiled, "B/cycle");
  out.add(7, "shared_demand", reads.bytes_per_cycle_tiled, "B/cycle");
  out.add(7, "shared_bandwidth", reads.bytes_per_cycle_available, "B/cycle");
  out.add(7, "shared_wavefront_cycles", reads.wavefront_cycles, "cycles");
  const Residency& residency = sheet.residency;
  out.add(8, "resident_ctas", residency.occupancy.ctas, "CTAs");
  out.add(8, "allocated_registers_per_thread", residency.occupancy.registers_per_thread, "registers");
  out.add(8, "allocated_registers_per_cta", residency.occupancy.registers_per_cta, "registers");
  out.add(8, "occupancy", 100.0 * residency.occupancy.fraction, "%");
  out.add(8, "bytes_in_flight_for_dram", residency.bytes_in_flight_for_dram, "B");
  out.add(8, "bytes_in_flight_for_kernel", residency.bytes_in_flight_for_kernel, "B");
  out.add(8, "bytes_in_flight_per_cta", residency.bytes_in_flight_per_cta, "B");
  out.add(8, "ctas_needed", residency.ctas_needed, "CTAs");
}

void add_whole(Entries& out, const TileSheet& sheet) {
  const WholeProblem& whole = sheet.whole;
  out.add(9, "flops", whole.flops.products, "FLOP");
  out.add(9, "flops_with_beta", whole.flops.products_and_beta, "FLOP");
  out.add(9, "bytes_a", whole.bytes.a, "B");
  out.add(9, "bytes_b", whole.bytes.b, "B");
  out.add(9, "bytes_c", whole.bytes.c, "B");
  out.add(9, "compulsory_bytes", whole.bytes.total(), "B");
  out.add(9, "ctas", whole.waves.ctas, "CTAs");
  out.add(9, "k_steps", whole.waves.k_steps, "1");
  out.add(9, "ctas_per_sm", whole.waves.ctas_per_sm, "CTAs");
  out.add(9, "waves", whole.waves.waves, "1");
  out.add(9, "whole_waves", whole.waves.whole_waves, "1");
  out.add(9, "wave_efficiency", 100.0 * whole.waves.efficiency, "%");
  out.add(9, "balance", 100.0 * whole.waves.balance, "%");
  out.add(9, "cta_alone_seconds", whole.cta_alone_seconds, "s");
  out.add(9, "wave_seconds", whole.wave_seconds, "s");
  out.add(9, "peak_seconds", whole.peak_seconds, "s");
  out.add(9, "whole_wave_seconds", whole.whole_wave_seconds, "s");
  out.add(9, "least_seconds", whole.least_seconds, "s");
  out.add(10, "load_cycles", sheet.overlap.load_cycles, "cycles");
  out.add(10, "hidden_loads", sheet.overlap.hidden_percent, "%");
  out.add(11, "barriers_per_k_step", sheet.overlap.barriers_per_k_step, "1");
  out.add(11, "barrier_cycles", sheet.overlap.barrier_cycles, "cycles");
  out.add(11, "barrier_share", sheet.overlap.barrier_percent, "%");
}

std::string key_of(std::string_view name, std::string_view what) {
  std::string key = fmt::format("{}_{}", name, what);
  for (char& letter : key) {
    if (letter == ' ') letter = '_';
    if (letter == 'A' || letter == 'B') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return key;
}

void add_memory(Entries& out, const TileSheet& sheet) {
  for (const SharedAccessCost& access : sheet.shared_accesses) {
    out.add(12, key_of(access.name, "shared_wavefronts"), access.wavefronts, "wavefronts");
    out.add(12, key_of(access.name, "bank_conflicts"), access.conflicts(), "wavefronts");
  }
  for (const GlobalAccessCost& load : sheet.global_loads) {
    out.add(13, key_of(load.name, "sectors_per_request"), load.sectors_per_request(), "sectors");
    out.add(13, key_of(load.name, "lines_per_request"), load.lines_per_request(), "lines");
    out.add(13, key_of(load.name, "sector_efficiency"), 100.0 * load.efficiency(), "%");
    out.add(13, key_of(load.name, "row_alignment"), load.row_alignment_bytes, "B");
  }
  out.add(14, "wasted_work", sheet.whole.waves.wasted_work_percent, "%");
  out.add(14, "boundary_ctas", sheet.whole.waves.boundary_cta_percent, "%");
  if (sheet.rasters.empty()) return;
  const RasterTraffic& traffic = sheet.rasters.front().traffic;
  out.add(15, "l2_hit_rate", traffic.l2_hit_percent, "%");
  out.add(15, "dram_bytes", traffic.dram_bytes, "B");
  out.add(15, "dram_over_compulsory", traffic.over_compulsory, "1");
}

}  // namespace

std::vector<SheetEntry> sheet_entries(const TileSheet& sheet) {
  Entries out;
  add_work(out, sheet.work);
  const Waves& waves = sheet.whole.waves;
  const std::int64_t sms = waves.concurrent / sheet.residency.occupancy.ctas;
  add_intensity(out, sheet.intensity, static_cast<double>(sms));
  add_on_chip(out, sheet);
  add_whole(out, sheet);
  add_memory(out, sheet);
  return out.take();
}

std::vector<std::string> explain_slips(const TileSheet& sheet) {
  std::vector<std::string> slips;
  const TileIntensity& x = sheet.intensity;
  slips.push_back(
      fmt::format("Intensity needs the element size: {:.0f} FLOP per element of {} is {:.1f} FLOP per byte.",
                  x.problem.flop_per_element, to_string(sheet.config.dtype), x.problem.flop_per_byte));
  if (sheet.config.dtype == DataType::kF32) {
    slips.push_back(fmt::format(
        "An FP32 kernel is limited by the FP32 ridge of {:.1f} FLOP/B, not by the FP16 tensor ridge of {:.1f}.",
        x.fp32_ridge, x.tensor_ridge));
  }
  slips.push_back(fmt::format(
      "C is written once, not in every K-step: the tile's intensity is {:.1f} FLOP/B over {} K-steps (limit "
      "{:.1f}), not {:.1f}; with the L2 the DRAM sees less traffic still.",
      x.tile.flop_per_byte, sheet.whole.waves.k_steps, x.tile_limit.flop_per_byte, x.tile_k_step.flop_per_byte));
  if (sheet.residency.occupancy.ctas > 1) {
    slips.push_back(fmt::format(
        "A CTA alone takes {:.1f} us at peak; {} resident CTAs share the lanes of an SM, so their wave takes "
        "{:.1f} us.",
        sheet.whole.cta_alone_seconds * 1e6, sheet.residency.occupancy.ctas, sheet.whole.wave_seconds * 1e6));
  }
  if (sheet.config.stages > 1) {
    slips.push_back(fmt::format(
        "A pipeline of {} buffers must load the first K-slice before the loop and must not load past K in its "
        "last {} of {} iterations.",
        sheet.config.stages, sheet.config.stages - 1, sheet.whole.waves.k_steps));
  }
  if (sheet.config.dtype == DataType::kTf32) {
    slips.emplace_back(
        "TF32 keeps 4-byte elements in memory: its intensity is that of FP32, not twice as high as with FP16 or BF16.");
  }
  return slips;
}

}  // namespace tilesim::model
