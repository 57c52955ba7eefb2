// The one list of every number a GPU spec holds. The struct, the TOML reader, the required/unknown-key checks, the unit
// check and the provenance table are all made from it: to add a hardware number, add one line here and one to each
// spec. FIELD(name, type, unit, minimum, maximum, meaning); type is Int (std::int64_t) or Real (double).
#pragma once

// clang-format off
#define TILESIM_SPEC_DEVICE(FIELD) \
  FIELD(compute_capability_major, Int, "1", 0, 99, "major compute capability; selects the occupancy limits") \
  FIELD(compute_capability_minor, Int, "1", 0, 9, "minor compute capability") \
  FIELD(sm_count, Int, "SM", 1, 4096, "streaming multiprocessors that run CTAs") \
  FIELD(gpc_count, Int, "GPC", 1, 256, "graphics processing clusters; SMs of one share a port to the L2") \
  FIELD(clock_fp32_mhz, Real, "MHz", 1, 10000, "SM clock under FP32 load, default for FP32 kernels") \
  FIELD(clock_tensor_mhz, Real, "MHz", 1, 10000, "SM clock under tensor load, default for tensor-core kernels") \
  FIELD(clock_max_mhz, Real, "MHz", 1, 10000, "highest SM clock") \
  FIELD(kernel_launch_cycles, Real, "cycles", 0, 1000000, "sm__cycles_elapsed.max minus sm__cycles_active.max of a kernel, launch and drain")

#define TILESIM_SPEC_PEAK(FIELD) \
  FIELD(fp32_fma_lanes_per_sm, Int, "FMA/cycle", 1, 4096, "FP32 fused multiply-adds per cycle and SM") \
  FIELD(tensor_f16_fma_per_sm, Real, "FMA/cycle", 0, 1000000, "dense FP16/BF16 tensor multiply-adds per cycle and SM at the peak clock") \
  FIELD(tensor_f16_tflops, Real, "TFLOP/s", 0, 1000000, "datasheet dense FP16/BF16 tensor peak") \
  FIELD(tensor_tf32_tflops, Real, "TFLOP/s", 0, 1000000, "datasheet dense TF32 tensor peak") \
  FIELD(shared_bytes_per_cycle, Real, "B/cycle", 1, 100000, "shared-memory bandwidth of an SM")

#define TILESIM_SPEC_ISSUE(FIELD) \
  FIELD(sub_partitions, Int, "1", 1, 8, "SM sub-partitions, each with a warp scheduler") \
  FIELD(yield_extra_cycles, Int, "cycles", 0, 64, "extra cycles a lone warp loses after an instruction with yield") \
  FIELD(branch_taken_cycles, Int, "cycles", 1, 1000, "issue of a taken branch to issue of its target") \
  FIELD(register_banks, Int, "1", 1, 8, "register-file banks of a sub-partition; bank = register number mod banks") \
  FIELD(operand_window_cycles, Int, "cycles", 1, 16, "cycles after issue in which all operand reads must fit")

#define TILESIM_SPEC_PIPE(FIELD) \
  FIELD(fma_half_interval, Int, "cycles", 1, 64, "issue interval of each half (heavy, lite) of the FMA pipe") \
  FIELD(fma_wide_interval, Int, "cycles", 1, 64, "issue interval of IMAD.WIDE on the heavy half") \
  FIELD(fma_wide_dispatch_hold, Int, "cycles", 0, 64, "cycles that IMAD.WIDE blocks dispatch beyond its own") \
  FIELD(half_interval, Int, "cycles", 1, 64, "issue interval of packed half ops on both FMA halves") \
  FIELD(alu_interval, Int, "cycles", 1, 64, "issue interval of the ALU pipe") \
  FIELD(uniform_interval, Int, "cycles", 1, 64, "issue interval of the uniform datapath") \
  FIELD(fp64_interval, Int, "cycles", 1, 64, "issue interval of the FP64 pipe") \
  FIELD(hfma2_mma_interval, Int, "cycles", 1, 64, "issue interval of HFMA2.MMA on the tensor pipe") \
  FIELD(hmma_16816_interval, Int, "cycles", 1, 64, "issue interval of HMMA m16n8k16, and m16n8k8 of TF32") \
  FIELD(hmma_1688_interval, Int, "cycles", 1, 64, "issue interval of HMMA m16n8k8, and m16n8k4 of TF32") \
  FIELD(hmma_math_hold, Int, "cycles", 0, 64, "from an HMMA to the next instruction of the FMA or ALU pipes") \
  FIELD(xu_interval, Int, "cycles", 1, 64, "issue interval of the transcendental unit") \
  FIELD(xu_queue_entries, Int, "1", 1, 64, "requests the transcendental unit queues") \
  FIELD(xu_latency, Int, "cycles", 1, 1000, "MUFU issue to dependent issue") \
  FIELD(s2r_interval, Int, "cycles", 1, 64, "issue interval of S2R per SM") \
  FIELD(s2r_latency, Int, "cycles", 1, 1000, "S2R issue to dependent issue") \
  FIELD(ldc_interval, Int, "cycles", 1, 64, "issue interval of LDC per SM") \
  FIELD(ldc_latency, Int, "cycles", 1, 1000, "LDC issue to dependent issue") \
  FIELD(constant_miss_latency, Int, "cycles", 0, 10000, "first touch of a constant line by an SM")

