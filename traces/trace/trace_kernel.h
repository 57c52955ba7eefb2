// A recorded launch as a source of instruction streams.
#pragma once

#include <memory>
#include <optional>

#include "sim/isa/stream.h"
#include "traces/emulator/warp_emulator.h"
#include "traces/trace/trace_file.h"

namespace tilesim::traces {

/// Streams out of a trace, the same as were recorded. If only some CTAs were, they make up a grid of their own, in
/// their order. Memory: the blocks that resident warps are in. Damage ends a stream with an error that names file and
/// offset. Immutable apart from set_trip_skip(); open() is thread-safe.
class TraceKernel final : public isa::KernelStream {
 public:
  explicit TraceKernel(std::shared_ptr<const TraceFile> trace) : trace_(std::move(trace)) {}

  [[nodiscard]] const isa::Program& program() const override { return trace_->program(); }
  [[nodiscard]] isa::Dim3 grid() const override;
  [[nodiscard]] isa::Dim3 block() const override { return trace_->launch().block; }
  [[nodiscard]] std::unique_ptr<isa::CtaStream> open(std::uint64_t linear_id,
                                                     std::unique_ptr<isa::CtaStream> recycled) const override;

  /// As SassKernel::set_trip_skip().
  void set_trip_skip(std::optional<TripSkip> skip) { skip_ = skip; }

 private:
  std::shared_ptr<const TraceFile> trace_;
  std::optional<TripSkip> skip_;
};

}  // namespace tilesim::traces
