// What the accesses of a tile configuration cost by the rules of shared_memory_rules.h and global_access_rules.h: every
// warp instruction of a K-step is laid out lane by lane and counted. Layouts are those of the project's own kernels:
//   - copy: thread t moves elements (t + i*threads)*vec ... of the tile in the order of global memory;
//   - SIMT: both tiles lie K-major; thread t owns rows (t / (BN/TN))*TM... and columns (t % (BN/TN))*TN..., or what
//     warp tiles give it; an operand that global memory holds the other way round is transposed by storing its elements
//     one by one;
//   - direct: no shared memory; every thread loads what it multiplies, element by element;
//   - mma: tiles lie as in global memory and are read with LDSM (16 rows x 32 bytes per x4), TF32 tiles that would need
//     a transposing LDSM with LDS.32.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/tile_config.h"

namespace tilesim::model {

/// One shared access of a kernel, summed over the warps of a CTA and one K-step.
struct SharedAccessCost {
  std::string name;         ///< "store A", "store B", "load A", "load B"
  std::string instruction;  ///< "STS.32", "LDS.128", "LDSM.x4", "LDGSTS.128"
  std::int64_t instructions = 0;
  std::int64_t wavefronts = 0;
  std::int64_t ideal = 0;  ///< wavefronts without conflicts
  /// False for LDGSTS: the store rule is only the documented one. On an H200 16-byte copies of 64-byte rows into rows
  /// 80 bytes apart count 15 wavefronts each, where the rule says 8, and no conflicts.
  bool confirmed = true;
  [[nodiscard]] constexpr std::int64_t conflicts() const { return wavefronts - ideal; }
  /// Mean number of passes per phase: 1 = no conflict, 2 = "2-way".
  [[nodiscard]] constexpr double ways() const {
    return ideal > 0 ? static_cast<double>(wavefronts) / static_cast<double>(ideal) : 0.0;
  }
};
/// Store A, store B, load A, load B; none without shared memory. The configuration must be legal.
[[nodiscard]] std::vector<SharedAccessCost> shared_access_costs(const TileConfig& config);

/// The same kernel with another padding or swizzle.
struct LayoutAlternative {
  std::int64_t pad_a = 0;
  std::int64_t pad_b = 0;
  std::int64_t swizzle = 0;
  std::int64_t conflicts = 0;     ///< of the four accesses, per CTA and K-step
  std::int64_t wavefronts = 0;    ///< the same
  std::int64_t shared_bytes = 0;  ///< of all buffers
};
/// As configured, without either, with 4 and 8 elements (mma: 16 and 32 bytes) of padding, and with swizzles of 1 to 3
/// bits, as far as the layout allows them. None without shared memory.
[[nodiscard]] std::vector<LayoutAlternative> layout_alternatives(const TileConfig& config);

/// Loads of one operand from global memory, summed over the warps of a CTA and one K-step, tile in the interior.
/// LDGSTS: the footprint of the global side. Nsight Compute counts more sectors (20 instead of 16 per request in the
/// layout above), since the hardware splits a copy by the banks of its destination.
struct GlobalAccessCost {
  std::string name;         ///< "load A", "load B"
  std::string instruction;  ///< "LDG.128", "LDGSTS.128"
  std::int64_t requests = 0;
  std::int64_t sectors = 0;  ///< 32 bytes
  std::int64_t lines = 0;    ///< 128 bytes, one tag look-up each
  std::int64_t useful_bytes = 0;
  std::int64_t row_alignment_bytes = 0;  ///< that every row of the matrix keeps
  [[nodiscard]] constexpr double sectors_per_request() const { return ratio(sectors, requests); }
  [[nodiscard]] constexpr double lines_per_request() const { return ratio(lines, requests); }
  /// Useful bytes of those in the touched sectors.
  [[nodiscard]] constexpr double efficiency() const { return ratio(useful_bytes, 32 * sectors); }

 private:
  [[nodiscard]] static constexpr double ratio(std::int64_t a, std::int64_t b) {
    return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : 0.0;
  }
};
/// Load A, load B. The configuration must be legal for the problem.
[[nodiscard]] std::array<GlobalAccessCost, 2> global_load_costs(const TileConfig& config, const Problem& problem);

/// Store instructions a thread needs for its part of C with `store_bytes` per store.
[[nodiscard]] constexpr std::int64_t epilogue_stores(std::int64_t accumulators, std::int64_t c_bytes,
                                                     std::int64_t store_bytes) {
  return store_bytes > 0 ? ceil_div(accumulators * c_bytes, store_bytes) : 0;
}

}  // namespace tilesim::model
