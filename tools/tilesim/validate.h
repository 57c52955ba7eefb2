// The three questions of `tilesim validate`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/result.h"
#include "tools/cli/invocation.h"
#include "tools/cli/subcommand.h"
#include "tools/lib/validation_summary.h"
#include "tools/tilesim/gpu_flags.h"

namespace tilesim::cli {

/// Predictions against a folder of recordings.
[[nodiscard]] std::vector<Flag> recorded_flags();
[[nodiscard]] Result<ExitCode> validate_recorded(const Invocation& invocation, const Setting& setting);

/// Files of rows and of a page, opened before anything is simulated.
struct Files {
  std::optional<Output> csv;
  std::optional<Output> html;
};
/// Error (kUsage): a file that cannot be written, or two outputs that both go to stdout.
[[nodiscard]] Result<Files> files_from(const Invocation& invocation, const Outputs& outputs);

/// What is asked about recordings, checked as far as that is possible without them.
struct RecordedQuestion {
  Files files;
  std::string metric;
  app::Gates gates;
  app::ValidationRequest request;  ///< without families and types
};
[[nodiscard]] Result<RecordedQuestion> recorded_question_from(const Invocation& invocation, const Setting& setting);

/// The question put to a folder; `name` is what reports call it.
[[nodiscard]] Result<ExitCode> validate_folder(const Invocation& invocation, const Setting& setting,
                                               RecordedQuestion question, const std::filesystem::path& folder,
                                               const std::string& name);

/// Builds and measures kernels on this machine's GPU, then as above. Error (kAbsent): what that needs and is not there.
[[nodiscard]] std::vector<Flag> live_flags();
[[nodiscard]] Result<ExitCode> validate_live(const Invocation& invocation, const Setting& setting);

/// A profile that was exported from Nsight Compute: listed, or compared with a prediction.
[[nodiscard]] std::vector<Flag> profile_flags();
[[nodiscard]] Result<ExitCode> validate_profile(const Invocation& invocation, const Setting& setting);

}  // namespace tilesim::cli
