// Generated code of a tile configuration as a kernel source.
#pragma once

#include <memory>

#include "model/tile_config.h"
#include "tools/lib/kernel_source.h"
#include "traces/generator/tile_kernel.h"

namespace tilesim::app {

class TileSource final : public KernelSource {
 public:
  /// `config` must be legal for the problem. Errors: the generator's.
  [[nodiscard]] static Result<std::unique_ptr<TileSource>> create(const model::TileConfig& config,
                                                                  const model::Problem& problem);

  [[nodiscard]] const isa::Program& program() const override { return kernel_->program(); }
  [[nodiscard]] isa::Dim3 grid() const override { return kernel_->grid(); }
  [[nodiscard]] isa::Dim3 block() const override { return kernel_->block(); }
  [[nodiscard]] model::DataType math() const override { return config_.dtype; }
  [[nodiscard]] std::uint64_t loop_trips() const override { return kernel_->loop_trips(); }
  [[nodiscard]] std::optional<std::uint32_t> loop_branch() const override;
  [[nodiscard]] Result<std::unique_ptr<isa::KernelStream>> open(std::uint64_t length) const override;

  /// Registers, spills and shared memory of the generated code.
  [[nodiscard]] const traces::CodeEstimate& estimate() const { return kernel_->estimate(); }

 private:
  TileSource() = default;
  model::TileConfig config_;
  model::Problem problem_;
  std::unique_ptr<traces::TileKernel> kernel_;
};

}  // namespace tilesim::app