#define TILESIM_SPEC_MIO(FIELD) \
  FIELD(queue_entries, Int, "requests", 1, 256, "memory instructions a sub-partition queues before its warps see a throttle") \
  FIELD(shared_queue_entries, Int, "requests", 1, 256, "requests queued in the SM-wide stage behind the sub-partition queues") \
  FIELD(slot_release_cycles, Int, "cycles", 0, 64, "start of a request's transfer to the reuse of its place in the queue of the sub-partition") \
  FIELD(turn_warps, Int, "warps", 1, 32, "warps that take turns at a full queue, the highest slots first") \
  FIELD(transfer_start_cycles, Int, "cycles", 0, 64, "issue of a request to the start of its transfer, unloaded") \
  FIELD(transfer_cycles_per_register, Int, "cycles", 1, 64, "cycles to move one 32-bit source register of a request to the MIO")

#define TILESIM_SPEC_LSU(FIELD) \
  FIELD(wavefront_interval, Int, "cycles", 1, 64, "cycles per wavefront of the SM's data pipe") \
  FIELD(request_wavefront_interval, Int, "cycles", 1, 64, "cycles between wavefronts of one request") \
  FIELD(concurrent_requests, Int, "requests", 1, 64, "requests whose wavefronts interleave on the data pipe") \
  FIELD(lds_latency, Int, "cycles", 1, 1000, "LDS.32 without conflict, issue to dependent issue") \
  FIELD(lds64_extra, Int, "cycles", 0, 64, "extra latency of a 64-bit LDS") \
  FIELD(lds128_extra, Int, "cycles", 0, 64, "extra latency of a 128-bit LDS") \
  FIELD(commit_latency, Int, "cycles", 1, 1000, "LDGDEPBAR with no copy outstanding, issue to its scoreboard") \
  FIELD(copy_latency, Int, "cycles", 1, 1000, "LDGSTS.128, L1 hit, no conflict, issue to its group's scoreboard") \
  FIELD(copy_lookup_interval, Int, "cycles", 1, 64, "between address phases of LDGSTS, whole SM") \
  FIELD(word_copy_miss_interval, Real, "cycles", 0.1, 64, "between lines that LDGSTS of 4 or 8 bytes a lane asks the L2 for, whole SM") \
  FIELD(copies_waiting, Int, "requests", 1, 1000, "LDGSTS between the MIO queue of a sub-partition and their requests to the L2") \
  FIELD(bypass_request_interval, Real, "cycles", 0.1, 64, "between requests of LDGSTS.BYPASS to the L2, whole SM") \
  FIELD(bypass_latency, Int, "cycles", 1, 10000, "LDGSTS.BYPASS: last data back in the SM to the end of the group")

#define TILESIM_SPEC_L1(FIELD) \
  FIELD(capacity_bytes, Int, "B", 1024, 1073741824, "L1 data cache and shared memory together, per SM") \
  FIELD(line_bytes, Int, "B", 128, 128, "line") \
  FIELD(sector_bytes, Int, "B", 32, 32, "sector") \
  FIELD(associativity, Int, "ways", 1, 4096, "ways per set") \
  FIELD(hit_latency, Int, "cycles", 1, 10000, "LDG.32 hit, issue to dependent issue") \
  FIELD(tag_lines_per_cycle, Int, "lines", 1, 64, "lines looked up per cycle") \
  FIELD(miss_lines_per_cycle, Real, "lines/cycle", 0.01, 64, "lines of misses sent to the L2 per cycle") \
  FIELD(store_cycles_per_sector, Real, "cycles", 0, 64, "drain cycles per sector of a store") \
  FIELD(store_cycles_per_partial_line, Real, "cycles", 0, 64, "further drain cycles per line that a store writes only in part") \
  FIELD(store_sectors_in_flight, Int, "sectors", 1, 1000000, "sectors of stores under way from an SM to the L2")

#define TILESIM_SPEC_L2(FIELD) \
  FIELD(capacity_bytes, Int, "B", 1024, 1099511627776, "L2 capacity as the datasheet states it") \
  FIELD(effective_bytes, Int, "B", 1024, 1099511627776, "what holds data that all SMs use: lines are copied between the two partitions") \
  FIELD(partitions, Int, "partitions", 1, 8, "parts of the L2 that keep copies of each other's lines, shared out by GPC") \
  FIELD(associativity, Int, "ways", 1, 4096, "ways per set") \
  FIELD(hit_latency, Real, "cycles", 1, 100000, "LDG.32 L1 miss and L2 hit, issue to dependent issue") \
  FIELD(hit_latency_spread, Real, "cycles", 0, 100000, "half the distance between the near and the far latency group") \
  FIELD(remote_first_touch, Real, "cycles", 0, 100000, "extra latency of the first read of a line that the other partition holds") \
  FIELD(reference_clock_mhz, Real, "MHz", 1, 100000, "SM clock that the bandwidths of a GPC and of the chip are counted in; the L2 keeps its own") \
  FIELD(request_bytes, Real, "B", 0, 128, "what a request counts at least in bytes_per_cycle_chip") \
  FIELD(joined_share, Real, "1", 0, 1, "what a read counts that joins one of the other SM of its TPC, against one of its own") \
  FIELD(bytes_per_cycle_sm, Real, "B/cycle", 0.1, 100000, "read bandwidth of one SM") \
  FIELD(bytes_per_cycle_gpc, Real, "B/cycle", 0.1, 100000, "read bandwidth of one GPC") \
  FIELD(bytes_per_cycle_chip, Real, "B/cycle", 0.1, 1000000, "read bandwidth of the chip") \
  FIELD(write_sectors_per_cycle_chip, Real, "sectors/cycle", 0.1, 1000000, "writes that the L2 takes from all SMs")

