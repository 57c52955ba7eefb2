#include "traces/emulator/sass_kernel.h"

#include <fmt/format.h>

#include "traces/emulator/cta_emulator.h"
#include "traces/sass/lowering.h"

namespace tilesim::traces {

Result<std::unique_ptr<SassKernel>> SassKernel::create(DecodedKernel kernel, LaunchParameters launch) {
  if (auto checked = check_launch(launch); !checked) {
    return tl::unexpected<Error>(checked.error());
  }
  auto micro_program = compile(kernel, launch, Selection::kSlice);
  if (!micro_program) {
    return tl::unexpected<Error>(micro_program.error());
  }
  std::unique_ptr<SassKernel> result(new SassKernel);
  result->kernel_ = std::move(kernel);
  result->launch_ = std::move(launch);
  result->program_ = lower(result->kernel_);
  result->micro_program_ = std::move(*micro_program);
  result->context_ = {&result->kernel_, &result->launch_, &result->micro_program_};
  if (const DemandedMemory& demanded = result->micro_program_.demanded; demanded.any()) {
    auto memory = DeviceMemory::allocate(result->launch_.arguments, demanded.global);
    if (!memory) {
      return tl::unexpected<Error>(memory.error());
    }
    result->memory_.emplace(std::move(*memory));
    result->context_.memory = &*result->memory_;
  }
  return result;
}

std::unique_ptr<isa::CtaStream> SassKernel::open(std::uint64_t linear_id,
                                                 std::unique_ptr<isa::CtaStream> recycled) const {
  if (auto* used = dynamic_cast<CtaEmulator*>(recycled.get()); used != nullptr) {
    used->start(context_, linear_id);
    return recycled;
  }
  auto cta = std::make_unique<CtaEmulator>();
  cta->start(context_, linear_id);
  return cta;
}

Result<void> SassKernel::set_trip_skip(std::optional<TripSkip> skip) {
  if (skip) {
    const auto& instructions = program_.instructions;
    const bool backward = skip->branch < instructions.size() &&
                          instructions[skip->branch].control == isa::ControlOp::kBranch &&
                          instructions[skip->branch].branch_target <= skip->branch;
    if (!backward || skip->after == 0) {
      return fail(ErrorKind::kUsage,
                  fmt::format("Trips cannot be skipped after {} of instruction {}.", skip->after, skip->branch),
                  "Pass a backward branch of the kernel and at least one trip before the skip.", kernel_.file);
    }
  }
  context_.skip = skip;
  context_.skip_body = skip ? loop_carried_slice(kernel_, launch_, skip->branch) : std::nullopt;
  return {};
}

}  // namespace tilesim::traces
