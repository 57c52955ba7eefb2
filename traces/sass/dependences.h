// Which registers and predicates an instruction reads and writes, derived from its table row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "traces/sass/instruction.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {

enum class RegisterFile : std::uint8_t { kGeneral, kPredicate, kUniform, kUniformPredicate };

/// `count` consecutive registers of a file. RZ, URZ and PT never appear.
struct RegisterRange {
  RegisterFile file = RegisterFile::kGeneral;
  std::uint8_t first = 0;
  std::uint8_t count = 1;
  Role role = Role::kDestination;
};

/// Small fixed list; an instruction has at most nine operands, an address has up to three registers.
class RegisterRanges {
 public:
  void add(const RegisterRange& range) { ranges_[size_++] = range; }
  [[nodiscard]] const RegisterRange* begin() const { return ranges_.data(); }
  [[nodiscard]] const RegisterRange* end() const { return ranges_.data() + size_; }

 private:
  std::array<RegisterRange, 16> ranges_{};
  std::size_t size_ = 0;
};

struct Dependences {
  RegisterRanges reads;  ///< without the guard
  RegisterRanges writes;
};

[[nodiscard]] Dependences dependences(const SassInstruction& instruction);

/// The guard's predicate as a range; count 0 if the guard is PT or !PT.
[[nodiscard]] RegisterRange guard_range(const SassInstruction& instruction);

/// 32-bit registers that the operand of `field` spans in this instruction (by width, shape or count modifier).
[[nodiscard]] int registers_spanned(const SassInstruction& instruction, const OperandField& field);

/// Bytes per lane of a memory access or constant load: 1, 2, 4, 8 or 16; 16 for LDSM (one matrix row per lane).
[[nodiscard]] int access_bytes(const SassInstruction& instruction);

}  // namespace tilesim::traces
