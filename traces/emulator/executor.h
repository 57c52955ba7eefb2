// Executes the operations of a compiled kernel on a warp's registers, 32 lanes at a time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/isa/stream.h"
#include "traces/emulator/micro_program.h"

namespace tilesim::traces {

/// Where a warp stands in its launch: what special registers read.
struct WarpPosition {
  isa::Dim3 block;
  std::uint32_t cta_x = 0, cta_y = 0, cta_z = 0;
  std::uint32_t warp = 0;
};

/// A warp's registers: rows for general registers, uniform registers, predicates as lane masks, uniform predicates as
/// all or no lanes. Predicate 7 is true.
struct WarpRegisters {
  std::vector<LaneRow> rows;
  std::array<std::uint32_t, 64> uniform{};
  std::array<std::uint32_t, 8> predicates{};
  std::array<std::uint32_t, 8> uniform_predicates{};

  void reset(std::size_t row_count) {
    rows.assign(row_count, LaneRow{});
    uniform.fill(0);
    predicates.fill(0);
    uniform_predicates.fill(0);
    predicates[kPredicatePt] = uniform_predicates[kPredicatePt] = ~std::uint32_t{0};
  }
};

/// Executes `operation` for the lanes of `mask`; an operation of the uniform datapath runs once if any lane is active.
void execute(const Operation& operation, const MicroProgram& program, const WarpPosition& position, std::uint32_t mask,
             WarpRegisters& registers);

}  // namespace tilesim::traces