#define TILESIM_SPEC_DRAM(FIELD) \
  FIELD(capacity_bytes, Int, "B", 1024, 1099511627776000, "memory size") \
  FIELD(peak_bytes_per_second, Real, "B/s", 1, 1e18, "datasheet bandwidth") \
  FIELD(read_bytes_per_second, Real, "B/s", 1, 1e18, "measured streaming-read bandwidth") \
  FIELD(write_bytes_per_second, Real, "B/s", 1, 1e18, "measured streaming-write bandwidth") \
  FIELD(latency_ns, Real, "ns", 1, 100000, "load latency of a DRAM access, mean, unloaded, whole path") \
  FIELD(latency_spread_ns, Real, "ns", 0, 100000, "half the distance between the fast and the slow latency group") \
  FIELD(access_bytes, Int, "B", 16, 4096, "bytes fetched into the L2 per miss")

#define TILESIM_SPEC_BARRIER(FIELD) \
  FIELD(base_cycles, Int, "cycles", 0, 1000, "BAR.SYNC round: constant part") \
  FIELD(cycles_per_warp, Int, "cycles", 0, 1000, "BAR.SYNC round: part per arriving warp") \
  FIELD(register_cycles, Int, "cycles", 0, 1000, "BAR: more if its operands come from registers") \
  FIELD(release_cycles, Int, "cycles", 0, 1000, "BAR: of the unit per release, beside cycles_per_warp per arrival") \
  FIELD(release_skew_warps, Int, "warps", 1, 64, "warps released together") \
  FIELD(release_skew_cycles, Int, "cycles", 0, 64, "cycles between released groups")

#define TILESIM_SPEC_CTA(FIELD) \
  FIELD(launch_cycles, Int, "cycles", 0, 100000, "start of an SM's activity to the first instruction of its first CTA") \
  FIELD(second_cta_cycles, Int, "cycles", 0, 100000, "delay of an SM's next CTA of the same placement pass") \
  FIELD(turnaround_cycles, Int, "cycles", 0, 100000, "exit of a CTA to first instruction of its successor on the SM") \
  FIELD(start_interval_ns, Real, "ns", 0, 1000, "interval between CTA starts over the chip")

#define TILESIM_SPEC_ICACHE(FIELD) \
  FIELD(line_bytes, Int, "B", 16, 4096, "instruction line") \
  FIELD(l0_bytes, Int, "B", 128, 1048576, "L0 instruction cache of a sub-partition") \
  FIELD(l1_bytes, Int, "B", 128, 16777216, "L1 instruction cache of the SM") \
  FIELD(l15_bytes, Int, "B", 128, 16777216, "next level, shared by SMs") \
  FIELD(l0_miss_branch_cycles, Int, "cycles", 0, 10000, "taken branch to a line that is in L1 but not in L0") \
  FIELD(l1_miss_cycles_per_instruction, Real, "cycles", 0, 1000, "straight-line issue interval when fed by the next level") \
  FIELD(l15_miss_cycles_per_instruction, Real, "cycles", 0, 1000, "straight-line issue interval when fed by the L2") \
  FIELD(cold_cycles_per_instruction, Real, "cycles", 0, 1000, "straight-line issue interval of the first run of fresh code") \
  FIELD(cold_latency, Int, "cycles", 0, 100000, "jump to a line that no level of the SM holds")

#define TILESIM_SPEC_SECTIONS(SECTION) \
  SECTION(device, TILESIM_SPEC_DEVICE) \
  SECTION(peak, TILESIM_SPEC_PEAK) \
  SECTION(issue, TILESIM_SPEC_ISSUE) \
  SECTION(pipe, TILESIM_SPEC_PIPE) \
  SECTION(mio, TILESIM_SPEC_MIO) \
  SECTION(lsu, TILESIM_SPEC_LSU) \
  SECTION(l1, TILESIM_SPEC_L1) \
  SECTION(l2, TILESIM_SPEC_L2) \
  SECTION(dram, TILESIM_SPEC_DRAM) \
  SECTION(barrier, TILESIM_SPEC_BARRIER) \
  SECTION(cta, TILESIM_SPEC_CTA) \
  SECTION(icache, TILESIM_SPEC_ICACHE)
// clang-format on
