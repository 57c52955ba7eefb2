// Finds the loop in which a kernel spends its instructions.
#pragma once

#include <cstdint>
#include <optional>

#include "model/result.h"
#include "traces/emulator/sass_kernel.h"

namespace tilesim::traces {

inline constexpr std::uint64_t kMaximumLoopInstructions = std::uint64_t{1} << 36;
/// Trips in a row from which on a loop can stand for the kernel: what the longer of the runs that are extrapolated
/// takes.
inline constexpr std::uint64_t kTripsInARow = 64;

struct MainLoop {
  std::uint32_t branch = 0;  ///< instruction index of the backward branch
  std::uint32_t target = 0;  ///< first instruction of the body
  std::uint64_t trips = 0;   ///< executions of the branch by warp 0 of CTA 0, taken or not
  std::uint64_t taken = 0;   ///< of these taken
  std::uint32_t body = 0;    ///< instructions from target to branch, both included
};

/// Emulates warp 0 of CTA 0 and returns the backward branch with the most instructions in all executions of its body,
/// or, if that loop is left after kTripsInARow trips or fewer, the loop around it: short inner loops repeat with what
/// is between them. nullopt if none is taken. Errors (kUsage): as WarpStream::step(), without memory checks; more than
/// `limit` instructions in loops.
[[nodiscard]] Result<std::optional<MainLoop>> find_main_loop(const SassKernel& kernel,
                                                             std::uint64_t limit = kMaximumLoopInstructions);

}  // namespace tilesim::traces
