#include "traces/emulator/functional_memory.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace tilesim::traces {
namespace {

constexpr unsigned kWordBytes = 4;

std::uint32_t widen(std::uint32_t value, unsigned bytes, bool sign) {
  const unsigned unused = 32 - 8 * bytes;
  return sign ? static_cast<std::uint32_t>(static_cast<std::int32_t>(value << unused) >> unused) : value;
}

void load(const MemoryOperation& operation, const std::byte* from, std::size_t lane, LaneRow* rows) {
  if (operation.data == kNoDestination) {
    return;
  }
  if (operation.bytes < kWordBytes) {
    std::uint32_t value = 0;
    std::memcpy(&value, from, operation.bytes);
    rows[operation.data].lane[lane] = widen(value, operation.bytes, operation.sign);
    return;
  }
  for (unsigned word = 0; word < operation.bytes / kWordBytes; ++word) {
    std::memcpy(&rows[operation.data + word].lane[lane], from + word * kWordBytes, kWordBytes);
  }
}

void store(const MemoryOperation& operation, std::byte* to, std::size_t lane, const LaneRow* rows) {
  if (operation.data == kNoDestination) {
    std::memset(to, 0, operation.bytes);
    return;
  }
  for (unsigned done = 0; done < operation.bytes; done += kWordBytes) {
    const unsigned count = operation.bytes < kWordBytes ? operation.bytes : kWordBytes;
    std::memcpy(to + done, &rows[operation.data + done / kWordBytes].lane[lane], count);
  }
}

}  // namespace

Result<DeviceMemory> DeviceMemory::allocate(const KernelArguments& arguments) {
  std::uint64_t total = 0;
  for (const Allocation& allocation : arguments.allocations) {
    total += allocation.bytes;
    if (total > kMaximumBytes) {
      return fail(ErrorKind::kUsage,
                  fmt::format("The pointers' allocations exceed the {} GiB of functional mode.", kMaximumBytes >> 30),
                  "Use a smaller problem.");
    }
  }
  DeviceMemory memory;
  memory.allocations_ = arguments.allocations;
  for (const Allocation& allocation : arguments.allocations) {
    memory.contents_.emplace_back(static_cast<std::size_t>(allocation.bytes));
  }
  return memory;
}

std::span<std::byte> DeviceMemory::bytes(std::size_t argument) {
  for (std::size_t i = 0; i < allocations_.size(); ++i) {
    if (allocations_[i].argument == argument) {
      return contents_[i];
    }
  }
  return {};
}

std::byte* DeviceMemory::at(std::uint64_t address, std::size_t count) {
  for (std::size_t i = 0; i < allocations_.size(); ++i) {
    const std::uint64_t offset = address - allocations_[i].address;
    if (address >= allocations_[i].address && count <= contents_[i].size() && offset <= contents_[i].size() - count) {
      return contents_[i].data() + offset;
    }
  }
  return nullptr;
}

void FunctionalMemory::access(bool shared, const MemoryOperation& operation, const LaneAddresses& addresses,
                              std::uint32_t mask, LaneRow* rows) {
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    std::byte* place =
        shared ? shared_.data() + (addresses[lane] - kSharedBase) : device_.at(addresses[lane], operation.bytes);
    if (operation.store) {
      store(operation, place, lane, rows);
    } else {
      load(operation, place, lane, rows);
    }
  }
}

void FunctionalMemory::copy(unsigned bytes, const LaneAddresses& global, const LaneAddresses& shared,
                            std::uint32_t reading, std::uint32_t mask) {
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    std::byte* to = shared_.data() + (shared[lane] - kSharedBase);
    if ((reading >> lane & 1) != 0) {
      std::memcpy(to, device_.at(global[lane], bytes), bytes);
    } else {
      std::memset(to, 0, bytes);
    }
  }
}

}  // namespace tilesim::traces
