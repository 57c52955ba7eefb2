// Machine code plus launch parameters as a source of instruction streams.
#pragma once

#include <memory>
#include <optional>

#include "model/result.h"
#include "sim/isa/stream.h"
#include "traces/emulator/launch.h"
#include "traces/emulator/micro_program.h"
#include "traces/emulator/warp_emulator.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// A decoded kernel under a launch, emulated lazily in timing mode: what addresses, guards and branches depend on is
/// executed for 32 lanes, everything else is counted. Every global access is checked to lie inside an allocation of the
/// arguments and every shared access inside the CTA's shared memory; a violation, a divergent branch and the like end
/// the stream with an error that names instruction, lane and listing line. Shared addresses are reported as the
/// hardware sees them, from the shared base of abi.h up; LDGSTS, LDL and STL report addresses as sim/isa/lane_address.h
/// says.
///
/// Where a value from memory reaches an address or a branch, that memory is real (slice.h): it begins with the contents
/// that the arguments give, zeros where they give none, and stores are seen from the step that executes them on, so one
/// kernel object serves one simulation. ordered() tells whether such memory is also written.
///
/// Immutable apart from set_trip_skip() and from memory; open() is thread-safe, and so are the streams unless
/// ordered().
class SassKernel final : public isa::KernelStream {
 public:
  /// Errors (kUsage): an illegal launch, arguments shorter than the code
  /// reads, instructions that cannot be emulated.
  [[nodiscard]] static Result<std::unique_ptr<SassKernel>> create(DecodedKernel kernel, LaunchParameters launch);

  SassKernel(const SassKernel&) = delete;
  SassKernel& operator=(const SassKernel&) = delete;

  [[nodiscard]] const isa::Program& program() const override { return program_; }
  [[nodiscard]] isa::Dim3 grid() const override { return launch_.grid; }
  [[nodiscard]] isa::Dim3 block() const override { return launch_.block; }
  [[nodiscard]] bool ordered() const override {
    return micro_program_.demanded.shared || micro_program_.demanded.global_written;
  }
  [[nodiscard]] std::unique_ptr<isa::CtaStream> open(std::uint64_t linear_id,
                                                     std::unique_ptr<isa::CtaStream> recycled) const override;

  /// Skips loop trips in every warp of CTAs opened from now on; nullopt emulates all trips. The branch must be a
  /// backward branch of the kernel and `after` at least 1 (Error kUsage). Not while streams of this kernel are open.
  [[nodiscard]] Result<void> set_trip_skip(std::optional<TripSkip> skip);

  [[nodiscard]] const WarpContext& context() const { return context_; }
  [[nodiscard]] const DecodedKernel& decoded() const { return kernel_; }
  [[nodiscard]] const LaunchParameters& launch() const { return launch_; }
  [[nodiscard]] const MicroProgram& micro_program() const { return micro_program_; }

 private:
  SassKernel() = default;

  DecodedKernel kernel_;
  LaunchParameters launch_;
  isa::Program program_;
  MicroProgram micro_program_;
  std::optional<DeviceMemory> memory_;
  WarpContext context_;
};

}  // namespace tilesim::traces
