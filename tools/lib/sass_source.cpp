#include "tools/lib/sass_source.h"

namespace tilesim::app {

namespace {

/// A warp with more instructions than this is refused instead of waited for.
constexpr std::uint64_t kLongestWarp = std::uint64_t{1} << 30;

/// A kernel with HMMAs works on the tensor cores.
model::DataType math_of(const traces::DecodedKernel& kernel) {
  for (const traces::SassInstruction& instruction : kernel.instructions) {
    if (instruction.opcode == traces::Opcode::kHmma) {
      switch (instruction.modifier(traces::Modifier::kMatrixType)) {
        case 0:
          return model::DataType::kF16;
        case 1:
          return model::DataType::kBf16;
        default:
          return model::DataType::kTf32;
      }
    }
  }
  return model::DataType::kF32;
}

}  // namespace

Result<std::unique_ptr<SassSource>> SassSource::create(traces::DecodedKernel kernel, traces::LaunchParameters launch) {
  auto created = traces::SassKernel::create(std::move(kernel), std::move(launch));
  if (!created) {
    return tl::unexpected<Error>(created.error());
  }
  const auto loop = traces::find_main_loop(**created, kLongestWarp);
  if (!loop) {
    return tl::unexpected<Error>(loop.error());
  }
  std::unique_ptr<SassSource> source(new SassSource);
  source->kernel_ = std::move(*created);
  source->loop_ = *loop;
  source->math_ = math_of(source->kernel_->decoded());
  return source;
}

Result<std::unique_ptr<isa::KernelStream>> SassSource::open(std::uint64_t length) const {
  auto kernel = traces::SassKernel::create(kernel_->decoded(), kernel_->launch());
  if (!kernel) {
    return tl::unexpected<Error>(kernel.error());
  }
  if (length != 0 && loop_ && length < loop_->trips) {
    const auto skip = (*kernel)->set_trip_skip(traces::TripSkip{loop_->branch, length / 2, loop_->trips - length});
    if (!skip) {
      return tl::unexpected<Error>(skip.error());
    }
  }
  return std::unique_ptr<isa::KernelStream>(std::move(*kernel));
}

}  // namespace tilesim::app
