// Where control can go from each instruction of a kernel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// BRA, CALL, BRX, RET.
[[nodiscard]] bool is_jump(Opcode opcode);

class ControlFlow {
 public:
  explicit ControlFlow(const DecodedKernel& kernel);

  /// Instructions that can follow instruction `index`; none for an unconditional EXIT.
  [[nodiscard]] std::span<const std::uint32_t> successors(std::size_t index) const {
    return {targets_.data() + first_[index], targets_.data() + first_[index + 1]};
  }
  /// True if control can come to the instruction from elsewhere than the one before it, or not from that one.
  [[nodiscard]] bool is_leader(std::size_t index) const { return leaders_[index]; }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> targets_;
  std::vector<bool> leaders_;
};

}  // namespace tilesim::traces
