#include "traces/emulator/memory_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "traces/emulator/float_functions.h"

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

std::uint64_t wide_value(const LaneRow* rows, std::uint16_t low, std::uint16_t high, std::size_t lane) {
  const std::uint64_t upper = high == kNoDestination ? 0 : rows[high].lane[lane];
  return upper << 32 | (low == kNoDestination ? 0 : rows[low].lane[lane]);
}

// Sum of 32-bit operands of floating-point type; subnormal FP32 numbers are flushed (F32.FTZ).
std::uint32_t floating_sum(AtomicOperation::Type type, std::uint32_t a, std::uint32_t b) {
  if (type == AtomicOperation::Type::kFloat) {
    return lanes::as_word(lanes::flushed(lanes::flushed(lanes::as_float(a)) + lanes::flushed(lanes::as_float(b))));
  }
  const HalfType half = type == AtomicOperation::Type::kBfloats ? HalfType::kBfloat16 : HalfType::kFloat16;
  std::uint32_t result = 0;
  for (unsigned shift = 0; shift < 32; shift += 16) {
    const auto part = [&](std::uint32_t pair) {
      return double{half_to_float(static_cast<std::uint16_t>(pair >> shift), half)};
    };
    result |= std::uint32_t{to_half(part(a) + part(b), half)} << shift;
  }
  return result;
}

// What memory holds after an atomic.
std::uint64_t updated(const MemoryOperation& operation, std::uint64_t old, std::uint64_t operand,
                      std::uint64_t comparand) {
  using Kind = AtomicOperation::Kind;
  const AtomicOperation& atomic = operation.atomic;
  const unsigned unused = 64 - 8U * operation.bytes;
  const auto as_signed = [unused](std::uint64_t value) { return static_cast<std::int64_t>(value << unused); };
  const bool less = atomic.type == AtomicOperation::Type::kSigned ? as_signed(operand) < as_signed(old) : operand < old;
  switch (atomic.kind) {
    case Kind::kAdd:
      return atomic.type <= AtomicOperation::Type::kSigned
                 ? old + operand
                 : floating_sum(atomic.type, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(operand));
    case Kind::kMinimum:
      return less ? operand : old;
    case Kind::kMaximum:
      return less ? old : operand;
    case Kind::kIncrement:
      return old >= operand ? 0 : old + 1;
    case Kind::kDecrement:
      return old == 0 || old > operand ? operand : old - 1;
    case Kind::kAnd:
      return old & operand;
    case Kind::kOr:
      return old | operand;
    case Kind::kExclusiveOr:
      return old ^ operand;
    case Kind::kExchange:
      return operand;
    case Kind::kCompareSwap:
    case Kind::kTrySwap:
      return old == comparand ? operand : old;
  }
  return old;
}

}  // namespace

Result<DeviceMemory> DeviceMemory::allocate(const KernelArguments& arguments, Allocations which) {
  DeviceMemory memory;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < arguments.allocations.size(); ++i) {
    const Allocation& allocation = arguments.allocations[i];
    if ((which & (allocation_bit(i) | kOtherAllocations)) == 0) {
      continue;
    }
    total += allocation.bytes;
    std::byte* contents = total > kMaximumBytes ? nullptr : static_cast<std::byte*>(std::calloc(1, allocation.bytes));
    if (contents == nullptr) {
      return fail(ErrorKind::kUsage,
                  fmt::format("The contents of the pointers' allocations matter, and take more than {} GiB.",
                              kMaximumBytes >> 30),
                  "Use a smaller problem.");
    }
    std::copy(allocation.contents.begin(), allocation.contents.end(), contents);
    memory.blocks_.push_back({{allocation.address, allocation.bytes, allocation.argument, {}}, {contents, &std::free}});
  }
  return memory;
}

std::span<std::byte> DeviceMemory::bytes(std::size_t argument) {
  for (const Block& block : blocks_) {
    if (block.allocation.argument == argument) {
      return {block.contents.get(), static_cast<std::size_t>(block.allocation.bytes)};
    }
  }
  return {};
}

std::byte* DeviceMemory::at(std::uint64_t address, std::size_t count) {
  for (const Block& block : blocks_) {
    const std::uint64_t offset = address - block.allocation.address;
    if (address >= block.allocation.address && count <= block.allocation.bytes &&
        offset <= block.allocation.bytes - count) {
      return block.contents.get() + offset;
    }
  }
  return nullptr;
}

bool CtaMemory::access(bool shared, const MemoryOperation& operation, const LaneAddresses& addresses,
                       std::uint32_t mask, LaneRow* rows) {
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    std::byte* place =
        shared ? shared_.data() + (addresses[lane] - shared_base_) : device_.at(addresses[lane], operation.bytes);
    if (place == nullptr) {
      if (!operation.store) {
        return false;
      }
    } else if (operation.store) {
      store(operation, place, lane, rows);
    } else {
      load(operation, place, lane, rows);
    }
  }
  return true;
}

bool CtaMemory::update(const MemoryOperation& operation, const LaneAddresses& addresses, std::uint32_t mask,
                       LaneRow* rows) {
  const AtomicOperation& atomic = operation.atomic;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    std::byte* place = atomic.global ? device_.at(addresses[lane], operation.bytes)
                                     : shared_.data() + (addresses[lane] - shared_base_);
    if (place == nullptr) {
      return false;
    }
    std::uint64_t old = 0;
    std::memcpy(&old, place, operation.bytes);
    const std::uint64_t operand = wide_value(rows, operation.words[0], operation.words[1], lane);
    const std::uint64_t comparand = wide_value(rows, atomic.comparand[0], atomic.comparand[1], lane);
    const std::uint64_t fresh = updated(operation, old, operand, comparand);
    std::memcpy(place, &fresh, operation.bytes);
    const bool tries = atomic.kind == AtomicOperation::Kind::kTrySwap;
    const std::uint64_t result = !tries ? old : old == comparand ? 1 : 0;
    for (std::size_t word = 0; word < atomic.result.size(); ++word) {
      if (atomic.result[word] != kNoDestination) {
        rows[atomic.result[word]].lane[lane] = static_cast<std::uint32_t>(result >> (32 * word));
      }
    }
  }
  return true;
}

void CtaMemory::load_matrices(const MemoryOperation& operation, const LaneAddresses& addresses, LaneRow* rows) {
  constexpr std::size_t kMatrixRows = 8;
  constexpr std::size_t kElementBytes = 2;
  const auto element = [&](std::size_t matrix, std::size_t row, std::size_t column) {
    std::uint16_t value = 0;
    const std::byte* from = shared_.data() + (addresses[matrix * kMatrixRows + row] - shared_base_);
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

bool CtaMemory::copy(unsigned bytes, const LaneAddresses& global, const LaneAddresses& shared, std::uint32_t reading,
                     std::uint32_t mask) {
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    std::byte* to = shared_.data() + (shared[lane] - shared_base_);
    const bool reads = (reading >> lane & 1) != 0;
    const std::byte* from = reads ? device_.at(global[lane], bytes) : nullptr;
    if (from != nullptr) {
      std::memcpy(to, from, bytes);
    } else if (reads) {
      return false;
    } else {
      std::memset(to, 0, bytes);
    }
  }
  return true;
}

}  // namespace tilesim::traces
