#include "tools/reports/check_text.h"

#include <fmt/format.h>

#include "model/counted.h"
#include "tools/lib/kernel_result.h"
#include "tools/lib/tile_check.h"
#include "tools/reports/occupancy_text.h"
#include "tools/reports/roofline_plot.h"
#include "tools/reports/text.h"

namespace tilesim::reports {

namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

std::string work_lines(const model::TileSheet& s) {
  const model::TileWork& w = s.work;
  const std::string shared =
      model::uses_shared_memory(s.config)
          ? fmt::format("{} B shared ({} x {})", w.shared_bytes, s.config.stages, w.shared_bytes_per_buffer)
          : std::string("no shared memory");
  std::string text =
      fmt::format("Tile       {} ({}), {} and {} per thread ({}), {}\n", counted(w.threads, "thread"),
                  counted(w.warps, "warp"), counted(w.register_estimate.accumulators, "accumulator"),
                  counted(w.registers, "register"), s.config.registers != 0 ? "given" : "estimated", shared);
  if (w.spill.spills()) {
    text += fmt::format("           {} per thread {}: {} per CTA and K-step through local memory\n",
                        counted(w.spill.registers, "register"), w.spill.registers == 1 ? "spills" : "spill",
                        si(real(w.spill.bytes_per_k_step), "B"));
  }
  return text + fmt::format("K-step     {} FLOP per CTA, {} per thread; {} cycles ({}) for one CTA alone at peak\n",
                            w.flops_per_k_step, w.flops_per_thread_k_step, plain(w.k_step_cycles),
                            si(w.k_step_seconds, "s"));
}

std::string problem_lines(const model::TileSheet& s, bool assumed) {
  const model::Problem& p = s.problem;
  const model::TileIntensity& x = s.intensity;
  const std::string parts =
      (p.split_k > 1 ? fmt::format(", split-k {}", p.split_k) : "") +
      (p.batch > 1 ? fmt::format(", batch {}", p.batch) : "") +
      (p.alpha != 1.0 || p.beta != 0.0 ? fmt::format(", alpha {}, beta {}", p.alpha, p.beta) : "");
  return fmt::format("Problem    {} x {} x {} {} {}{}{}: {}, at least {} to and from DRAM\n", p.m, p.n, p.k,
                     model::to_string(s.config.dtype), model::to_string(s.config.layout), parts,
                     assumed ? " (assumed)" : "", si(real(s.whole.flops.products), "FLOP"),
                     si(real(s.whole.bytes.total()), "B")) +
         fmt::format("Roofline   {} FLOP/B for the problem, {} for the tile; {} ridge {}: {}, at most {}\n",
                     plain(x.problem.flop_per_byte, 4), plain(x.tile.flop_per_byte, 4), app::pipe_name(s.config.dtype),
                     plain(x.roofline.ridge, 4), model::to_string(x.roofline.bound),
                     si(x.roofline.attainable, "FLOP/s"));
}

std::string wave_lines(const model::TileSheet& s) {
  const model::Waves& w = s.whole.waves;
  const model::Residency& r = s.residency;
  std::string text = fmt::format(
      "Latency    {} resident, {} needed to hide the DRAM's (Little's law: {} in flight per SM, {} per CTA): {}\n",
      r.occupancy.ctas, r.ctas_needed, si(std::min(r.bytes_in_flight_for_dram, r.bytes_in_flight_for_kernel), "B"),
      si(r.bytes_in_flight_per_cta, "B"), r.enough ? "enough" : "too few");
  text += fmt::format("Waves      {} of {}, {} per SM; {} waves ({} whole), {} of the slots used, balance {}\n",
                      counted(w.ctas, "CTA"), counted(w.k_steps, "K-step"), plain(w.ctas_per_sm, 3), plain(w.waves, 3),
                      w.whole_waves, percent(100.0 * w.efficiency), percent(100.0 * w.balance));
  text += fmt::format("Time       {} at peak, {} in whole waves; one CTA alone {}, a wave of {} {}\n",
                      si(s.whole.peak_seconds, "s"), si(s.whole.whole_wave_seconds, "s"),
                      si(s.whole.cta_alone_seconds, "s"), r.occupancy.ctas, si(s.whole.wave_seconds, "s"));
  if (w.wasted_work_percent > 0.0) {
    text += fmt::format("Boundary   {} of the work is padding; {} of the CTAs stick out of C\n",
                        percent(w.wasted_work_percent), percent(w.boundary_cta_percent));
  }
  return text;
}

std::string overlap_lines(const model::TileSheet& s, const cli::Palette& palette) {
  const model::Overlap& o = s.overlap;
  std::string text =
      fmt::format("Loads      {} cycles, {} of them behind the math of {}\n", plain(o.load_cycles, 4),
                  percent(o.hidden_percent), s.config.stages > 1 ? "other buffers and CTAs" : "other CTAs");
  const model::OnChipReads& r = s.on_chip;
  if (!model::uses_shared_memory(s.config)) {
    return text + fmt::format(
                      "Operands   {} elements read from global memory per FMA ({} without register tiling); no "
                      "shared memory, no barriers\n",
                      plain(r.per_fma_tiled, 3), plain(r.per_fma_untiled, 3));
  }
  const std::string barriers =
      fmt::format("Barriers   {} per K-step of {} cycles: {} of a K-step", o.barriers_per_k_step,
                  plain(o.barrier_cycles, 4), percent(o.barrier_percent));
  text += o.barrier_warning ? palette.warning(barriers + " - warning: over 10 %") : barriers;
  return text + fmt::format(
                    "\nShared     {} elements read per FMA ({} without register tiling); {} data-pipe cycles per {} of "
                    "math: {}\n",
                    plain(r.per_fma_tiled, 3), plain(r.per_fma_untiled, 3), plain(r.wavefront_cycles, 5),
                    plain(r.math_cycles, 5), r.shared_bound() ? "shared-memory bound" : "fits");
}

std::string access_lines(const model::TileSheet& s, const cli::Palette& palette) {
  Table shared({false, false, true, true, true, true});
  shared.add({"shared", "instruction", "count", "wavefronts", "conflicts", "ways"});
  for (const model::SharedAccessCost& a : s.shared_accesses) {
    shared.add({a.name, a.instruction, fmt::format("{}", a.instructions), fmt::format("{}", a.wavefronts),
                fmt::format("{}", a.conflicts()), plain(a.ways(), 3)});
  }
  Table global({false, false, true, true, true, true});
  global.add({"global", "instruction", "count", "sectors each", "lines each", "bytes used"});
  for (const model::GlobalAccessCost& a : s.global_loads) {
    global.add({a.name, a.instruction, fmt::format("{}", a.requests), plain(a.sectors_per_request(), 3),
                plain(a.lines_per_request(), 3), percent(100.0 * a.efficiency())});
  }
  return palette.bold("Accesses") + " per CTA and K-step\n" +
         (s.shared_accesses.empty() ? std::string() : shared.text(palette)) + global.text(palette);
}

std::string order_lines(const model::TileSheet& s) {
  if (s.rasters.empty()) {
    return "";
  }
  const model::RasterTraffic& t = s.rasters.front().traffic;
  return fmt::format("Order      {}: L2 hits {}, DRAM {} ({} x the least)\n",
                     model::to_string(s.rasters.front().raster), percent(t.l2_hit_percent), si(t.dram_bytes, "B"),
                     plain(t.over_compulsory, 3));
}

std::string warning_lines(const model::TileSheet& s, const cli::Palette& palette) {
  std::string text;
  for (const model::Finding& finding : s.legality.findings) {
    const std::string sentence = finding.remedy.empty() ? finding.message : finding.message + " " + finding.remedy;
    text += palette.warning(paragraph("Warning    ", sentence));
  }
  return text;
}

/// Paddings and swizzles; the configured one stands first and once.
std::string layout_table(const model::TileSheet& s, const cli::Palette& palette) {
  if (s.layouts.empty()) {
    return "no shared memory\n";
  }
  Table table({true, true, true, true, true, true});
  table.add({"pad A", "pad B", "swizzle", "conflicts", "wavefronts", "shared bytes"});
  for (const model::LayoutAlternative& a : s.layouts) {
    const model::LayoutAlternative& first = s.layouts.front();
    if (&a == &first || a.pad_a != first.pad_a || a.pad_b != first.pad_b || a.swizzle != first.swizzle) {
      table.add({fmt::format("{}", a.pad_a), fmt::format("{}", a.pad_b), fmt::format("{}", a.swizzle),
                 fmt::format("{}", a.conflicts), fmt::format("{}", a.wavefronts), fmt::format("{}", a.shared_bytes)});
    }
  }
  return table.text(palette);
}

/// Orders of CTAs; the configured one stands first and once.
std::string order_table(const model::TileSheet& s, const cli::Palette& palette) {
  Table table({false, true, true, true});
  table.add({"order", "L2 hits", "DRAM", "over the least"});
  for (const model::RasterChoice& c : s.rasters) {
    if (&c == &s.rasters.front() || c.raster != s.rasters.front().raster) {
      table.add({model::to_string(c.raster), percent(c.traffic.l2_hit_percent), si(c.traffic.dram_bytes, "B"),
                 plain(c.traffic.over_compulsory, 3)});
    }
  }
  return table.text(palette);
}

}  // namespace

