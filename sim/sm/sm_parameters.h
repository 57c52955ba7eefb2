// The numbers of a GPU spec that the units of an SM use, as plain integers. Built once per simulation; immutable.
#pragma once

#include "model/gpu_spec.h"
#include "sim/engine/cycle.h"

namespace tilesim::sim {

/// Which ready warp a sub-partition picks.
enum class WarpPolicy {
  kGreedyHighestSlot,  ///< keep the last warp while it is eligible, else the highest warp slot (measured on the H200)
  kGreedyOldest,       ///< keep the last warp while it is eligible, else the lowest slot
  kRoundRobin,         ///< next slot after the last one
};

struct SmParameters {
  // Issue and operands.
  Cycle yield_extra = 1;
  Cycle branch_taken = 10;
  int operand_window = 2;
  int register_banks = 2;
  WarpPolicy policy = WarpPolicy::kGreedyHighestSlot;
  // Pipes: issue intervals and latencies.
  Cycle fma_half = 2, fma_wide = 4, fma_wide_hold = 2, half = 2, alu = 2, uniform = 2, fp64 = 2, hfma2_mma = 2;
  Cycle hmma = 6, xu = 8, xu_latency = 17, s2r = 2, s2r_latency = 23, ldc = 2, ldc_latency = 28, constant_miss = 0;
  int xu_queue = 2;
  // Memory instruction path.
  int mio_queue = 9, mio_shared_queue = 20;
  Cycle mio_start = 6, mio_per_register = 2;
  Cycle wavefront = 1, request_wavefront = 2;
  int concurrent_requests = 2;
  Cycle lds_latency = 23, lds64_extra = 1, lds128_extra = 3, l1_hit_latency = 31;
  double miss_lines_per_cycle = 1.0;
  double store_cycles_per_sector = 1.0, store_cycles_per_partial_line = 0.7;
  int store_sectors_in_flight = 512;
  int l1_bytes = 196608, l1_line = 128, l1_ways = 4, tag_lines = 4;
  // Barriers and CTAs.
  Cycle barrier_base = 12, barrier_per_warp = 2, barrier_skew_cycles = 2;
  int barrier_skew_warps = 4;
  Cycle cta_launch = 0, cta_turnaround = 420;
  // Instruction fetch, in units of instruction lines.
  int line_instructions = 8, l0_lines = 44, l1i_lines = 256, l15_lines = 1024;
  Cycle l0_miss_branch = 10, cold_latency = 300;
  double l1_miss_per_instruction = 2.06, l15_miss_per_instruction = 5.7, cold_per_instruction = 2.1;
};

/// Collects the parameters; `l1_bytes` is what the carve-out leaves to the L1.
[[nodiscard]] SmParameters make_sm_parameters(const model::GpuSpec& spec, int l1_bytes);

}  // namespace tilesim::sim
