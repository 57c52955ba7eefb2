// The numbers of a GPU spec that the memory system and the CTA scheduler use, in SM cycles.
#pragma once

#include "model/gpu_spec.h"
#include "sim/engine/cycle.h"

namespace tilesim::sim {

struct ChipParameters {
  int sm_count = 1;
  int gpc_count = 1;
  int sectors_per_line = 4;
  double sector_bytes = 32.0;
  Cycle l2_latency = 250;           ///< request leaves the SM to data at the SM, L2 hit
  Cycle l2_latency_spread = 17;     ///< added or taken away by line and SM
  Cycle l2_remote_first_touch = 0;  ///< first read by a partition without a copy
  int l2_partitions = 1;
  Cycle dram_extra = 400;        ///< on top of the L2 latency
  Cycle dram_extra_spread = 95;  ///< added or taken away by line
  double sm_bytes_per_cycle = 123.0;
  double gpc_bytes_per_cycle = 640.0;
  double chip_bytes_per_cycle = 4739.0;
  double joined_share = 0.58;   ///< what a joined read counts for GPC and chip
  double request_bytes = 58.0;  ///< what a request counts at least in chip_bytes_per_cycle
  double dram_bytes_per_cycle = 2300.0;
  double dram_write_bytes_per_cycle = 2200.0;
  double write_sectors_per_cycle = 45.0;  ///< writes that the L2 takes, all SMs together
  int dram_access_sectors = 2;            ///< sectors fetched per missing sector, aligned
  std::int64_t l2_lines = 1;
  int l2_ways = 16;
  Cycle cta_respawn = 300;          ///< end of a CTA to residency of its successor
  Cycle second_cta = 28;            ///< between CTAs of one SM in the first pass
  double cta_start_interval = 1.2;  ///< between CTA starts over the chip
  /// Least time in which anything crosses between SMs: the look-ahead window.
  [[nodiscard]] Cycle window() const;
};

/// `clock_mhz` is the SM clock: DRAM times are held in ns and bytes per second. `l1_overhead` is the part of the load
/// latency spent inside the SM.
[[nodiscard]] ChipParameters make_chip_parameters(const model::GpuSpec& spec, double clock_mhz);

}  // namespace tilesim::sim
