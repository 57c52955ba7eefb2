// A kernel freed of single mechanisms, to find out by simulation what they cost. Only timing counts afterwards: the
// freed kernel computes nothing sensible.
#pragma once

#include <cstdint>
#include <memory>

#include "tools/lib/kernel_source.h"

namespace tilesim::app {

/// What is free. A free access keeps its issue slots: the register file still feeds it.
struct Freedom {
  bool shared = false;     ///< accesses to shared memory are done when they are issued
  bool conflicts = false;  ///< accesses to shared memory need no more wavefronts than phases
  bool barriers = false;   ///< barriers hold nobody up
  bool global = false;     ///< accesses to global memory are done when they are issued; nothing leaves the SM
};

/// `base` must outlive it.
class IdealSource final : public KernelSource {
 public:
  /// Only the first `ctas` CTAs are launched.
  IdealSource(const KernelSource& base, const Freedom& freedom, std::uint32_t ctas);

  [[nodiscard]] const isa::Program& program() const override { return program_; }
  [[nodiscard]] isa::Dim3 grid() const override { return {ctas_, 1, 1}; }
  [[nodiscard]] model::DataType math() const override { return base_.math(); }
  [[nodiscard]] isa::Dim3 block() const override { return base_.block(); }
  [[nodiscard]] std::uint64_t loop_trips() const override { return base_.loop_trips(); }
  [[nodiscard]] std::optional<std::uint32_t> loop_branch() const override { return base_.loop_branch(); }
  /// The streams refer to this source's program.
  [[nodiscard]] Result<std::unique_ptr<isa::KernelStream>> open(std::uint64_t length) const override;

 private:
  const KernelSource& base_;
  Freedom freedom_;
  std::uint32_t ctas_;
  isa::Program program_;
};

}  // namespace tilesim::app
