#include "sim/sm/sm_parameters.h"

#include <algorithm>

namespace tilesim::sim {

SmParameters make_sm_parameters(const model::GpuSpec& spec, int l1_bytes) {
  const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
  SmParameters p;
  p.yield_extra = spec.issue.yield_extra_cycles;
  p.branch_taken = spec.issue.branch_taken_cycles;
  p.operand_window = as_int(spec.issue.operand_window_cycles);
  p.register_banks = as_int(spec.issue.register_banks);
  p.fma_half = spec.pipe.fma_half_interval;
  p.fma_wide = spec.pipe.fma_wide_interval;
  p.fma_wide_hold = spec.pipe.fma_wide_dispatch_hold;
  p.half = spec.pipe.half_interval;
  p.alu = spec.pipe.alu_interval;
  p.uniform = spec.pipe.uniform_interval;
  p.fp64 = spec.pipe.fp64_interval;
  p.hfma2_mma = spec.pipe.hfma2_mma_interval;
  p.hmma = spec.pipe.hmma_16816_interval;
  p.hmma_short = spec.pipe.hmma_1688_interval;
  p.hmma_hold = spec.pipe.hmma_math_hold;
  p.xu = spec.pipe.xu_interval;
  p.xu_latency = spec.pipe.xu_latency;
  p.xu_queue = as_int(spec.pipe.xu_queue_entries);
  p.s2r = spec.pipe.s2r_interval;
  p.s2r_latency = spec.pipe.s2r_latency;
  p.ldc = spec.pipe.ldc_interval;
  p.ldc_latency = spec.pipe.ldc_latency;
  p.constant_miss = spec.pipe.constant_miss_latency;
  p.mio_queue = as_int(spec.mio.queue_entries);
  p.mio_shared_queue = as_int(spec.mio.shared_queue_entries);
  p.mio_slot_release = spec.mio.slot_release_cycles;
  p.mio_turn = as_int(spec.mio.turn_warps);
  p.mio_start = spec.mio.transfer_start_cycles;
  p.mio_per_register = spec.mio.transfer_cycles_per_register;
  p.wavefront = spec.lsu.wavefront_interval;
  p.request_wavefront = spec.lsu.request_wavefront_interval;
  p.concurrent_requests = as_int(spec.lsu.concurrent_requests);
  p.lds_latency = spec.lsu.lds_latency;
  p.lds64_extra = spec.lsu.lds64_extra;
  p.lds128_extra = spec.lsu.lds128_extra;
  p.commit_latency = spec.lsu.commit_latency;
  p.copy_latency = spec.lsu.copy_latency;
  p.bypass_after = spec.lsu.bypass_latency;
  p.bypass_request = spec.lsu.bypass_request_interval;
  p.copies_waiting = as_int(spec.lsu.copies_waiting);
  p.copy_lookup = spec.lsu.copy_lookup_interval;
  p.word_copy_miss = spec.lsu.word_copy_miss_interval;
  p.l1_hit_latency = spec.l1.hit_latency;
  p.miss_lines_per_cycle = spec.l1.miss_lines_per_cycle;
  p.store_cycles_per_sector = spec.l1.store_cycles_per_sector;
  p.store_cycles_per_partial_line = spec.l1.store_cycles_per_partial_line;
  p.store_sectors_in_flight = as_int(spec.l1.store_sectors_in_flight);
  p.l1_bytes = l1_bytes;
  p.l1_line = as_int(spec.l1.line_bytes);
  p.l1_ways = as_int(spec.l1.associativity);
  p.tag_lines = as_int(spec.l1.tag_lines_per_cycle);
  p.barrier_base = spec.barrier.base_cycles;
  p.barrier_per_warp = spec.barrier.cycles_per_warp;
  p.barrier_register = spec.barrier.register_cycles;
  p.barrier_release = spec.barrier.release_cycles;
  p.barrier_skew_warps = as_int(spec.barrier.release_skew_warps);
  p.barrier_skew_cycles = spec.barrier.release_skew_cycles;
  p.cta_launch = spec.cta.launch_cycles;
  p.cta_turnaround = spec.cta.turnaround_cycles;
  p.line_instructions = std::max(1, as_int(spec.icache.line_bytes) / 16);
  p.l0_lines = std::max(1, as_int(spec.icache.l0_bytes / spec.icache.line_bytes));
  p.l1i_lines = std::max(1, as_int(spec.icache.l1_bytes / spec.icache.line_bytes));
  p.l15_lines = std::max(1, as_int(spec.icache.l15_bytes / spec.icache.line_bytes));
  p.l0_miss_branch = spec.icache.l0_miss_branch_cycles;
  p.cold_latency = spec.icache.cold_latency;
  p.l1_miss_per_instruction = spec.icache.l1_miss_cycles_per_instruction;
  p.l15_miss_per_instruction = spec.icache.l15_miss_cycles_per_instruction;
  p.cold_per_instruction = spec.icache.cold_cycles_per_instruction;
  return p;
}

}  // namespace tilesim::sim
