#include "traces/emulator/functional_memory.h"

#include <fmt/format.h>

#include <algorithm>
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
  for (unsigned done = 0; done < operation.bytes; done += kWordBytes) {
    const std::uint16_t row = operation.words[done / kWordBytes];
    if (row == kNoDestination) {
      continue;
    }
    std::uint32_t value = 0;
    std::memcpy(&value, from + done, std::min<unsigned>(operation.bytes, kWordBytes));
    rows[row].lane[lane] = operation.bytes < kWordBytes ? widen(value, operation.bytes, operation.sign) : value;
  }
}

void store(const MemoryOperation& operation, std::byte* to, std::size_t lane, const LaneRow* rows) {
  for (unsigned done = 0; done < operation.bytes; done += kWordBytes) {
    const std::uint16_t row = operation.words[done / kWordBytes];
    const std::uint32_t value = row == kNoDestination ? 0 : rows[row].lane[lane];
    std::memcpy(to + done, &value, std::min<unsigned>(operation.bytes, kWordBytes));
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

void FunctionalMemory::load_matrices(const MemoryOperation& operation, const LaneAddresses& addresses, LaneRow* rows) {
  constexpr std::size_t kMatrixRows = 8;
  constexpr std::size_t kElementBytes = 2;
  const auto element = [&](std::size_t matrix, std::size_t row, std::size_t column) {
    std::uint16_t value = 0;
    const std::byte* from = shared_.data() + (addresses[matrix * kMatrixRows + row] - kSharedBase);
    std::memcpy(&value, from + column * kElementBytes, kElementBytes);
    return std::uint32_t{value};
  };
  for (std::size_t matrix = 0; matrix < operation.matrices; ++matrix) {
    if (operation.words[matrix] == kNoDestination) {
      continue;
    }
    for (std::size_t lane = 0; lane < isa::kWarpSize; ++lane) {
      const std::size_t outer = lane / 4;
      const std::size_t inner = lane % 4 * 2;
      const std::uint32_t low = operation.transposed ? element(matrix, inner, outer) : element(matrix, outer, inner);
      const std::uint32_t high =
          operation.transposed ? element(matrix, inner + 1, outer) : element(matrix, outer, inner + 1);
      rows[operation.words[matrix]].lane[lane] = high << 16 | low;
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
