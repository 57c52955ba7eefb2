// One operation on a warp's registers: its buffers, and the paths between them and the registers. Internal to
// executor*.cpp.
#pragma once

#include <algorithm>

#include "traces/emulator/lane_functions.h"
#include "traces/emulator/warp_registers.h"

namespace tilesim::traces {

using lanes::Word;
inline constexpr Word kAllLanes = ~Word{0};

inline std::uint32_t apply(Word value, Change change) {
  constexpr Word kSign = 0x80000000U;
  constexpr Word kSigns = 0x80008000U;  // of a packed pair
  switch (change) {
    case Change::kNone:
      return value;
    case Change::kNegate:
      return Word{0} - value;
    case Change::kInvert:
      return ~value;
    case Change::kFloatNegate:
      return value ^ kSign;
    case Change::kFloatAbsolute:
      return value & ~kSign;
    case Change::kFloatNegateAbsolute:
      return value | kSign;
    case Change::kHalfNegate:
      return value ^ kSigns;
    case Change::kHalfAbsolute:
      return value & ~kSigns;
    case Change::kHalfNegateAbsolute:
      return value | kSigns;
  }
  return value;
}

inline Word pick(Word value, Halves halves) {
  return halves == Halves::kBoth ? value : (halves == Halves::kLowTwice ? value & 0xffff : value >> 16) * 0x10001U;
}

/// N lanes: those of the warp, or one on the uniform datapath.
template <int N>
class Executor {
 public:
  Executor(const Operation& op, Word mask, const MicroProgram& program, const WarpPosition& position,
           WarpRegisters& registers)
      : op_(op), mask_(mask), program_(program), position_(position), registers_(registers) {}

  void run();

 private:
  const Word* fetch(const Source& source, LaneRow& buffer) const;
  [[nodiscard]] Word predicate(const PredicateSource& source) const {
    return registers_.holds(source.uniform, source.index, source.negated);
  }
  void commit(std::uint16_t destination, const LaneRow& result);
  void set_predicate(std::uint8_t index, Word value);
  void move();
  void add3();
  void multiply_add();
  void multiply_add_wide();
  void lea();
  void compare();
  void logic();
  void special();
  void select();
  void minimum();
  void multiply_add_high();
  void predicate_logic();
  void vote();
  void double_fma();
  void convert_to_pair();
  void float_compare();
  void indexed_constant();
  void bits_of_predicates();
  void predicates_of_bits();
  void commit_pair(const LaneRow& high) {
    commit(op_.destination[0], result_);
    commit(op_.destination[1], high);
  }
  /// A comparison's outcome with the predicate that it reads, by Modifier::kBoolean.
  [[nodiscard]] Word combine(Word holds, Word in) const {
    return op_.boolean == 0 ? holds & in : op_.boolean == 1 ? holds | in : holds ^ in;
  }
  bool run_float(Word* d);
  bool run_across(Word* d);
  const Word* a() { return fetch(op_.a[0], a_); }
  const Word* b() { return fetch(op_.b[0], b_); }
  const Word* c() { return fetch(op_.c[0], c_); }

  const Operation& op_;
  Word mask_;
  const MicroProgram& program_;
  const WarpPosition& position_;
  WarpRegisters& registers_;
  LaneRow a_;  // copies of sources that are not read in place
  LaneRow b_;
  LaneRow c_;
  LaneRow result_;
};

template <int N>
const Word* Executor<N>::fetch(const Source& source, LaneRow& buffer) const {
  const Word* values = nullptr;
  if (source.kind == Source::Kind::kUniform) {
    const Word value = apply(pick(registers_.uniform[source.index], source.halves), source.change);
    std::fill_n(buffer.lane.begin(), N, value);
    return buffer.lane.data();
  }
  values = source.kind == Source::Kind::kVector ? registers_.rows[source.index].lane.data()
                                                : program_.constants[source.index].lane.data();
  if (source.change == Change::kNone && source.halves == Halves::kBoth) {
    return values;
  }
  for (int i = 0; i < N; ++i) {
    buffer.lane[static_cast<std::size_t>(i)] = apply(pick(values[i], source.halves), source.change);
  }
  return buffer.lane.data();
}

template <int N>
void Executor<N>::commit(std::uint16_t destination, const LaneRow& result) {
  if (destination == kNoDestination) {
    return;
  }
  if constexpr (N == 1) {
    registers_.uniform[destination] = result.lane[0];
  } else {
    LaneRow& row = registers_.rows[destination];
    if (mask_ == kAllLanes) {
      row = result;
      return;
    }
    for (std::size_t i = 0; i < N; ++i) {
      row.lane[i] = lanes::lane_bit(mask_, i) != 0 ? result.lane[i] : row.lane[i];
    }
  }
}

template <int N>
void Executor<N>::set_predicate(std::uint8_t index, Word value) {
  if (index == kPredicatePt) {
    return;
  }
  if constexpr (N == 1) {
    registers_.uniform_predicates[index] = (value & 1) != 0 ? kAllLanes : 0;
  } else {
    Word& predicate = registers_.predicates[index];
    predicate = (predicate & ~mask_) | (value & mask_);
  }
}

}  // namespace tilesim::traces