std::string check_verdict(const model::TileSheet& s) {
  const model::Roofline& r = s.intensity.roofline;
  const double seconds = s.whole.least_seconds;
  const std::int64_t resident = s.residency.occupancy.ctas;
  const model::OnChipReads& chip = s.on_chip;
  const std::string bound = chip.shared_bound()
                                ? fmt::format("bound by shared memory, which needs {} times the cycles of the math",
                                              plain(chip.wavefront_cycles / chip.math_cycles, 3))
                                : std::string(model::to_string(r.bound));
  std::string text = fmt::format(
      "{} is legal on the {} and {}: at best {} ({}); an SM holds {} {}", app::tile_name(s.config), s.gpu, bound,
      si(seconds, "s"), si(real(s.whole.flops.products) / seconds, "FLOP/s"), resident, resident == 1 ? "CTA" : "CTAs");
  if (s.work.spill.spills()) {
    text += fmt::format("; about {} per thread spill, which makes it slower than that",
                        counted(s.work.spill.registers, "register"));
  }
  return text + ".";
}

std::string check_text(const model::TileSheet& s, bool problem_assumed, const cli::Palette& palette) {
  return palette.bold(paragraph("", check_verdict(s))) + "\n" + problem_lines(s, problem_assumed) + work_lines(s) +
         wave_lines(s) + overlap_lines(s, palette) + order_lines(s) +
         fmt::format("Occupancy  {}\n", occupancy_sentence(s.residency.occupancy)) +
         occupancy_table(s.residency.occupancy, palette) + access_lines(s, palette) + warning_lines(s, palette) +
         fmt::format("All times assume {} MHz; analytic, nothing was simulated.\n", plain(s.clock_mhz));
}

