// Which 128-byte lines and 32-byte sectors one global-memory instruction of a warp touches.
//
// Rule (all sm_70 and later parts; Nsight Compute's "sectors per request"): equal sectors of a warp instruction are
// fetched once; each distinct line is one tag look-up. Example: 32 lanes reading consecutive floats touch 1 line and 4
// sectors; at a stride of 128 B they touch 32 lines and 32 sectors.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tilesim::model {

inline constexpr int kLineBytes = 128;
inline constexpr int kSectorBytes = 32;

/// One line of a warp instruction: `line` = byte address / 128, bit s of `sector_mask` = 32-byte sector s of the line.
struct LineAccess {
  std::uint64_t line;
  std::uint32_t sector_mask;
};

/// All lines of a warp instruction, in order of first touch by lane. 64 lines is the most: 32 lanes, each across a line
/// boundary. Entries from `line_count` on are stale.
struct GlobalFootprint {
  std::array<LineAccess, 64> lines;
  int line_count = 0;
  int sector_count = 0;
};

/// Computes the footprint of one instruction: `addresses` one byte address per lane, `access_bytes` (1 to 16) bytes per
/// active lane. Unaligned accesses (illegal on hardware) count in every line they reach.
void global_footprint(std::span<const std::uint64_t, 32> addresses, std::uint32_t active_mask, int access_bytes,
                      GlobalFootprint& out);

/// What LDGSTS.BYPASS asks the L2 for: `global` and `shared` one address per lane, 16 bytes each. What a request brings
/// is written into one 128-byte row of shared memory, each sector into one sector of it. So lanes share a request if
/// line and row agree, unless a sector's halves go to different sectors: then it comes twice. A line is in `out` once
/// for each of its requests. A copy of 512 bytes of which every other row lies 16 bytes off in shared memory (rows
/// padded by 16 bytes) therefore takes 24 sectors instead of 16.
/// Source: Nsight Compute on an H200 (l1tex__m_xbar2l1tex_read_sectors, lts__t_requests_srcunit_tex_op_read): 24
/// sectors for 8 rows of 64 bytes at a pitch of 80 and for 4 of 128 at 144, with 10.3 of 10.5 requests for the latter;
/// 16 without padding, swizzled or not.
void bypass_requests(std::span<const std::uint64_t, 32> global, std::span<const std::uint32_t, 32> shared,
                     std::uint32_t active_mask, GlobalFootprint& out);

}  // namespace tilesim::model
