// What crosses between an SM and the rest of the chip. SMs run ahead of the chip inside a window that is shorter than
// the shortest round trip, so requests and responses can be exchanged in bulk.
#pragma once

#include <cstdint>

#include "sim/engine/cycle.h"

namespace tilesim::sim {

/// Sectors of one 128-byte line, leaving an SM.
struct MemoryRequest {
  Cycle time = 0;             ///< leaves the L1
  std::uint64_t line = 0;     ///< byte address / line size
  std::uint32_t sectors = 0;  ///< bit s = sector s
  std::uint32_t sm = 0;
  std::uint32_t sequence = 0;  ///< order among requests of one SM
  bool write = false;
  bool wants_response = true;  ///< false for stores and for SMs that are present as request generators
};

/// The sectors of a read, arriving at the SM's L1.
struct MemoryResponse {
  Cycle time = 0;
  std::uint64_t line = 0;
  std::uint32_t sectors = 0;
  std::uint32_t sm = 0;
};

/// One warp-level access to global memory by a simulated SM, in the order of the warp: what request generators mirror.
struct GlobalAccessMark {
  Cycle time = 0;
  std::uint32_t mark = 0;  ///< ordinal of the CTA on its SM * kMarksPerCta + warp of the CTA
};
inline constexpr std::uint32_t kMarksPerCta = 32;

}  // namespace tilesim::sim
