// How many passes ("wavefronts") one warp instruction needs in the 32 banks of 4 bytes of shared memory.
//
// Rules, exact on all patterns measured on the H200 (780 by cycles, 72 with masks by cycles and by Nsight Compute's
// l1tex__data_pipe_lsu_wavefronts_mem_shared and l1tex__data_bank_conflicts_pipe_lsu_mem_shared):
//   - A wavefront serves each bank once; equal words are served together. A phase (a group of lanes) therefore needs
//     as many wavefronts as the bank with the most distinct words.
//   - 32-bit accesses (8 and 16 bits count as 32) form one phase of 32 lanes, 64-bit ones two phases of 16 lanes,
//     128-bit ones four phases of 8 lanes.
//   - Loads only: if every lane of the warp has the address of lane^1, or every lane that of lane^2, two neighbouring
//     phases merge (64 bit: the whole warp is one phase; 128 bit: two phases of 16 lanes). One half of the warp alone,
//     or lane^1 in one half and lane^2 in the other, does not merge. Stores never merge.
//   - LDSM and STSM xN: one phase per 8x8 matrix, that is per 8 rows of 16 bytes.
//   - Lanes that are predicated off take no part: they touch no bank and break no pair, and a phase without an active
//     lane counts no wavefront. The data pipe stays busy for one cycle per phase all the same, as long as the phases
//     that have lanes do not need more in sum: LDS.128 with 8 active lanes is 1 wavefront and 4 cycles.
//
// Example: LDS.128, lane i reads 16 B at 16*i: 4 phases, 4 wavefronts, no conflict. At 32*i: 8 wavefronts, 4 conflicts.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tilesim::model {

/// Passes of one instruction. `phases` is what the access needs at best, so bank conflicts = wavefronts - phases.
/// A phase without an active lane counts in neither; `all_phases` counts it too (0 if no lane is active at all).
struct Wavefronts {
  int wavefronts = 0;
  int phases = 0;
  int all_phases = 0;
  [[nodiscard]] constexpr int conflicts() const { return wavefronts - phases; }
  /// Cycles that the SM's data pipe is busy, at one wavefront per cycle.
  [[nodiscard]] constexpr int pipe_cycles() const { return wavefronts > all_phases ? wavefronts : all_phases; }
  friend constexpr bool operator==(const Wavefronts&, const Wavefronts&) = default;
};

/// LDS. `byte_addresses` holds one shared-memory byte address per lane (those of inactive lanes are ignored), aligned
/// to the access: hardware traps on others, here the low bits are dropped. `access_bytes` is 1, 2, 4, 8 or 16.
[[nodiscard]] Wavefronts shared_load_wavefronts(std::span<const std::uint32_t, 32> byte_addresses,
                                                std::uint32_t active_mask, int access_bytes);

/// STS. Lanes that write the same word count once.
[[nodiscard]] Wavefronts shared_store_wavefronts(std::span<const std::uint32_t, 32> byte_addresses,
                                                 std::uint32_t active_mask, int access_bytes);

/// The shared side of LDGSTS: which lanes each wavefront writes.
struct CopyWavefronts {
  std::array<std::uint32_t, 32> lanes;  ///< valid up to `count`
  int count = 0;
  int phases = 0;  ///< as in Wavefronts
  [[nodiscard]] constexpr Wavefronts total() const { return {count, phases, phases}; }
};

/// LDGSTS of 16 bytes a lane. The lanes of a phase that find their banks free, in order of the lanes, make one
/// wavefront; those left over from all phases are packed first fit, whatever phase they are of. Source: Nsight
/// Compute's counters of the calibration kernels: 8 rows of 64 bytes, rows 80 bytes apart in shared memory, take 5
/// wavefronts in the tag stage (8 by the rule of stores) and 20 sectors; H200 microbenchmarks: as stores where nothing
/// or all is in conflict.
[[nodiscard]] CopyWavefronts copy_wavefronts(std::span<const std::uint32_t, 32> byte_addresses,
                                             std::uint32_t active_mask, int access_bytes);

/// Wavefronts that LDGSTS of 4 or 8 bytes a lane takes to write to shared memory.
struct WordCopyWavefronts {
  Wavefronts together;  ///< all lines are in the L1
  /// They are waited for: each four lines are written on their own, and `phases` counts these groups where there are
  /// more of them (so do bank conflicts in Nsight Compute).
  Wavefronts by_fours;
};

/// LDGSTS of 4 or 8 bytes a lane. `lines`: what tells the lines of the lanes' data apart. In the order of the lines'
/// first lanes, one line begins per wavefront, as soon as the banks that it writes are free; its lanes follow each
/// other in their banks, beside those of other lines. Halves of 8-byte copies follow each other. Source: H200
/// microbenchmarks, traces/calibration/h200/copy_words.csv (l1tex__data_pipe_lsu_wavefronts_mem_shared).
[[nodiscard]] WordCopyWavefronts word_copy_wavefronts(std::span<const std::uint32_t, 32> byte_addresses,
                                                      std::span<const std::uint64_t, 32> lines,
                                                      std::uint32_t active_mask, int access_bytes);

/// LDSM or STSM of `matrices` (1, 2 or 4) 8x8 matrices of 16-bit elements: `row_addresses` holds 8 byte addresses of
/// 16-byte rows per matrix, matrix by matrix (lane 8*m+r gives row r of matrix m).
[[nodiscard]] Wavefronts matrix_load_wavefronts(std::span<const std::uint32_t> row_addresses, int matrices);

}  // namespace tilesim::model
