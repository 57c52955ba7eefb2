// Machine code under a launch as a kernel source.
#pragma once

#include <memory>
#include <optional>

#include "tools/lib/kernel_source.h"
#include "traces/emulator/main_loop.h"
#include "traces/emulator/sass_kernel.h"

namespace tilesim::app {

class SassSource final : public KernelSource {
 public:
  /// Errors: the launch's, instructions that cannot be emulated, a main loop that does not end.
  [[nodiscard]] static Result<std::unique_ptr<SassSource>> create(traces::DecodedKernel kernel,
                                                                  traces::LaunchParameters launch);

  [[nodiscard]] const isa::Program& program() const override { return kernel_->program(); }
  [[nodiscard]] isa::Dim3 grid() const override { return kernel_->grid(); }
  [[nodiscard]] isa::Dim3 block() const override { return kernel_->block(); }
  [[nodiscard]] bool ordered() const override { return kernel_->ordered(); }
  [[nodiscard]] model::DataType math() const override { return math_; }
  [[nodiscard]] std::uint64_t loop_trips() const override { return loop_ ? loop_->trips : 0; }
  [[nodiscard]] std::optional<std::uint32_t> loop_branch() const override {
    return loop_ ? std::optional(loop_->branch) : std::nullopt;
  }
  [[nodiscard]] Result<std::unique_ptr<isa::KernelStream>> open(std::uint64_t length) const override;

 private:
  SassSource() = default;

  std::unique_ptr<traces::SassKernel> kernel_;
  std::optional<traces::MainLoop> loop_;
  model::DataType math_ = model::DataType::kF32;
};

}  // namespace tilesim::app
