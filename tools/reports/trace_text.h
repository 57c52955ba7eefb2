// Text and JSON of the `tilesim trace` commands that read and write traces.
#pragma once

#include <string>
#include <vector>

#include "sim/isa/stream.h"
#include "tools/cli/colour.h"
#include "tools/lib/trace_open.h"
#include "tools/lib/trace_record.h"
#include "traces/trace/trace_file.h"

namespace tilesim::reports {

/// "writing 1024 of 1024 CTAs: about 3.1 G warp instructions, 2.4 MB, 40 s", a line; as a warning if it is one.
[[nodiscard]] std::string size_line(const app::RecordingEstimate& estimate, bool warning);

/// What was written, one line a file.
[[nodiscard]] std::string recordings_text(const std::vector<app::Recording>& recordings);
[[nodiscard]] std::string recordings_json(const std::string& command, const std::vector<app::Recording>& recordings);

/// `name` is the file as the user gave it, `verified` whether all of it was read and found good.
[[nodiscard]] std::string trace_info_text(const traces::TraceFile& trace, const app::TraceOnDisk& disk, bool verified,
                                          const cli::Palette& palette);
[[nodiscard]] std::string trace_info_json(const traces::TraceFile& trace, const app::TraceOnDisk& disk, bool verified);

/// One line of `trace cat`: instruction number, active lanes, text, addresses.
[[nodiscard]] std::string executed_line(const isa::DynamicInstruction& executed, const isa::Program& program);

}  // namespace tilesim::reports