std::string check_sheet_text(const model::TileSheet& s, const cli::Palette& palette) {
  Table entries({true, false, true, false});
  entries.add({"item", "quantity", "value", "unit"});
  for (const model::SheetEntry& e : model::sheet_entries(s)) {
    entries.add({fmt::format("{}", e.item), e.key, plain(e.value, 7), e.unit == "1" ? "" : e.unit});
  }
  std::string text = "\n" + palette.bold("The sheet") + "\n" + entries.text(palette) + "\n" + palette.bold("Roofline") +
                     "\n" + roofline_plot(s.intensity.roofline) + "\n" + palette.bold("Layouts of shared memory") +
                     "\n" + layout_table(s, palette) + "\n" + palette.bold("Orders of CTAs") + "\n" +
                     order_table(s, palette) + "\n" + palette.bold("Where a pencil sketch slips") + "\n";
  for (const std::string& slip : s.slips) {
    text += paragraph("  - ", slip);
  }
  return text;
}

std::string occupancy_text(const model::Occupancy& o, const model::OccupancyInput& input, const std::string& kernel,
                           const std::string& gpu, const cli::Palette& palette) {
  return palette.bold(fmt::format("On the {}: {}.", gpu, occupancy_sentence(o))) + "\n\n" +
         (kernel.empty() ? std::string() : fmt::format("Kernel     {}\n", kernel)) +
         fmt::format("Asked      {}, {} per thread, {} B shared memory per CTA; carve-out {} KB{}\n",
                     counted(input.threads, "thread"), counted(input.registers, "register"), input.shared_bytes,
                     o.carveout_kb, input.carveout_kb ? "" : " (the largest, assumed)") +
         occupancy_table(o, palette);
}

}  // namespace tilesim::reports
