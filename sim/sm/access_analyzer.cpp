#include "sim/sm/access_analyzer.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "model/vector_clones.h"

namespace tilesim::sim {

namespace {

using Lines = std::array<std::uint64_t, isa::kWarpSize>;

bool is_word_copy(const isa::Instruction& inst) {
  return inst.memory == isa::MemoryOp::kCopyAsync && inst.access_bytes < 16;
}

/// Lines that the lanes of a copy read, less that of the first active one.
Lines lines_of(const isa::DynamicInstruction& dynamic) {
  Lines lines{};
  for (std::uint32_t left = dynamic.active_mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    lines[lane] = isa::CopyLane::of(dynamic.addresses[lane]).global / model::kLineBytes;
  }
  const std::uint64_t base = lines[static_cast<std::size_t>(std::countr_zero(dynamic.active_mask)) % lines.size()];
  for (std::uint32_t left = dynamic.active_mask; left != 0; left &= left - 1) {
    lines[static_cast<std::size_t>(std::countr_zero(left))] -= base;
  }
  return lines;
}

}  // namespace

void AccessAnalyzer::look_at(const isa::DynamicInstruction& dynamic,
                             const std::array<std::uint32_t, isa::kWarpSize>& addresses, Pattern& pattern) const {
  const isa::Instruction& inst = program_.instructions[dynamic.index];
  switch (inst.memory) {
    case isa::MemoryOp::kStoreShared:
      pattern.cost.now = model::shared_store_wavefronts(addresses, dynamic.active_mask, inst.access_bytes);
      break;
    case isa::MemoryOp::kCopyAsync:
      if (is_word_copy(inst)) {
        const model::WordCopyWavefronts copy =
            model::word_copy_wavefronts(addresses, pattern.lines, dynamic.active_mask, inst.access_bytes);
        pattern.cost = {copy.together, copy.by_fours};
      } else {
        pattern.copy = model::copy_wavefronts(addresses, dynamic.active_mask, inst.access_bytes);
        pattern.cost = {pattern.copy.total(), pattern.copy.total()};
      }
      break;
    case isa::MemoryOp::kLoadMatrix:
      pattern.cost.now = model::matrix_load_wavefronts(addresses, inst.access_bytes / 4);
      break;
    default:
      pattern.cost.now = model::shared_load_wavefronts(addresses, dynamic.active_mask, inst.access_bytes);
      break;
  }
}

namespace {

using Words = std::array<std::uint32_t, isa::kWarpSize>;

TILESIM_VECTOR_CLONES
void shared_words(const isa::DynamicInstruction& dynamic, bool copy, Words& words) {
  // CopyLane::of().shared, or the address itself
  const unsigned shift = copy ? isa::CopyLane::kSharedShift : 0;
  const unsigned scale = copy ? 4 : 1;
  for (std::size_t lane = 0; lane < words.size(); ++lane) {
    words[lane] = static_cast<std::uint32_t>(dynamic.addresses[lane] >> shift) * scale;
  }
}

/// Not 0 if an active lane lies elsewhere than `relative` from `base`.
TILESIM_VECTOR_CLONES
std::uint32_t differing(const Words& words, std::uint32_t base, const Words& relative, std::uint32_t active) {
  std::uint32_t differs = 0;
  for (std::size_t lane = 0; lane < words.size(); ++lane) {
    differs |= (words[lane] - base - relative[lane]) & (0U - (active >> lane & 1U));
  }
  return differs;
}

}  // namespace

AccessAnalyzer::SharedCost AccessAnalyzer::shared(const isa::DynamicInstruction& dynamic, AccessSite& site) {
  const isa::Instruction& inst = program_.instructions[dynamic.index];
  Pattern& pattern = memory_[dynamic.index];
  const bool copy = inst.memory == isa::MemoryOp::kCopyAsync;
  Words addresses;
  shared_words(dynamic, copy, addresses);
  // Distances to the first active lane; moving all lanes together by whole accesses rotates banks and changes no count.
  const std::uint32_t base = addresses[std::countr_zero(dynamic.active_mask) % isa::kWarpSize];
  std::uint32_t differs = pattern.mask ^ dynamic.active_mask;
  differs |= differing(addresses, base, pattern.relative, dynamic.active_mask);
  if (is_word_copy(inst)) {
    const Lines lines = lines_of(dynamic);
    differs |= lines != pattern.lines ? 1U : 0U;
    pattern.lines = lines;
  }
  if (differs != 0) {
    for (int lane = 0; lane < isa::kWarpSize; ++lane) {
      pattern.relative[lane] = addresses[lane] - base;
    }
    pattern.mask = dynamic.active_mask;
    look_at(dynamic, addresses, pattern);
  }
  site.requests += copy ? 0 : 1;  // counted with the global side
  site.wavefronts += static_cast<std::uint64_t>(pattern.cost.now.wavefronts);
  site.ideal_wavefronts += static_cast<std::uint64_t>(pattern.cost.now.phases);
  return pattern.cost;
}

namespace {

/// Requests of a copy of 16 bytes a lane. Through the L1 each wavefront asks for its own lines, also for those that
/// another one asks for. Returns the sectors that the wavefronts look up.
int copy_footprint(const isa::DynamicInstruction& dynamic, const model::CopyWavefronts& wavefronts, int bytes,
                   model::GlobalFootprint& footprint) {
  std::array<std::uint64_t, isa::kWarpSize> addresses{};
  std::array<std::uint32_t, isa::kWarpSize> shared{};
  std::uint32_t reading = 0;
  bool bypass = false;
  for (std::uint32_t left = dynamic.active_mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    const isa::CopyLane copy = isa::CopyLane::of(dynamic.addresses[lane]);
    addresses[lane] = copy.global;
    shared[lane] = copy.shared;
    bypass = copy.bypass;
    reading |= copy.global != 0 ? left & (0U - left) : 0U;
  }
  footprint.line_count = 0;
  footprint.sector_count = 0;
  for (int i = 0; i < wavefronts.count; ++i) {
    model::GlobalFootprint part;
    model::global_footprint(addresses, reading & wavefronts.lanes[static_cast<std::size_t>(i)], bytes, part);
    std::copy_n(part.lines.begin(), part.line_count, footprint.lines.begin() + footprint.line_count);
    footprint.line_count += part.line_count;
    footprint.sector_count += part.sector_count;
  }
  const int looked_up = footprint.sector_count;
  if (bypass) {
    model::bypass_requests(addresses, shared, reading, footprint);
  }
  return looked_up;
}

/// Of copies of 4 and 8 bytes: each line and sector once.
void word_copy_footprint(const isa::DynamicInstruction& dynamic, int bytes, model::GlobalFootprint& footprint) {
  std::array<std::uint64_t, isa::kWarpSize> addresses{};
  std::uint32_t reading = 0;
  for (std::uint32_t left = dynamic.active_mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    addresses[lane] = isa::CopyLane::of(dynamic.addresses[lane]).global;
    reading |= addresses[lane] != 0 ? left & (0U - left) : 0U;
  }
  model::global_footprint(addresses, reading, bytes, footprint);
}

void local_footprint(const isa::DynamicInstruction& dynamic, int bytes, model::GlobalFootprint& footprint) {
  model::global_footprint(dynamic.addresses, dynamic.active_mask, bytes < 4 ? bytes : 4, footprint);
  const int lines = footprint.line_count;
  const int words = std::min(bytes / 4, static_cast<int>(footprint.lines.size()) / std::max(lines, 1));
  for (int word = 1; word < words; ++word) {
    for (int i = 0; i < lines; ++i) {
      model::LineAccess access = footprint.lines[static_cast<std::size_t>(i)];
      access.line += static_cast<std::uint64_t>(word);
      footprint.lines[static_cast<std::size_t>(footprint.line_count++)] = access;
      footprint.sector_count += std::popcount(access.sector_mask);
    }
  }
}

}  // namespace

int AccessAnalyzer::global(const isa::DynamicInstruction& dynamic, AccessSite& site,
                           model::GlobalFootprint& footprint) const {
  const isa::Instruction& inst = program_.instructions[dynamic.index];
  std::optional<int> looked_up;
  if (is_word_copy(inst)) {
    word_copy_footprint(dynamic, inst.access_bytes, footprint);
  } else if (inst.memory == isa::MemoryOp::kCopyAsync) {
    looked_up = copy_footprint(dynamic, memory_[dynamic.index].copy, inst.access_bytes, footprint);
  } else if (isa::is_local(dynamic)) {
    local_footprint(dynamic, inst.access_bytes, footprint);
  } else {
    model::global_footprint(dynamic.addresses, dynamic.active_mask, inst.access_bytes, footprint);
  }
  const int sectors = looked_up.value_or(footprint.sector_count);
  ++site.requests;
  site.sectors += static_cast<std::uint64_t>(sectors);
  site.lines += static_cast<std::uint64_t>(footprint.line_count);
  return sectors;
}

}  // namespace tilesim::sim
