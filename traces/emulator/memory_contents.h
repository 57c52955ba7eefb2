// Memory with contents: all of it in functional mode, what decides addresses and branches in timing mode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/result.h"
#include "traces/emulator/launch.h"
#include "traces/emulator/memory_access.h"
#include "traces/emulator/micro_program.h"

namespace tilesim::traces {

/// Contents of a launch's allocations: what the arguments say, then zeros.
class DeviceMemory {
 public:
  /// Holds the allocations of `which` (all by default). Error (kUsage) if they exceed kMaximumBytes together: their
  /// contents are held in this process.
  [[nodiscard]] static Result<DeviceMemory> allocate(const KernelArguments& arguments,
                                                     Allocations which = ~Allocations{0});
  static constexpr std::uint64_t kMaximumBytes = std::uint64_t{4} << 30;

  /// Bytes behind pointer argument number `argument` (position in the argument list, from 0); empty if that is no
  /// pointer.
  [[nodiscard]] std::span<std::byte> bytes(std::size_t argument);
  /// The `count` bytes at a virtual address; null if they are not inside one allocation.
  [[nodiscard]] std::byte* at(std::uint64_t address, std::size_t count);

 private:
  DeviceMemory() = default;

  struct Block {
    Allocation allocation;
    std::unique_ptr<std::byte[], void (*)(void*)> contents;  // zeroed by the system, page by page as they are touched
  };
  std::vector<Block> blocks_;
};

/// What the warps of one CTA can access: device memory, and the CTA's shared memory.
class CtaMemory {
 public:
  CtaMemory(DeviceMemory& device, const SharedWindow& shared)
      : device_(device), shared_base_(shared.base), shared_(shared.bytes) {}

  // Global memory may be held in part: allocations that nothing was found to read. What is stored there is dropped;
  // false if something is read there after all.

  /// Moves data between `rows` and memory for the lanes of `mask`, whose addresses have been checked.
  [[nodiscard]] bool access(bool shared, const MemoryOperation& operation, const LaneAddresses& addresses,
                            std::uint32_t mask, LaneRow* rows);

  /// LDSM: every lane gets its elements of each matrix, whose rows of 16 bytes lie at the addresses of 8 lanes each
  /// (which have been checked).
  void load_matrices(const MemoryOperation& operation, const LaneAddresses& addresses, LaneRow* rows);

  /// Atomics of the lanes of `mask`, from the lowest lane up; their results go to the operation's rows.
  [[nodiscard]] bool update(const MemoryOperation& operation, const LaneAddresses& addresses, std::uint32_t mask,
                            LaneRow* rows);

  /// LDGSTS: the lanes of `mask` write `bytes` bytes to their shared addresses, from global memory where `reading` has
  /// them, else zeros. Addresses have been checked.
  [[nodiscard]] bool copy(unsigned bytes, const LaneAddresses& global, const LaneAddresses& shared,
                          std::uint32_t reading, std::uint32_t mask);

 private:
  DeviceMemory& device_;
  std::uint32_t shared_base_;
  std::vector<std::byte> shared_;
};

}  // namespace tilesim::traces
