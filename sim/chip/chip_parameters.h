// The numbers of a GPU spec that the memory system and the CTA scheduler use, in SM cycles.
#pragma once

#include "model/gpu_spec.h"
#include "sim/engine/cycle.h"

namespace tilesim::sim {

struct ChipParameters {
  int sm_count = 0;
  int gpc_count = 0;
  int sectors_per_line = 0;
  double sector_bytes = 0.0;
  Cycle l2_latency = 0;             ///< request leaves the SM to data at the SM, L2 hit
  Cycle l2_latency_spread = 0;      ///< added or taken away by line and SM
  Cycle l2_remote_first_touch = 0;  ///< first read by a partition without a copy
  int l2_partitions = 0;
  Cycle dram_extra = 0;         ///< on top of the L2 latency
  Cycle dram_extra_spread = 0;  ///< added or taken away by line
  double sm_bytes_per_cycle = 0.0;
  double gpc_bytes_per_cycle = 0.0;
  double chip_bytes_per_cycle = 0.0;
  double joined_share = 0.0;   ///< what a joined read counts for GPC and chip
  double request_bytes = 0.0;  ///< what a request counts at least in chip_bytes_per_cycle
  double dram_bytes_per_cycle = 0.0;
  double dram_write_bytes_per_cycle = 0.0;
  double write_sectors_per_cycle = 0.0;  ///< writes that the L2 takes, all SMs together
  int dram_access_sectors = 0;           ///< sectors fetched per missing sector, aligned
  std::int64_t l2_lines = 0;
  int l2_ways = 0;
  Cycle cta_respawn = 0;            ///< end of a CTA to residency of its successor
  Cycle second_cta = 0;             ///< between CTAs of one SM in the first pass
  double cta_start_interval = 0.0;  ///< between CTA starts over the chip
  /// Least time in which anything crosses between SMs: the look-ahead window.
  [[nodiscard]] Cycle window() const;
};

/// `clock_mhz` is the SM clock: DRAM times are held in ns and bytes per second.
[[nodiscard]] ChipParameters make_chip_parameters(const model::GpuSpec& spec, double clock_mhz);

}  // namespace tilesim::sim
