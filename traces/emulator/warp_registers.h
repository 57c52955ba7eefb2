// The architectural state of a warp under emulation, and what its special registers read.
#pragma once

#include <array>
#include <cstdint>

#include "sim/isa/stream.h"
#include "traces/emulator/micro_program.h"

namespace tilesim::traces {

struct WarpRegisters {
  LaneRow* rows = nullptr;  ///< MicroProgram::row_count of them, owned by the CTA
  std::array<std::uint32_t, 64> uniform{};
  std::array<std::uint32_t, 8> predicates{};          ///< lane masks; [7] all ones
  std::array<std::uint32_t, 8> uniform_predicates{};  ///< 0 or all ones; [7] all ones

  void reset() {
    uniform.fill(0);
    predicates.fill(0);
    uniform_predicates.fill(0);
    predicates[kPredicatePt] = uniform_predicates[kPredicatePt] = ~std::uint32_t{0};
  }
  /// Lanes in which a guard or condition holds.
  [[nodiscard]] std::uint32_t holds(bool is_uniform, std::uint8_t index, bool negated) const {
    const std::uint32_t mask = is_uniform ? uniform_predicates[index] : predicates[index];
    return negated ? ~mask : mask;
  }
};

/// Where a warp is in its grid.
struct WarpPosition {
  isa::Dim3 block;
  std::array<std::uint32_t, 3> cta{};  ///< blockIdx x, y, z
  std::uint32_t first_thread = 0;      ///< linear index of lane 0 in the CTA
};

}  // namespace tilesim::traces
