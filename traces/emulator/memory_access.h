// Addresses of memory instructions: computing them for a warp, and checking them against the launch's memory.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/isa/program.h"
#include "traces/emulator/launch.h"
#include "traces/emulator/warp_registers.h"

namespace tilesim::traces {

using LaneAddresses = std::array<std::uint64_t, isa::kWarpSize>;

/// A shared address of an instruction: 32 bits, row + uniform register + offset.
struct SharedAddress {
  std::uint16_t row = kNoDestination;
  unsigned shift = 0;        ///< of the row
  std::uint32_t offset = 0;  ///< uniform register included
  unsigned bytes = 4;        ///< per lane
};
[[nodiscard]] SharedAddress shared_address(const MemoryOperation& operation, const WarpRegisters& registers);
/// The shared destination of an LDGSTS.
[[nodiscard]] SharedAddress copy_destination(const MemoryOperation& operation);

/// A CTA's shared memory in the shared window.
struct SharedWindow {
  std::uint32_t base = 0;
  std::uint64_t bytes = 0;
};

/// Computes the addresses of all lanes; true if the accesses of `mask`'s lanes are aligned and lie in the CTA's shared
/// memory.
[[nodiscard]] bool shared_addresses(const SharedAddress& address, const WarpRegisters& registers, std::uint32_t mask,
                                    const SharedWindow& window, LaneAddresses& out);
/// Global addresses (64 bits) of all lanes.
void global_addresses(const MemoryOperation& operation, const WarpRegisters& registers, LaneAddresses& out);

/// True if every access of `bytes` bytes at the addresses of `mask`'s lanes is aligned to its size and lies in
/// [first, first + size).
[[nodiscard]] bool all_inside(const LaneAddresses& addresses, std::uint32_t mask, unsigned bytes, std::uint64_t first,
                              std::uint64_t size);

/// Why an access is refused, for the first lane of `mask` that is: "lane 3 reads 16 bytes at 0x..., ...". Empty if none
/// is.
[[nodiscard]] std::string explain_shared(const LaneAddresses& addresses, std::uint32_t mask, unsigned bytes,
                                         const SharedWindow& window);
[[nodiscard]] std::string explain_global(const LaneAddresses& addresses, std::uint32_t mask, unsigned bytes,
                                         const KernelArguments& arguments);

}  // namespace tilesim::traces
