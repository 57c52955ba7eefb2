// Instruction supply of an SM: an L0 cache per sub-partition that streams straight-line code from the SM's L1 without
// loss, and slower levels behind it. Lines are replaced first in, first out. Source: H200 microbenchmarks, instruction
// fetch: loops that fit L0 run free; from L1 a taken branch costs about 10 cycles; past L1 the supply is a rate in
// cycles per instruction; fresh code comes at a rate plus a latency at jumps.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/cycle.h"
#include "sim/sm/sm_parameters.h"

namespace tilesim::sim {

class InstructionFetch {
 public:
  InstructionFetch(const SmParameters& parameters, int sub_partitions, std::size_t instructions);

  /// When a warp of sub-partition `sub` that moves to instruction `index` at `now` has it. Call for the first
  /// instruction, after taken branches, and when straight-line code enters another line.
  [[nodiscard]] Cycle fetch(int sub, std::uint32_t index, bool jumped, Cycle now);

  /// True if going from `index` - 1 to `index` enters another line.
  [[nodiscard]] bool enters_line(std::uint32_t index) const {
    return index == 0 || line_of_[index] != line_of_[index - 1];
  }

 private:
  /// A cache level: a line is present while fewer than `capacity` lines were filled after it.
  struct Level {
    std::vector<std::int64_t> filled;  ///< fill number per line, -1 = never
    std::int64_t fills = 0;
    std::int64_t capacity = 1;
    [[nodiscard]] bool holds(std::size_t line) const { return filled[line] >= 0 && fills - filled[line] < capacity; }
    void fill(std::size_t line) { filled[line] = fills++; }
  };
  Cycle from_beyond_l1(std::size_t line, bool jumped, Cycle now);

  const SmParameters& p_;
  std::vector<std::uint32_t> line_of_;  ///< by instruction, and of the one behind the last
  std::vector<Level> l0_;
  std::vector<std::vector<Cycle>> arrival_;  ///< per sub-partition and line: when the L0 copy is usable
  Level l1_, l15_;
  std::vector<Cycle> l1_arrival_;
  double supply_free_ = 0.0;  ///< when the path behind L1 can deliver the next line
};

}  // namespace tilesim::sim
