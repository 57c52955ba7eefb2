// Recording of launches as traces, and what a trace holds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/result.h"
#include "tools/lib/kernel_source.h"
#include "traces/trace/launch_record.h"
#include "traces/trace/trace_file.h"

namespace tilesim::app {

/// How large a trace gets, from its first CTAs.
struct RecordingEstimate {
  std::uint64_t ctas = 0;          ///< to be recorded
  std::uint64_t grid_ctas = 0;     ///< of the launch
  std::uint64_t instructions = 0;  ///< warp instructions
  std::uint64_t bytes = 0;
  double seconds = 0.0;          ///< of host time
  std::uint64_t free_bytes = 0;  ///< on the file's disk
};

struct Recording {
  std::string file;
  std::uint64_t ctas = 0;
  std::uint64_t instructions = 0;
  std::uint64_t bytes = 0;
};

/// Numbers below `limit` from "0-15,100", for flag `--flag`. Errors (kUsage): not a list, a number that `of` (as "the
/// grid") does not have, numbers that do not grow.
[[nodiscard]] Result<std::vector<std::uint64_t>> parse_numbers(const std::string& flag, const std::string& text,
                                                               std::uint64_t limit, const std::string& of);

/// --ctas: CTA numbers, x fastest; empty text is all of them.
[[nodiscard]] Result<std::vector<std::uint64_t>> parse_ctas(const std::string& text, std::uint64_t ctas);

/// Errors (kFailed): the estimate is larger than the room on `file`'s disk.
[[nodiscard]] Result<void> check_room(const RecordingEstimate& estimate, const std::string& file);

/// Writes what the CTAs execute, every trip of every loop, to `file`. `launch` is completed from the source. Once a
/// few CTAs are measured `announce` gets the estimate; if it gives an error, recording ends with it. Errors: the
/// source's; a disk without room for the estimate; the file cannot be written.
[[nodiscard]] Result<Recording> record_trace(const KernelSource& source, traces::LaunchRecord launch,
                                             const std::vector<std::uint64_t>& ctas, const std::string& file,
                                             const std::function<Result<void>(const RecordingEstimate&)>& announce);

/// Writes CTAs of a trace, by their position in it, as a trace of its own. Errors: as record_trace().
[[nodiscard]] Result<Recording> copy_trace(const std::shared_ptr<const traces::TraceFile>& trace,
                                           const std::vector<std::uint64_t>& positions, const std::string& file,
                                           const std::function<Result<void>(const RecordingEstimate&)>& announce);

}  // namespace tilesim::app
