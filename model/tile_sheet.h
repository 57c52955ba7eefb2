// The pencil-and-paper model of a tiled GEMM as one sheet: everything about a configuration, a problem and a GPU that
// needs no simulation. Items are numbered as in the published method that it follows: 1 tiling, 2 shared memory,
// 3 registers, 4 FLOPs, 5 intensity, 6 ridge, 7 on-chip reads, 8 occupancy, 9 waves, 10 double buffering, 11 barriers,
// 12 bank conflicts, 13 global loads, 14 boundaries, 15 L2. Items 16 (where the time goes) and 17 (troubleshooting)
// need a simulated kernel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/gpu_spec.h"
#include "model/legality.h"
#include "model/occupancy.h"
#include "model/register_plan.h"
#include "model/result.h"
#include "model/roofline.h"
#include "model/tile_access.h"
#include "model/tile_config.h"
#include "model/waves.h"

namespace tilesim::model {

/// Share of barrier time from which on the sheet warns.
inline constexpr double kBarrierWarningPercent = 10.0;

/// Items 1 to 4.
struct TileWork {
  std::int64_t threads = 0;
  std::int64_t warps = 0;
  std::int64_t shared_bytes_per_buffer = 0;
  std::int64_t shared_bytes = 0;
  RegisterEstimate register_estimate;
  std::int64_t registers = 0;  ///< per thread: given or estimated, at most the limit
  Spill spill;
  std::int64_t flops_per_k_step = 0;  ///< of a CTA
  std::int64_t flops_per_thread_k_step = 0;
  std::int64_t fma_per_thread_k_step = 0;
  double k_step_cycles = 0.0;  ///< one CTA alone on an SM, at the SM's peak
  double k_step_seconds = 0.0;
};

/// Items 5 and 6.
struct TileIntensity {
  Intensity problem;
  Intensity tile_k_step;  ///< the sketch: C counted in every K-step
  Intensity tile;         ///< the CTA's real K-steps, C once
  Intensity tile_limit;   ///< long K
  Roofline roofline;
  double fp32_ridge = 0.0;    ///< FLOP/B at the default clock
  double tensor_ridge = 0.0;  ///< FLOP/B, FP16 datasheet peak, dense
};

/// Item 7. Elements read from shared memory (direct: from global memory) per multiply-add, and the bandwidth they need
/// at the peak rate.
struct OnChipReads {
  double per_fma_untiled = 2.0;  ///< every multiply-add reads its two operands
  double per_fma_tiled = 0.0;    ///< (TM+TN)/(TM*TN), or the same with WM and WN
  double bytes_per_cycle_untiled = 0.0;
  double bytes_per_cycle_tiled = 0.0;  ///< each lane counted, broadcasts not merged
  double bytes_per_cycle_available = 0.0;
  double wavefront_cycles = 0.0;  ///< data-pipe cycles of all shared accesses of a CTA's K-step, broadcasts merged
  double math_cycles = 0.0;       ///< of the same K-step
  [[nodiscard]] constexpr bool shared_bound() const { return wavefront_cycles > math_cycles; }
};

/// Item 8, with Little's law: bytes in flight = rate * latency.
struct Residency {
  Occupancy occupancy;
  double bytes_in_flight_for_dram = 0.0;    ///< per SM, to keep the DRAM at its peak
  double bytes_in_flight_for_kernel = 0.0;  ///< per SM, to feed the math at its peak from DRAM
  double bytes_in_flight_per_cta = 0.0;     ///< that one CTA can have under way
  std::int64_t ctas_needed = 0;             ///< the smaller of both needs, in CTAs
  bool enough = false;
};

/// Item 9, and the ideal times.
struct WholeProblem {
  GemmFlops flops;
  GemmBytes bytes;
  Waves waves;
  double cta_alone_seconds = 0.0;   ///< one CTA's K-steps, alone on an SM
  double wave_seconds = 0.0;        ///< all resident CTAs share the SM
  double peak_seconds = 0.0;        ///< 2MNK at the peak
  double whole_wave_seconds = 0.0;  ///< waves * wave_seconds
  /// No kernel of this tile can be faster: the roofline; and on the SM with most CTAs the math and the data pipe.
  double least_seconds = 0.0;
};

/// Items 10 and 11.
struct Overlap {
  double load_cycles = 0.0;    ///< DRAM latency, and the transfer of a K-step of the resident CTAs to the SM
  double window_cycles = 0.0;  ///< math that runs meanwhile: of buffers ahead, or of the other resident CTAs
  double hidden_percent = 0.0;
  std::int64_t barriers_per_k_step = 0;  ///< 2 with one buffer, 1 with several, none without shared memory
  double barrier_cycles = 0.0;           ///< each
  double barrier_percent = 0.0;          ///< of a K-step of one CTA alone
  bool barrier_warning = false;
};

/// Item 15: one order of CTAs.
struct RasterChoice {
  Raster raster;
  RasterTraffic traffic;
};

struct TileSheet {
  TileConfig config;
  Problem problem;
  std::string gpu;
  double clock_mhz = 0.0;  ///< all times assume it
  Legality legality;       ///< warnings
  TileWork work;
  TileIntensity intensity;
  OnChipReads on_chip;
  Residency residency;
  WholeProblem whole;
  Overlap overlap;
  std::vector<SharedAccessCost> shared_accesses;  ///< item 12
  std::vector<LayoutAlternative> layouts;
  std::array<GlobalAccessCost, 2> global_loads;  ///< item 13
  std::vector<RasterChoice> rasters;             ///< the configured one first, then n, m, group:8
  std::vector<std::string> slips;                ///< where the pencil sketch mixes units, with this sheet's numbers
};

/// Fills the sheet. An illegal configuration or a bad problem is an Error with every reason counted and the nearest
/// legal choice. `clock_mhz` = 0 takes the spec's clock for the pipe; without `carveout_kb` the largest shared-memory
/// carve-out is assumed.
[[nodiscard]] Result<TileSheet> make_tile_sheet(const TileConfig& config, const Problem& problem, const GpuSpec& gpu,
                                                double clock_mhz = 0.0, std::optional<int> carveout_kb = std::nullopt);

/// One line of the sheet for reports and JSON.
struct SheetEntry {
  int item = 0;     ///< number in the method
  std::string key;  ///< stable, snake_case
  double value = 0.0;
  std::string unit;
};
[[nodiscard]] std::vector<SheetEntry> sheet_entries(const TileSheet& sheet);

/// The sentences of TileSheet::slips.
[[nodiscard]] std::vector<std::string> explain_slips(const TileSheet& sheet);

}  // namespace tilesim::model
