// A kernel's machine code and a launch as a source of instruction streams for the simulator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "model/result.h"
#include "sim/isa/stream.h"
#include "traces/emulator/launch.h"
#include "traces/emulator/micro_program.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// Leaves out trips of a loop: each warp, once it has taken the branch `after` times, is taken through `trips` more of
/// them by emulation alone, so that addresses stay those of the full run. If the loop ends earlier, the skip ends
/// there.
struct TripSkip {
  std::uint32_t branch = 0;  ///< instruction index of the loop's backward branch
  std::uint64_t after = 0;
  std::uint64_t trips = 0;
};

/// The loop that executes most instructions: its backward branch, how often warp 0 of CTA 0 takes it, and its body.
struct MainLoop {
  std::uint32_t branch = 0;
  std::uint32_t body_instructions = 0;
  std::uint64_t taken = 0;
};

class SassKernel final : public isa::KernelStream {
 public:
  /// Compiles the kernel for the launch. Errors: as check_launch() and compile().
  [[nodiscard]] static Result<std::unique_ptr<SassKernel>> create(const DecodedKernel& kernel, LaunchParameters launch);

  [[nodiscard]] const isa::Program& program() const override { return program_; }
  [[nodiscard]] isa::Dim3 grid() const override { return launch_.grid; }
  [[nodiscard]] isa::Dim3 block() const override { return launch_.block; }
  [[nodiscard]] std::unique_ptr<isa::CtaStream> open(std::uint64_t linear_id,
                                                     std::unique_ptr<isa::CtaStream> recycled) const override;

  /// Emulates warp 0 of CTA 0 to the end. Nothing if the kernel has no backward branch that is taken. Error: the
  /// stream's.
  [[nodiscard]] Result<std::optional<MainLoop>> find_main_loop() const;

  /// The same kernel with trips left out; shares nothing with the original.
  [[nodiscard]] std::unique_ptr<SassKernel> with_skip(const TripSkip& skip) const;

  [[nodiscard]] const LaunchParameters& launch() const { return launch_; }
  [[nodiscard]] const MicroProgram& micro() const { return micro_; }
  [[nodiscard]] const DecodedKernel& code() const { return kernel_; }
  [[nodiscard]] const std::optional<TripSkip>& skip() const { return skip_; }

 private:
  SassKernel() = default;

  DecodedKernel kernel_;
  LaunchParameters launch_;
  isa::Program program_;
  MicroProgram micro_;
  std::optional<TripSkip> skip_;
};

}  // namespace tilesim::traces
