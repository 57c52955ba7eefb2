// From one trace format to the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/result.h"
#include "tools/lib/trace_record.h"

namespace tilesim::app {

/// Bytes of text per warp instruction that Accel-Sim's format takes, roughly, for the estimate before any is written.
inline constexpr double kTextBytesPerInstruction = 59.0;

/// Writes the trace in `from` to `to`: as Accel-Sim text if that name ends with .traceg, perhaps with .gz, .xz or .zst
/// behind; else in our format. `ctas` as for parse_ctas(), counted among those that the trace holds. `announce` gets
/// the size before text is written. Errors: the readers' and the writers'; generated code, whose registers have no
/// names, as Accel-Sim text.
[[nodiscard]] Result<Recording> convert_trace(const std::string& from, const std::string& to, const std::string& ctas,
                                              const std::function<Result<void>(const RecordingEstimate&)>& announce);

/// Imports every kernel of an Accel-Sim command list (kernelslist.g) into `folder`, each under its name with .tst. A
/// kernel's trace may carry .xz, .gz or .zst beyond the name in the list. `warn` gets a line for each that is empty,
/// which is left out. Errors: a trace that is not there; the readers' and the writer's.
[[nodiscard]] Result<std::vector<Recording>> convert_list(const std::string& list, const std::string& folder,
                                                          const std::function<void(const std::string&)>& warn);

/// True for the name of a command list.
[[nodiscard]] bool is_command_list(const std::string& path);

}  // namespace tilesim::app
