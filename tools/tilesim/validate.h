// The three questions of `tilesim validate`.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/result.h"
#include "tools/cli/invocation.h"
#include "tools/cli/subcommand.h"
#include "tools/tilesim/gpu_flags.h"

namespace tilesim::cli {

/// Predictions against a folder of recordings.
[[nodiscard]] std::vector<Flag> recorded_flags();
[[nodiscard]] Result<ExitCode> validate_recorded(const Invocation& invocation, const Setting& setting);

/// The same against a folder; `name` is what reports call it, `locked` as app::ValidationRequest has it.
[[nodiscard]] Result<ExitCode> validate_folder(const Invocation& invocation, const Setting& setting,
                                               const std::filesystem::path& folder, const std::string& name,
                                               const std::optional<std::set<std::string>>& locked = std::nullopt);

/// Builds and measures kernels on this machine's GPU, then as above. Error (kAbsent): what that needs and is not there.
[[nodiscard]] std::vector<Flag> live_flags();
[[nodiscard]] Result<ExitCode> validate_live(const Invocation& invocation, const Setting& setting);

/// A profile that was exported from Nsight Compute: listed, or compared with a prediction.
[[nodiscard]] std::vector<Flag> profile_flags();
[[nodiscard]] Result<ExitCode> validate_profile(const Invocation& invocation, const Setting& setting);

/// A file of rows or a page, opened before anything is simulated.
[[nodiscard]] Result<std::optional<Output>> output_for(const Invocation& invocation, const std::string& flag);

}  // namespace tilesim::cli
