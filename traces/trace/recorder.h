// From a kernel's streams to a trace.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "model/result.h"
#include "sim/isa/stream.h"
#include "traces/trace/trace_writer.h"

namespace tilesim::traces {

/// Executes the stream's CTA `opened` and writes what its warps do as CTA `id`: each warp in turn up to its next
/// barrier or its end. Errors: the stream's and the writer's.
[[nodiscard]] Result<void> record_cta(const isa::KernelStream& kernel, std::uint64_t opened, std::uint64_t id,
                                      TraceWriter& writer);

/// As record_cta() for all of `opened`, CTA opened[i] as ids[i], both rising, of a stream that is ordered(): CTAs that
/// wait for what others store run side by side. `after` is called with the number of CTAs that have ended whenever one
/// has. Errors: as above, run_grid()'s and those of `after`.
[[nodiscard]] Result<void> record_together(const isa::KernelStream& kernel, std::span<const std::uint64_t> opened,
                                           std::span<const std::uint64_t> ids, TraceWriter& writer,
                                           const std::function<Result<void>(std::size_t)>& after);

}  // namespace tilesim::traces
