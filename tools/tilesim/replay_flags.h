// The flags that name machine code and its launch.
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

/// --sass, --cubin, --kernel, --grid, --block, --smem, --args and how they are read. `--regs` and `--carveout` are the
/// caller's, who may share them with a tile configuration.
[[nodiscard]] std::vector<Flag> code_flags(const std::string& group);

/// --arch-mismatch. Error (kUsage): a value but `allow`.
[[nodiscard]] Result<bool> other_architecture_from(const Invocation& invocation);

/// What is known of a launch without flags, from a profile of it.
struct KnownLaunch {
  std::optional<isa::Dim3> grid;
  std::optional<isa::Dim3> block;
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  std::optional<int> registers;
  std::optional<int> carveout_kb;
};

/// The code and its launch, --regs and --carveout included; what has no flag is taken from `known`. Errors (kUsage)
/// name flag and value.
[[nodiscard]] Result<app::ReplayRequest> code_request_from(const Invocation& invocation, const KnownLaunch& known = {});

}  // namespace tilesim::cli
