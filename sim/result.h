// What a simulation counted. Sums are over the SMs that were simulated; scaling them to the chip or to the full loop
// length is the caller's business (tools/lib/).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/isa/program.h"
#include "sim/warp_state.h"

namespace tilesim::sim {

/// Counters of one static memory instruction (access site).
struct AccessSite {
  std::uint64_t requests = 0;          ///< warp instructions with at least one active lane
  std::uint64_t wavefronts = 0;        ///< shared memory: data-pipe passes by the bank rules
  std::uint64_t ideal_wavefronts = 0;  ///< shared memory: passes without any bank conflict
  std::uint64_t sectors = 0;           ///< global memory: distinct 32-byte sectors
  std::uint64_t lines = 0;             ///< global memory: distinct 128-byte lines
  friend bool operator==(const AccessSite&, const AccessSite&) = default;
};

/// Counters of one SM.
struct SmCounters {
  std::uint64_t active_cycles = 0;  ///< from the start of its first CTA to the end of its last
  std::uint64_t ctas = 0;
  std::uint64_t warp_cycles = 0;  ///< resident warps summed over cycles; equals the sum of state_cycles
  WarpStateCycles state_cycles{};
  std::uint64_t instructions = 0;  ///< warp instructions issued
  std::array<std::uint64_t, isa::kPipeCount> pipe_instructions{};
  std::uint64_t flops = 0;             ///< of active lanes
  std::uint64_t data_pipe_cycles = 0;  ///< cycles the LSU data pipe was taken
  std::uint64_t l1_load_sectors = 0;
  std::uint64_t l1_load_sector_hits = 0;
  std::uint64_t l1_store_sectors = 0;
  std::vector<AccessSite> sites;  ///< by instruction index
  friend bool operator==(const SmCounters&, const SmCounters&) = default;
};

/// Counters of the memory system behind the SMs.
struct ChipCounters {
  std::uint64_t l2_read_sectors = 0;
  std::uint64_t l2_read_sector_hits = 0;
  std::uint64_t l2_write_sectors = 0;
  std::uint64_t dram_read_bytes = 0;
  std::uint64_t dram_write_bytes = 0;
  friend bool operator==(const ChipCounters&, const ChipCounters&) = default;
};

struct SimulationResult {
  std::vector<SmCounters> sms;  ///< by SM number; SMs without work have zero counters
  ChipCounters chip;
  /// Warp instructions of the whole launch: of the SMs that only send requests too, and, where some do, of loop trips
  /// that streams pass over. Counted on the warps' streams, so exact where CTAs of a ragged grid execute more or fewer
  /// than others; CTAs whose accesses are those of another one moved are taken to execute as many.
  std::uint64_t instructions = 0;
  std::uint64_t elapsed_cycles = 0;  ///< first CTA start to last CTA end over the chip
  friend bool operator==(const SimulationResult&, const SimulationResult&) = default;
};

}  // namespace tilesim::sim
