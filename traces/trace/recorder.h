// From a kernel's streams to a trace.
#pragma once

#include <cstdint>

#include "model/result.h"
#include "sim/isa/stream.h"
#include "traces/trace/trace_writer.h"

namespace tilesim::traces {

/// Executes the stream's CTA `opened` and writes what its warps do as CTA `id`: each warp in turn up to its next
/// barrier or its end. Errors: the stream's and the writer's.
[[nodiscard]] Result<void> record_cta(const isa::KernelStream& kernel, std::uint64_t opened, std::uint64_t id,
                                      TraceWriter& writer);

}  // namespace tilesim::traces
