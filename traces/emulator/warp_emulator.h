// One warp of a SassKernel: executes the slice that addresses and branches depend on, checks every memory access.
#pragma once

#include <cstdint>

#include "sim/isa/stream.h"
#include "traces/emulator/executor.h"

namespace tilesim::traces {

class SassKernel;

class WarpEmulator final : public isa::WarpStream {
 public:
  explicit WarpEmulator(const SassKernel& kernel) : kernel_(&kernel) {}

  /// Back to the kernel's first instruction, as warp `warp` of CTA `linear_id`.
  void start(std::uint64_t linear_id, std::uint32_t warp);
  [[nodiscard]] bool belongs_to(const SassKernel& kernel) const { return kernel_ == &kernel; }

  [[nodiscard]] bool step(isa::DynamicInstruction& out) override;
  [[nodiscard]] bool step_to_global(const isa::Program& program, isa::DynamicInstruction& out) override;
  [[nodiscard]] const Error& error() const override { return error_; }

  /// Runs to the exit without looking at memory, reporting each taken branch as (branch, target).
  template <class OnTaken>
  [[nodiscard]] bool run_branches(OnTaken&& on_taken) {
    isa::DynamicInstruction out;
    while (!exited_) {
      next_index_ = kernel_micro().next_slice[next_index_];
      const std::uint32_t index = next_index_;
      if (!step(out)) {
        return false;
      }
      if (out.branch_taken) {
        on_taken(index, next_index_);
      }
    }
    return true;
  }

 private:
  [[nodiscard]] const MicroProgram& kernel_micro() const;
  [[nodiscard]] std::uint32_t guarded_mask(const Step& step) const;
  [[nodiscard]] bool branch(std::uint32_t index, std::uint32_t mask, isa::DynamicInstruction& out);
  [[nodiscard]] bool exit(std::uint32_t index, std::uint32_t mask);
  [[nodiscard]] bool access_shared(const MemoryOperation& access, isa::DynamicInstruction& out);
  [[nodiscard]] bool access_global(const MemoryOperation& access, isa::DynamicInstruction& out);
  [[nodiscard]] bool skip_trips();
  [[nodiscard]] bool refuse(std::uint32_t index, std::string message, std::string remedy);

  const SassKernel* kernel_;
  WarpRegisters registers_;
  WarpPosition position_;
  std::uint32_t active_ = 0;
  std::uint64_t skip_taken_ = 0;  ///< how often the skipped loop's branch was taken
  std::size_t last_allocation_ = 0;
  Error error_;
};

}  // namespace tilesim::traces
