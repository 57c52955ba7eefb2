// Traces of either format as one that can be read at any place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/result.h"
#include "traces/trace/trace_file.h"

namespace tilesim::app {

/// Opens a trace of ours. Everything else is taken for an Accel-Sim text trace, plain or compressed, and imported into
/// a temporary file first, which is small since loops fold. Errors: the readers'; no room for temporary files.
[[nodiscard]] Result<std::shared_ptr<const traces::TraceFile>> open_trace(const std::string& path);

/// A trace as it lies there.
struct TraceOnDisk {
  std::string name;
  std::uint64_t bytes = 0;  ///< of the file, compressed or not
  bool accelsim = false;    ///< Accel-Sim's text, not our format
};
/// Of a path that open_trace() has opened; 0 bytes for what is no file.
[[nodiscard]] TraceOnDisk trace_on_disk(const std::string& path);

}  // namespace tilesim::app
