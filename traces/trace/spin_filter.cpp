#include "traces/trace/spin_filter.h"

#include <algorithm>
#include <bit>

namespace tilesim::traces {

namespace {

constexpr std::size_t kLongestTrip = 64;  // instructions; loops that wait are short

bool same(const isa::DynamicInstruction& a, const isa::DynamicInstruction& b, const isa::Instruction& instruction) {
  if (a.index != b.index || a.active_mask != b.active_mask || a.branch_taken != b.branch_taken) {
    return false;
  }
  for (std::uint32_t lanes = instruction.memory != isa::MemoryOp::kNone ? a.active_mask : 0; lanes != 0;
       lanes &= lanes - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
    if (a.addresses[lane] != b.addresses[lane]) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool polls_memory(std::string_view text) {
  if (text.starts_with('@')) {
    text.remove_prefix(std::min(text.find(' '), text.size()));
  }
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view opcode = text.substr(0, text.find(' '));
  return opcode.starts_with("ATOM") || (opcode.starts_with("LD") && opcode.find(".STRONG") != std::string_view::npos);
}

bool SpinFilter::follows(const Seen& seen) {
  if (trip_.empty() || !same(seen.executed, trip_[repeated_].executed, *seen.instruction)) {
    return false;
  }
  if (++repeated_ == trip_.size()) {
    left_out_ += trip_.size();
    repeated_ = 0;
  }
  return true;
}

std::vector<SpinFilter::Seen> SpinFilter::held() const {
  return {trip_.begin(), trip_.begin() + static_cast<std::ptrdiff_t>(repeated_)};
}

void SpinFilter::stop() {
  trip_.clear();
  repeated_ = 0;
}

/// Begins to compare when a backward branch ends a trip that does nothing but poll.
void SpinFilter::remember(const Seen& seen) {
  if (recent_.size() == kLongestTrip) {
    recent_.erase(recent_.begin(), recent_.begin() + kLongestTrip / 2);
  }
  recent_.push_back(seen);
  const isa::Instruction& branch = *seen.instruction;
  if (!seen.executed.branch_taken || branch.branch_target > seen.executed.index) {
    return;
  }
  const auto head = std::find_if(recent_.rbegin(), recent_.rend(), [&branch](const Seen& earlier) {
    return earlier.executed.index == branch.branch_target;
  });
  if (head != recent_.rend()) {
    trip_.assign(head.base() - 1, recent_.end());
    const bool polls = std::any_of(trip_.begin(), trip_.end(), [](const Seen& s) { return s.polls; });
    const bool acts = std::any_of(trip_.begin(), trip_.end(), [](const Seen& s) {
      return isa::is_store(s.instruction->memory) || s.instruction->control == isa::ControlOp::kBarrier;
    });
    if (!polls || acts) {
      trip_.clear();
    }
  }
  recent_.clear();
}

}  // namespace tilesim::traces
