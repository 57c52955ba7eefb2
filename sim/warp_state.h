// The closed list of warp states: at each cycle a resident warp is in exactly one. Names and meanings are Nsight
// Compute's warp stall reasons (smsp__average_warps_issue_stalled_<name>_per_issue_active.ratio).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tilesim::sim {

enum class WarpState : std::uint8_t {
  kSelected,          ///< issued an instruction
  kNotSelected,       ///< eligible, another warp was picked
  kWait,              ///< fixed-latency dependency: the stall count has not run out
  kShortScoreboard,   ///< waits for a scoreboard of the MIO: shared memory, S2R, LDC, XU
  kLongScoreboard,    ///< waits for a scoreboard of L1TEX: global memory
  kMioThrottle,       ///< the MIO queue is full, next instruction is a shared-memory or other MIO one
  kLgThrottle,        ///< the MIO queue is full, next instruction is a global or local access
  kMathPipeThrottle,  ///< the pipe it needs is busy
  kDispatchStall,     ///< the sub-partition's dispatch is held: register ports, multi-cycle dispatch
  kBarrier,           ///< waits at a CTA barrier
  kNoInstruction,     ///< the next instruction has not been fetched
  kBranchResolving,   ///< waits for its branch target
  kDrain,             ///< exited, stores still leaving
  kImcMiss,           ///< waits for a constant-cache miss
};
inline constexpr int kWarpStateCount = 14;

/// The Nsight Compute spelling, e.g. "long_scoreboard".
[[nodiscard]] std::string_view to_string(WarpState state);

/// True for the states that count as waiting: all but selected and not_selected.
[[nodiscard]] constexpr bool is_waiting(WarpState state) {
  return state != WarpState::kSelected && state != WarpState::kNotSelected;
}

using WarpStateCycles = std::array<std::uint64_t, kWarpStateCount>;

}  // namespace tilesim::sim
