// What several subcommands take about a launch and a simulation: limits, carve-out, detail, host threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/result.h"
#include "tools/cli/invocation.h"
#include "tools/cli/subcommand.h"
#include "tools/lib/replay.h"

namespace tilesim::cli {

inline constexpr std::int64_t kWarpThreads = 32;
using app::kMaxSharedBytes;

/// --carveout.
[[nodiscard]] Flag carveout_flag(const std::string& group);
/// --detailed, -j.
[[nodiscard]] std::vector<Flag> simulation_flags();

/// An optional integer flag into an optional field; a flag that is absent leaves the field alone.
template <class T>
[[nodiscard]] Result<void> read_integer(const Invocation& invocation, const std::string& flag, std::int64_t minimum,
                                        std::int64_t maximum, std::optional<T>& field) {
  const auto value = invocation.integer(flag, minimum, maximum);
  if (!value) {
    return tl::unexpected<Error>(value.error());
  }
  if (*value) {
    field = static_cast<T>(**value);
  }
  return {};
}

/// --carveout in KB into `field`.
[[nodiscard]] Result<void> read_carveout(const Invocation& invocation, std::optional<int>& field);

/// -j into `threads`; without it one per processor.
[[nodiscard]] Result<void> read_host_threads(const Invocation& invocation, int& threads);

}  // namespace tilesim::cli
