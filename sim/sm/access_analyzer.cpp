#include "sim/sm/access_analyzer.h"

#include <bit>

namespace tilesim::sim {

int AccessAnalyzer::shared(const isa::DynamicInstruction& dynamic, AccessSite& site) {
  const isa::Instruction& inst = program_.instructions[dynamic.index];
  Pattern& pattern = memory_[dynamic.index];
  std::array<std::uint32_t, isa::kWarpSize> addresses;
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    addresses[lane] = static_cast<std::uint32_t>(dynamic.addresses[lane]);
  }
  // Distances to the first active lane; moving all lanes together by whole accesses rotates banks and changes no count.
  const std::uint32_t base = addresses[std::countr_zero(dynamic.active_mask)];
  std::uint32_t differs = pattern.mask ^ dynamic.active_mask;
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    const std::uint32_t active = 0U - (dynamic.active_mask >> lane & 1U);
    differs |= (addresses[lane] - base - pattern.relative[lane]) & active;
  }
  if (differs != 0) {
    for (int lane = 0; lane < isa::kWarpSize; ++lane) {
      pattern.relative[lane] = addresses[lane] - base;
    }
    pattern.mask = dynamic.active_mask;
    switch (inst.memory) {
      case isa::MemoryOp::kStoreShared:
        pattern.wavefronts = model::shared_store_wavefronts(addresses, dynamic.active_mask, inst.access_bytes);
        break;
      case isa::MemoryOp::kLoadMatrix:
        pattern.wavefronts = model::matrix_load_wavefronts(addresses, inst.access_bytes / 4);
        break;
      default:
        pattern.wavefronts = model::shared_load_wavefronts(addresses, dynamic.active_mask, inst.access_bytes);
        break;
    }
  }
  ++site.requests;
  site.wavefronts += static_cast<std::uint64_t>(pattern.wavefronts.wavefronts);
  site.ideal_wavefronts += static_cast<std::uint64_t>(pattern.wavefronts.phases);
  return pattern.wavefronts.wavefronts;
}

void AccessAnalyzer::global(const isa::DynamicInstruction& dynamic, AccessSite& site,
                            model::GlobalFootprint& footprint) const {
  const isa::Instruction& inst = program_.instructions[dynamic.index];
  model::global_footprint(dynamic.addresses, dynamic.active_mask, inst.access_bytes, footprint);
  ++site.requests;
  site.sectors += static_cast<std::uint64_t>(footprint.sector_count);
  site.lines += static_cast<std::uint64_t>(footprint.line_count);
}

}  // namespace tilesim::sim
