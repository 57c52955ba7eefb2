#include "tools/lib/sass_source.h"

#include <algorithm>

#include "sim/isa/barrier_call.h"

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

/// True if warps of a CTA may take different ways through the kernel and meet at barriers on them: a part of the trips
/// of one warp's loop cannot be left out then.
bool parts_meet(const isa::Program& program) {
  return std::any_of(program.instructions.begin(), program.instructions.end(), isa::is_partial_barrier);
}

}  // namespace

Result<std::unique_ptr<SassSource>> SassSource::create(traces::DecodedKernel kernel, traces::LaunchParameters launch) {
  auto created = traces::SassKernel::create(std::move(kernel), std::move(launch));
  if (!created) {
    return tl::unexpected<Error>(created.error());
  }
  const auto loop = traces::find_main_loop(**created, kLongestWarp);
  // The loop is found on one warp, which may wait for others for ever; such kernels are simulated whole.
  if (!loop && !(*created)->ordered()) {
    return tl::unexpected<Error>(loop.error());
  }
  const bool whole = parts_meet((*created)->program());
  std::unique_ptr<SassSource> source(new SassSource);
  source->kernel_ = std::move(*created);
  source->loop_ = whole ? std::nullopt : loop.value_or(std::nullopt);
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
