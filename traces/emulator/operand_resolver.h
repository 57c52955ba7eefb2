// Maps a kernel's registers to rows and its operands to sources, while a kernel is compiled for emulation. Internal to
// the emulator.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "traces/emulator/micro_program.h"

namespace tilesim::traces {

class OperandResolver {
 public:
  /// What negation means for a source.
  enum class Arithmetic { kInteger, kInverting, kFloat, kDouble, kHalf };

  OperandResolver(const DecodedKernel& kernel, const LaunchParameters& launch);

  /// Row of a general register; a new one at first sight. kNoDestination for RZ.
  std::uint16_t row(unsigned number);
  /// Destination rows of `count` (1 or 2) registers from the operand's; uniform registers keep their numbers.
  std::array<std::uint16_t, 2> destination(const Operand& operand, int count);
  /// Word `part` (0 low, 1 high) of a source operand.
  Source source(const Operand& operand, int part, Arithmetic arithmetic);
  /// A source that holds `value` in every lane.
  Source constant(std::uint32_t value);

  [[nodiscard]] std::uint16_t row_count() const { return row_count_; }
  [[nodiscard]] std::vector<LaneRow> take_constants() { return std::move(constants_); }
  /// Why the last source could not be resolved; cleared by reading it.
  [[nodiscard]] std::optional<std::string> take_problem() { return std::exchange(problem_, std::nullopt); }

 private:
  std::uint32_t constant_bank(const Operand& operand, int part);

  const DecodedKernel& kernel_;
  const LaunchParameters& launch_;
  std::array<std::uint16_t, 256> rows_;
  std::uint16_t row_count_ = 0;
  std::vector<LaneRow> constants_;
  std::unordered_map<std::uint32_t, std::uint16_t> constant_index_;
  std::optional<std::string> problem_;
};

}  // namespace tilesim::traces
