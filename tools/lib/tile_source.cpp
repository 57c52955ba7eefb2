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

}  // namespace tilesim::app
