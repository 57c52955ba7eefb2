#include "sim/sm/instruction_fetch.h"

#include <algorithm>
#include <cmath>

namespace tilesim::sim {

InstructionFetch::InstructionFetch(const SmParameters& parameters, int sub_partitions, std::size_t instructions)
    : p_(parameters) {
  const auto per_line = static_cast<std::size_t>(p_.line_instructions);
  for (std::size_t i = 0; i <= instructions; ++i) {
    line_of_.push_back(static_cast<std::uint32_t>(i / per_line));
  }
  const std::size_t lines = instructions / per_line + 1;
  const auto make_level = [lines](int capacity) {
    Level level;
    level.filled.assign(lines, -1);
    level.capacity = capacity;
    return level;
  };
  l0_.assign(static_cast<std::size_t>(sub_partitions), make_level(p_.l0_lines));
  arrival_.assign(static_cast<std::size_t>(sub_partitions), std::vector<Cycle>(lines, 0));
  l1_ = make_level(p_.l1i_lines);
  l15_ = make_level(p_.l15_lines);
  l1_arrival_.assign(lines, 0);
}

Cycle InstructionFetch::fetch(int sub, std::uint32_t index, bool jumped, Cycle now) {
  const std::size_t line = line_of_[index];
  Level& l0 = l0_[static_cast<std::size_t>(sub)];
  Cycle& arrival = arrival_[static_cast<std::size_t>(sub)][line];
  if (!l0.holds(line)) {
    l0.fill(line);
    if (l1_.holds(line)) {
      arrival = std::max(now, l1_arrival_[line]) + (jumped ? p_.l0_miss_branch : 0);
    } else {
      arrival = from_beyond_l1(line, jumped, now);
      l1_.fill(line);
      l1_arrival_[line] = arrival;
    }
  }
  return std::max(now, arrival);
}

Cycle InstructionFetch::from_beyond_l1(std::size_t line, bool jumped, Cycle now) {
  const bool seen = l15_.filled[line] >= 0;
  const double per_instruction = l15_.holds(line) ? p_.l1_miss_per_instruction
                                 : seen           ? p_.l15_miss_per_instruction
                                                  : p_.cold_per_instruction;
  if (!l15_.holds(line)) {
    l15_.fill(line);
  }
  const double start = std::max(supply_free_, static_cast<double>(now + (jumped && !seen ? p_.cold_latency : 0)));
  supply_free_ = start + per_instruction * p_.line_instructions;
  // The line is streamed: its first instruction is there after one instruction's share, the warp then runs at that
  // rate.
  return static_cast<Cycle>(std::ceil(supply_free_)) - p_.line_instructions;
}

}  // namespace tilesim::sim
