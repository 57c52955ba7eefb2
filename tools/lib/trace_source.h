// A recorded launch as a kernel source.
#pragma once

#include <filesystem>
#include <memory>

#include "tools/lib/kernel_source.h"
#include "traces/trace/trace_kernel.h"

namespace tilesim::app {

class TraceSource final : public KernelSource {
 public:
  explicit TraceSource(std::shared_ptr<const traces::TraceFile> trace) : trace_(std::move(trace)), kernel_(trace_) {}

  [[nodiscard]] const isa::Program& program() const override { return trace_->program(); }
  [[nodiscard]] isa::Dim3 grid() const override { return kernel_.grid(); }
  [[nodiscard]] isa::Dim3 block() const override { return kernel_.block(); }
  [[nodiscard]] model::DataType math() const override { return trace_->launch().math; }
  [[nodiscard]] std::uint64_t loop_trips() const override { return trace_->launch().loop_trips; }
  [[nodiscard]] std::optional<std::uint32_t> loop_branch() const override { return trace_->launch().loop_branch; }
  [[nodiscard]] Result<std::unique_ptr<isa::KernelStream>> open(std::uint64_t length) const override;

 private:
  std::shared_ptr<const traces::TraceFile> trace_;
  traces::TraceKernel kernel_;
};

}  // namespace tilesim::app
