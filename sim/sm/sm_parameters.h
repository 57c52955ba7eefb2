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
  Cycle yield_extra = 0;
  Cycle branch_taken = 0;
  int operand_window = 0;
  int register_banks = 0;
  WarpPolicy policy = WarpPolicy::kGreedyHighestSlot;
  // Pipes: issue intervals and latencies.
  Cycle fma_half = 0, fma_wide = 0, fma_wide_hold = 0, half = 0, alu = 0, uniform = 0, fp64 = 0, hfma2_mma = 0;
  Cycle hmma = 0, hmma_short = 0, hmma_hold = 0, xu = 0, xu_latency = 0, s2r = 0, s2r_latency = 0, ldc = 0,
        ldc_latency = 0, constant_miss = 0;
  int xu_queue = 0;
  // Memory instruction path.
  int mio_queue = 0, mio_shared_queue = 0;
  Cycle mio_slot_release = 0;
  int mio_turn = 0;
  Cycle mio_start = 0, mio_per_register = 0;
  Cycle wavefront = 0, request_wavefront = 0;
  int concurrent_requests = 0;
  Cycle lds_latency = 0, lds64_extra = 0, lds128_extra = 0, l1_hit_latency = 0;
  Cycle commit_latency = 0, copy_latency = 0, copy_lookup = 0, bypass_after = 0;
  double word_copy_miss = 0;
  double bypass_request = 0;
  int copies_waiting = 0;
  double miss_lines_per_cycle = 0;
  double store_cycles_per_sector = 0, store_cycles_per_partial_line = 0;
  int store_sectors_in_flight = 0;
  int l1_bytes = 0, l1_line = 0, l1_ways = 0, tag_lines = 0;
  // Barriers and CTAs.
  Cycle barrier_base = 0, barrier_per_warp = 0, barrier_register = 0, barrier_release = 0;
  Cycle barrier_skew_cycles = 0;
  int barrier_skew_warps = 0;
  Cycle cta_launch = 0, cta_turnaround = 0;
  // Instruction fetch, in units of instruction lines.
  int line_instructions = 0, l0_lines = 0, l1i_lines = 0, l15_lines = 0;
  Cycle l0_miss_branch = 0, cold_latency = 0;
  double l1_miss_per_instruction = 0, l15_miss_per_instruction = 0, cold_per_instruction = 0;
};

/// Collects the parameters; `l1_bytes` is what the carve-out leaves to the L1.
[[nodiscard]] SmParameters make_sm_parameters(const model::GpuSpec& spec, int l1_bytes);

}  // namespace tilesim::sim
