#include "tools/lib/trace_source.h"

namespace tilesim::app {

Result<std::unique_ptr<isa::KernelStream>> TraceSource::open(std::uint64_t length) const {
  auto kernel = std::make_unique<traces::TraceKernel>(trace_);
  const auto branch = loop_branch();
  if (length != 0 && branch && length < loop_trips()) {
    kernel->set_trip_skip(traces::TripSkip{*branch, length / 2, loop_trips() - length});
  }
  return std::unique_ptr<isa::KernelStream>(std::move(kernel));
}

}  // namespace tilesim::app
