// What a warp executed, in the terms of a trace: runs of instructions one after the other, memory accesses, loops.
#pragma once

#include <array>
#include <cstdint>

#include "sim/isa/stream.h"

namespace tilesim::traces {

/// Loops within each other that an access may lie in.
inline constexpr int kLoopDepth = 4;

enum class ItemKind : std::uint8_t { kRun, kAccess, kLoop };

/// One element of a warp's instruction sequence. A loop's body are the `count` items behind it.
struct Item {
  ItemKind kind = ItemKind::kRun;
  std::uint8_t levels = 0;    ///< access: loops around it whose strides are known
  bool taken = false;         ///< run: its last instruction is a branch that was taken
  std::uint8_t space = 0;     ///< access: see space_of()
  std::uint32_t index = 0;    ///< run, access: (first) instruction
  std::uint32_t mask = 0;     ///< run, access: active lanes
  std::uint32_t count = 0;    ///< run: instructions; loop: items of the body
  std::uint32_t pattern = 0;  ///< access: how the lanes' addresses differ from the first active lane's
  std::uint64_t base = 0;     ///< access: address of the first active lane in the loops' first trips; loop: trips
  std::array<std::int64_t, kLoopDepth> strides{};  ///< access: added per trip of the loops around it, innermost first
};

/// Addresses of lanes less that of the first active one; 0 for lanes that are not active.
using LanePattern = std::array<std::uint64_t, isa::kWarpSize>;

/// Accesses whose addresses lie near each other are told as differences within these spaces.
inline constexpr int kSpaces = 4;
[[nodiscard]] constexpr std::uint8_t space_of(isa::MemoryOp op) {
  switch (op) {
    case isa::MemoryOp::kLoadGlobal:
      return 1;
    case isa::MemoryOp::kStoreGlobal:
      return 2;
    case isa::MemoryOp::kCopyAsync:
      return 3;
    default:
      return 0;
  }
}

}  // namespace tilesim::traces
