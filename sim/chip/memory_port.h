// What crosses between an SM and the rest of the chip. SMs run ahead of the chip inside a window that is shorter than
// the shortest round trip, so requests and responses can be exchanged in bulk.
#pragma once

#include <cstdint>

#include "sim/engine/cycle.h"

namespace tilesim::sim {

/// The data are for whoever waits for the line.
inline constexpr std::uint32_t kAnyWaiter = ~std::uint32_t{0};

/// Sectors of one 128-byte line, leaving an SM.
struct MemoryRequest {
  Cycle time = 0;             ///< leaves the L1
  std::uint64_t line = 0;     ///< byte address / line size
  std::uint32_t sectors = 0;  ///< bit s = sector s
  std::uint32_t sm = 0;
  std::uint32_t sequence = 0;  ///< order among requests of one SM
  bool write = false;
  bool wants_response = true;         ///< false for SMs that are present as request generators
  std::uint32_t waiter = kAnyWaiter;  ///< whom the SM gives the data to; comes back with the response
};

/// The sectors of a read, arriving at the SM's L1; or the L2's word that it has taken those of a write.
struct MemoryResponse {
  Cycle time = 0;
  std::uint64_t line = 0;
  std::uint32_t sectors = 0;
  std::uint32_t sm = 0;
  bool write = false;
  std::uint32_t waiter = kAnyWaiter;
};

/// One warp-level access to global memory by a simulated SM: what request generators repeat for their own CTAs.
struct GlobalAccessMark {
  Cycle time = 0;
  std::uint32_t cta_ordinal = 0;  ///< how many CTAs the SM had started before this access's
  std::uint32_t warp = 0;         ///< in its CTA
  std::uint32_t site = 0;         ///< instruction index
  bool write = false;
  std::uint32_t first_line = 0;  ///< what of it went out to the chip, in the list of the window
  std::uint32_t line_count = 0;  ///< 0: the L1 had it all, or had asked for it
};

}  // namespace tilesim::sim
