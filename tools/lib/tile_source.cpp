#include "tools/lib/tile_source.h"

namespace tilesim::app {

Result<std::unique_ptr<TileSource>> TileSource::create(const model::TileConfig& config, const model::Problem& problem) {
  auto kernel = traces::TileKernel::create(config, problem);
  if (!kernel) {
    return tl::unexpected<Error>(kernel.error());
  }
  std::unique_ptr<TileSource> source(new TileSource);
  source->config_ = config;
  source->problem_ = problem;
  source->kernel_ = std::move(*kernel);
  return source;
}

Result<std::unique_ptr<isa::KernelStream>> TileSource::open(std::uint64_t length) const {
  auto kernel = traces::TileKernel::create(config_, problem_);
  if (!kernel) {
    return tl::unexpected<Error>(kernel.error());
  }
  const std::uint64_t trips = loop_trips();
  if (length != 0 && length < trips) {
    (*kernel)->skip_trips(length / 2, trips - length);
  }
  return std::unique_ptr<isa::KernelStream>(std::move(*kernel));
}

std::optional<std::uint32_t> TileSource::loop_branch() const {
  const auto& code = program().instructions;  // generated code has one loop
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    if (code[i].control == isa::ControlOp::kBranch && code[i].branch_target <= i) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace tilesim::app
