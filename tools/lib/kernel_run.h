// Runs the simulator for a kernel and scales what it counted to the whole chip and the whole loop.
//
// Default mode: one SM per number of CTAs that SMs get (floor and ceiling) runs every instruction with all its CTAs;
// the other SMs are request generators. If the main loop is long, two runs with part of its trips give a line that is
// extended to all of them; skipped trips are emulated without timing. Detailed mode: every SM, every trip.
// Instructions executed are not scaled: streams count them, CTA by CTA (those alike once).
#pragma once

#include <array>
#include <vector>

#include "model/result.h"
#include "sim/result.h"
#include "tools/lib/kernel_source.h"

namespace tilesim::app {

struct KernelResult;
struct Coverage;

/// How much is simulated.
struct Effort {
  bool detailed = false;  ///< every SM, every trip
  bool brief = false;     ///< one SM and the shortest runs: for comparisons of one configuration with itself
  int threads = 1;        ///< host threads
};

/// True if a brief run of the same kernel would simulate just what this one did.
[[nodiscard]] bool is_brief(const Coverage& coverage);

struct SiteTotals {
  double requests = 0.0, wavefronts = 0.0, ideal_wavefronts = 0.0, sectors = 0.0, lines = 0.0;
};

/// Counters of the whole chip.
struct RunTotals {
  double active_cycles = 0.0;   ///< summed over all SMs
  double elapsed_cycles = 0.0;  ///< first CTA start to last CTA end
  double warp_cycles = 0.0;
  double instructions = 0.0;  ///< of the simulated SMs, scaled as the other counters
  double executed = 0.0;      ///< warp instructions of the whole launch, as sim::SimulationResult::instructions
  double flops = 0.0;
  std::array<double, sim::kWarpStateCount> states{};
  double data_pipe_cycles = 0.0;
  double l1_load_sectors = 0.0, l1_load_hits = 0.0;
  double l2_read_sectors = 0.0, l2_read_hits = 0.0;
  double dram_read_bytes = 0.0, dram_write_bytes = 0.0;
  std::vector<SiteTotals> sites;
};

/// Runs `source` under the occupancy, clock and GPU of `result`; fills `result.coverage` as it goes. Errors: the
/// source's and the simulator's.
[[nodiscard]] Result<RunTotals> run_kernel(KernelResult& result, const KernelSource& source, const Effort& effort);

}  // namespace tilesim::app
