#include "sim/chip/chip_parameters.h"

#include <algorithm>
#include <cmath>

namespace tilesim::sim {

Cycle ChipParameters::window() const {
  return std::max<Cycle>(1, std::min(l2_latency - l2_latency_spread, cta_respawn));
}

ChipParameters make_chip_parameters(const model::GpuSpec& spec, double clock_mhz) {
  ChipParameters p;
  const double cycles_per_ns = clock_mhz / 1000.0;
  const double cycles_per_second = clock_mhz * 1e6;
  const auto rounded = [](double value) { return static_cast<Cycle>(std::llround(value)); };
  p.sm_count = static_cast<int>(spec.device.sm_count);
  p.gpc_count = static_cast<int>(spec.device.gpc_count);
  p.sector_bytes = static_cast<double>(spec.l1.sector_bytes);
  p.sectors_per_line = static_cast<int>(spec.l1.line_bytes / spec.l1.sector_bytes);
  // The SM's own part of a load is what is left of an L1 hit: queue, transfer, lookup, return.
  p.l2_latency = rounded(spec.l2.hit_latency) - spec.l1.hit_latency;
  p.l2_latency_spread = rounded(spec.l2.hit_latency_spread);
  p.l2_remote_first_touch = rounded(spec.l2.remote_first_touch);
  p.l2_partitions = static_cast<int>(spec.l2.partitions);
  p.dram_extra = std::max<Cycle>(0, rounded(spec.dram.latency_ns * cycles_per_ns - spec.l2.hit_latency));
  p.dram_extra_spread = rounded(spec.dram.latency_spread_ns * cycles_per_ns);
  p.sm_bytes_per_cycle = spec.l2.bytes_per_cycle_sm;
  // The L2 and the way to it keep their own clock: to a slower SM they bring more per cycle.
  const double slower = spec.l2.reference_clock_mhz / clock_mhz;
  p.gpc_bytes_per_cycle = spec.l2.bytes_per_cycle_gpc * slower;
  p.chip_bytes_per_cycle = spec.l2.bytes_per_cycle_chip * slower;
  p.joined_share = spec.l2.joined_share;
  p.request_bytes = spec.l2.request_bytes;
  p.dram_bytes_per_cycle = spec.dram.read_bytes_per_second / cycles_per_second;
  p.dram_write_bytes_per_cycle = spec.dram.write_bytes_per_second / cycles_per_second;
  p.write_sectors_per_cycle = spec.l2.write_sectors_per_cycle_chip;
  p.dram_access_sectors = static_cast<int>(std::max<std::int64_t>(1, spec.dram.access_bytes / spec.l1.sector_bytes));
  p.l2_ways = static_cast<int>(spec.l2.associativity);
  p.l2_lines = spec.l2.effective_bytes / spec.l1.line_bytes;
  p.cta_respawn = std::max<Cycle>(1, spec.cta.turnaround_cycles - spec.cta.launch_cycles);
  p.second_cta = spec.cta.second_cta_cycles;
  p.cta_start_interval = spec.cta.start_interval_ns * cycles_per_ns;
  return p;
}

}  // namespace tilesim::sim
