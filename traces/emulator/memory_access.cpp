#include "traces/emulator/memory_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "model/vector_clones.h"

namespace tilesim::traces {
namespace {

constexpr std::uint32_t kAllLanes = ~std::uint32_t{0};

bool inside(std::uint64_t address, unsigned bytes, std::uint64_t first, std::uint64_t size) {
  return address >= first && size >= bytes && address - first <= size - bytes;
}

std::string misaligned(int lane, unsigned bytes, std::uint64_t address) {
  return fmt::format("lane {} accesses {} bytes at 0x{:x}, which is not a multiple of {}", lane, bytes, address, bytes);
}

// The allocation that ends or starts nearest to the address; null if there is none.
const Allocation* nearest(const KernelArguments& arguments, std::uint64_t address) {
  const Allocation* best = nullptr;
  std::uint64_t best_distance = 0;
  for (const Allocation& allocation : arguments.allocations) {
    const std::uint64_t end = allocation.address + allocation.bytes;
    const std::uint64_t distance = address < allocation.address ? allocation.address - address
                                   : address >= end             ? address - end
                                                                : 0;
    if (best == nullptr || distance < best_distance) {
      best = &allocation;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace

SharedAddress shared_address(const MemoryOperation& operation, const WarpRegisters& registers) {
  const std::uint32_t uniform = operation.uniform == kUniformUrz ? 0 : registers.uniform[operation.uniform];
  return {operation.low, operation.shift, uniform + static_cast<std::uint32_t>(operation.offset), operation.bytes};
}

SharedAddress copy_destination(const MemoryOperation& operation) {
  return {operation.shared_low, 0, static_cast<std::uint32_t>(operation.shared_offset), operation.bytes};
}

TILESIM_VECTOR_CLONES
bool shared_addresses(const SharedAddress& address, const WarpRegisters& registers, std::uint32_t mask,
                      const SharedWindow& window, LaneAddresses& out) {
  if (address.row == kNoDestination) {
    out.fill(address.offset);
    return all_inside(out, mask, address.bytes, window.base, window.bytes);
  }
  const auto& base = registers.rows[address.row].lane;
  // As all_inside(), in 32 bits: shared memory is far smaller than 2 GiB.
  const std::uint32_t last = static_cast<std::uint32_t>(window.bytes) - address.bytes;
  std::uint32_t odd = 0;
  std::uint32_t outside = 0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const std::uint32_t place = (base[i] << address.shift) + address.offset;
    const std::uint32_t relative = place - window.base;
    odd |= place;
    outside |= relative | (last - relative);
    out[i] = place;
  }
  if (mask == kAllLanes) {
    return (odd & (address.bytes - 1)) == 0 && outside >> 31 == 0;
  }
  return all_inside(out, mask, address.bytes, window.base, window.bytes);
}

TILESIM_VECTOR_CLONES
void global_addresses(const MemoryOperation& operation, const WarpRegisters& registers, LaneAddresses& out) {
  const auto offset = static_cast<std::uint64_t>(std::int64_t{operation.offset});
  if (operation.low == kNoDestination || operation.high == kNoDestination) {
    out.fill(offset);
    return;
  }
  const auto& low = registers.rows[operation.low].lane;
  const auto& high = registers.rows[operation.high].lane;
  for (std::size_t i = 0; i < low.size(); ++i) {
    out[i] = (std::uint64_t{high[i]} << 32 | low[i]) + offset;
  }
}

TILESIM_VECTOR_CLONES
bool all_inside(const LaneAddresses& addresses, std::uint32_t mask, unsigned bytes, std::uint64_t first,
                std::uint64_t size) {
  if (size < bytes) {
    return mask == 0;
  }
  // A difference beyond the last start has its sign bit in (last - difference); both stay far below 2^63 otherwise.
  const std::uint64_t last = size - bytes;
  std::uint64_t odd = 0;
  std::uint64_t outside = 0;
  if (mask == kAllLanes) {
    for (const std::uint64_t address : addresses) {
      odd |= address;
      outside |= (address - first) | (last - (address - first));
    }
  } else {
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const std::uint64_t address = addresses[static_cast<std::size_t>(std::countr_zero(left))];
      odd |= address;
      outside |= (address - first) | (last - (address - first));
    }
  }
  return (odd & (bytes - 1)) == 0 && outside >> 63 == 0;
}

std::string explain_shared(const LaneAddresses& addresses, std::uint32_t mask, unsigned bytes,
                           const SharedWindow& window) {
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    const std::uint64_t address = addresses[static_cast<std::size_t>(lane)];
    if ((mask >> lane & 1) == 0) {
      continue;
    }
    if (!inside(address, bytes, window.base, window.bytes)) {
      const auto offset = static_cast<std::int64_t>(address) - std::int64_t{window.base};
      return fmt::format("lane {} accesses {} bytes at byte {} of the CTA's shared memory, which has {}", lane, bytes,
                         offset, window.bytes);
    }
    if (address % bytes != 0) {
      return misaligned(lane, bytes, address);
    }
  }
  return {};
}

std::string explain_global(const LaneAddresses& addresses, std::uint32_t mask, unsigned bytes,
                           const KernelArguments& arguments) {
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    const std::uint64_t address = addresses[static_cast<std::size_t>(lane)];
    if ((mask >> lane & 1) == 0) {
      continue;
    }
    const bool found = std::any_of(
        arguments.allocations.begin(), arguments.allocations.end(),
        [&](const Allocation& allocation) { return inside(address, bytes, allocation.address, allocation.bytes); });
    if (!found) {
      std::string text =
          fmt::format("lane {} accesses {} bytes at 0x{:x}, outside every allocation", lane, bytes, address);
      if (const Allocation* allocation = nearest(arguments, address); allocation != nullptr) {
        text += fmt::format(" (byte {} of argument {}, which has {})",
                            static_cast<std::int64_t>(address - allocation->address), allocation->argument + 1,
                            allocation->bytes);
      }
      return text;
    }
    if (address % bytes != 0) {
      return misaligned(lane, bytes, address);
    }
  }
  return {};
}

}  // namespace tilesim::traces
