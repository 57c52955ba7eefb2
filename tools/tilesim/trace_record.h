// What recording and converting say while they work.
#pragma once

#include <string>
#include <vector>

#include "model/result.h"
#include "tools/lib/trace_record.h"
#include "tools/tilesim/gpu_flags.h"

namespace tilesim::cli {

/// The size that is to be expected, on stderr: always if it is over 1 GB, which is a warning; else if writing takes
/// long.
[[nodiscard]] Result<void> announce_size(const app::RecordingEstimate& estimate);

/// The flags of what writes a trace: --ctas.
[[nodiscard]] Flag ctas_flag(const std::string& of);

/// What was written, as text and JSON.
[[nodiscard]] Result<ExitCode> deliver_recordings(const Outputs& outputs, const std::string& command,
                                                  const std::vector<app::Recording>& recordings);

}  // namespace tilesim::cli
