// Finds the loops in a warp's instruction sequence while it is recorded.
//
// A backward branch that is taken ends a trip. Trips fold into a loop when the last three groups of p trips (p from 1
// to 8: buffers in shared memory take turns) hold the same instructions with the same lanes, and each address advances
// by the same amount from group to group. Loops fold into outer loops by the same rule. What does not fold stays as it
// is, so folding never changes what the trace says.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "traces/trace/items.h"

namespace tilesim::traces {

class LoopFolder {
 public:
  /// Appends an executed instruction. `memory` says whether it accessed memory (with at least one active lane).
  void add(const isa::DynamicInstruction& executed, const isa::Instruction& instruction);

  [[nodiscard]] const std::vector<Item>& items() const { return items_; }
  [[nodiscard]] const std::vector<LanePattern>& patterns() const { return patterns_; }
  /// Forgets what was recorded so far, loops under way included.
  void clear();

 private:
  /// The trips of one branch that are not folded yet.
  struct Trips {
    std::vector<std::size_t> starts;  ///< where each begins; the last one is complete when the branch is taken
    std::optional<std::size_t> loop;  ///< the loop in front of them, if they may extend it
    std::size_t period = 0;           ///< trips per body of that loop
  };

  void add_access(const isa::DynamicInstruction& executed, const isa::Instruction& instruction);
  [[nodiscard]] std::uint32_t pattern_of(const isa::DynamicInstruction& executed);
  void end_trip(std::uint32_t branch, std::uint32_t target);
  bool extend(Trips& trips);
  bool fold(Trips& trips, std::size_t period);
  void forget_behind(std::size_t position, std::uint32_t except);
  [[nodiscard]] bool same(std::size_t first, std::size_t second, std::size_t count) const;

  std::vector<Item> items_;
  std::vector<LanePattern> patterns_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> pattern_by_hash_;
  std::unordered_map<std::uint32_t, std::uint32_t> last_pattern_;  ///< by instruction
  std::unordered_map<std::uint32_t, Trips> trips_;                 ///< by branch
};

}  // namespace tilesim::traces
