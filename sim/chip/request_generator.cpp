#include "sim/chip/request_generator.h"

namespace tilesim::sim {

RequestGenerator::RequestGenerator(const isa::KernelStream& kernel, int sm, std::vector<std::uint64_t> ctas,
                                   Cycle delay)
    : kernel_(kernel), sm_(static_cast<std::uint32_t>(sm)), ctas_(std::move(ctas)), delay_(delay) {}

bool RequestGenerator::follow(const GlobalAccessMark& mark, std::vector<MemoryRequest>& out) {
  const std::uint32_t ordinal = mark.mark / kMarksPerCta;
  if (ordinal >= ctas_.size()) {
    return true;
  }
  auto& cta = running_[ordinal];
  if (cta == nullptr) {
    std::unique_ptr<isa::CtaStream> storage;
    if (!recycled_.empty()) {
      storage = std::move(recycled_.back());
      recycled_.pop_back();
    }
    cta = kernel_.open(ctas_[ordinal], std::move(storage));
  }
  isa::WarpStream& warp = cta->warp(static_cast<int>(mark.mark % kMarksPerCta));
  if (!warp.step_to_global(kernel_.program(), dynamic_)) {
    error_ = &warp.error();
    return false;
  }
  if (dynamic_.active_mask == 0) {
    return true;
  }
  const isa::Instruction& inst = kernel_.program().instructions[dynamic_.index];
  model::global_footprint(dynamic_.addresses, dynamic_.active_mask, inst.access_bytes, footprint_);
  const bool write = inst.memory == isa::MemoryOp::kStoreGlobal;
  for (int i = 0; i < footprint_.line_count; ++i) {
    const model::LineAccess& access = footprint_.lines[i];
    out.push_back(
        MemoryRequest{mark.time + delay_ + i, access.line, access.sector_mask, sm_, sequence_++, write, false});
  }
  return true;
}

void RequestGenerator::end_cta(std::uint32_t ordinal) {
  const auto found = running_.find(ordinal);
  if (found != running_.end()) {
    recycled_.push_back(std::move(found->second));
    running_.erase(found);
  }
}

}  // namespace tilesim::sim
