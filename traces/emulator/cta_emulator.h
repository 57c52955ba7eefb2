// The warps of one CTA under emulation, and their registers.
#pragma once

#include <optional>
#include <vector>

#include "sim/isa/stream.h"
#include "traces/emulator/warp_emulator.h"

namespace tilesim::traces {

class CtaEmulator final : public isa::CtaStream {
 public:
  /// Starts CTA `linear_id` (x fastest) of the context's launch; storage of an earlier CTA is used again. The context
  /// must outlive the CTA.
  void start(const WarpContext& context, std::uint64_t linear_id);

  [[nodiscard]] int warp_count() const override { return static_cast<int>(warps_.size()); }
  [[nodiscard]] WarpEmulator& warp(int index) override { return warps_[static_cast<std::size_t>(index)]; }

 private:
  std::vector<WarpEmulator> warps_;
  std::vector<LaneRow> rows_;
  std::optional<CtaMemory> memory_;
};

}  // namespace tilesim::traces
