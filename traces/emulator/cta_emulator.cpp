#include "traces/emulator/cta_emulator.h"

#include <algorithm>

namespace tilesim::traces {

void CtaEmulator::start(const WarpContext& context, std::uint64_t linear_id) {
  const isa::Dim3& grid = context.launch->grid;
  const isa::Dim3& block = context.launch->block;
  const auto threads = static_cast<std::uint32_t>(block.count());
  const std::size_t count = (threads + isa::kWarpSize - 1) / isa::kWarpSize;
  const std::size_t rows_per_warp = context.program->row_count;
  WarpPosition position;
  position.block = block;
  position.cta = {static_cast<std::uint32_t>(linear_id % grid.x),
                  static_cast<std::uint32_t>(linear_id / grid.x % grid.y),
                  static_cast<std::uint32_t>(linear_id / grid.x / grid.y)};
  memory_.reset();
  if (context.memory != nullptr) {
    memory_.emplace(*context.memory, SharedWindow{context.program->abi.shared_base, context.launch->shared_bytes});
  }
  warps_.resize(count);
  rows_.assign(count * rows_per_warp, LaneRow{});
  for (std::size_t i = 0; i < count; ++i) {
    position.first_thread = static_cast<std::uint32_t>(i * isa::kWarpSize);
    const std::uint32_t lanes = std::min<std::uint32_t>(threads - position.first_thread, isa::kWarpSize);
    const std::uint32_t live = ~std::uint32_t{0} >> (isa::kWarpSize - lanes);
    warps_[i].start(context, position, rows_.data() + i * rows_per_warp, live, memory_ ? &*memory_ : nullptr);
  }
}

}  // namespace tilesim::traces
