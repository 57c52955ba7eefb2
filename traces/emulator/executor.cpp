#include "traces/emulator/executor.h"

#include <bit>
#include <cstring>

#include "traces/emulator/float_functions.h"
#include "traces/emulator/lane_executor.h"
#include "traces/emulator/warp_functions.h"

namespace tilesim::traces {

template <int N>
void Executor<N>::add3() {
  const bool carries = op_.carry_in || op_.predicate_out != kPredicatePt || op_.predicate_out2 != kPredicatePt;
  if (!carries) {
    lanes::add3<N>(result_.lane.data(), a(), b(), c());
    commit(op_.destination[0], result_);
    return;
  }
  // In a carry chain -x enters as ~x + 1, so that x - 0 carries out.
  Word complement = 0;
  const auto operand = [&](Source source, LaneRow& buffer) {
    if (source.change == Change::kNegate) {
      source.change = Change::kInvert;
      ++complement;
    }
    return fetch(source, buffer);
  };
  const Word* a = operand(op_.a[0], a_);
  const Word* b = operand(op_.b[0], b_);
  const Word* c = operand(op_.c[0], c_);
  const Word in = op_.carry_in ? predicate(op_.predicate_in) : 0;
  const Word in2 = op_.carry_in ? predicate(op_.predicate_in2) : 0;
  const auto out = lanes::add3_with_carry<N>(result_.lane.data(), a, b, c, in, in2, complement);
  commit(op_.destination[0], result_);
  set_predicate(op_.predicate_out, out.first);
  set_predicate(op_.predicate_out2, out.second);
}

// LEA: (a << shift) + b with carry out. LEA.HI: the high word of (c:a) << shift, plus b; with .SX32 c is a's sign.
template <int N>
void Executor<N>::lea() {
  LaneRow scaled;
  const Word* a = this->a();
  if (op_.function == Function::kLea) {
    lanes::shift_left<N>(scaled.lane.data(), a, op_.immediate);
  } else {
    const Word* high = c();
    if (op_.is_signed) {
      lanes::sign_words<N>(c_.lane.data(), a);
      high = c_.lane.data();
    }
    lanes::shifted_high<N>(scaled.lane.data(), a, high, op_.immediate);
  }
  Source addend = op_.b[0];
  const bool complement = addend.change == Change::kNegate;
  if (complement) {
    addend.change = Change::kInvert;
  }
  const Word in = op_.carry_in ? predicate(op_.predicate_in) : 0;
  if (!complement && in == 0 && op_.predicate_out == kPredicatePt) {
    lanes::add3<N>(result_.lane.data(), scaled.lane.data(), b(), program_.constants[op_.c[1].index].lane.data());
    commit(op_.destination[0], result_);
    return;
  }
  const Word* zero = program_.constants[op_.c[1].index].lane.data();
  const auto out = lanes::add3_with_carry<N>(result_.lane.data(), scaled.lane.data(), fetch(addend, b_), zero, in, 0,
                                             complement ? 1 : 0);
  commit(op_.destination[0], result_);
  set_predicate(op_.predicate_out, out.first);
}

template <int N>
void Executor<N>::compare() {
  const Word* a = this->a();
  const Word* b = this->b();
  Word holds = lanes::compare<N>(a, b, op_.compare, op_.is_signed);
  if (op_.wide) {  // .EX: the high words; where they are equal the low words' comparison decides
    const Word equal = lanes::compare<N>(a, b, 2, op_.is_signed);
    const Word low = predicate(op_.predicate_in2);
    holds = (holds & ~equal) | (low & equal);
  }
  const Word in = predicate(op_.predicate_in);
  set_predicate(op_.predicate_out, combine(holds, in));
  set_predicate(op_.predicate_out2, combine(~holds, in));
}

template <int N>
void Executor<N>::logic() {
  lanes::lookup<N>(result_.lane.data(), a(), b(), c(), op_.immediate);
  commit(op_.destination[0], result_);
  if (op_.predicate_out != kPredicatePt) {
    const Word nonzero = lanes::mask_of<N>([&](std::size_t i) { return result_.lane[i] != 0; });
    set_predicate(op_.predicate_out, nonzero | predicate(op_.predicate_in));
  }
}

template <int N>
void Executor<N>::select() {
  const Word* a = this->a();
  const Word* b = this->b();
  const Word take = predicate(op_.predicate_in);
  for (std::size_t i = 0; i < N; ++i) {
    result_.lane[i] = lanes::lane_bit(take, i) != 0 ? a[i] : b[i];
  }
  commit(op_.destination[0], result_);
}

template <int N>
void Executor<N>::minimum() {
  LaneRow sum;
  const Word* a = this->a();
  const Word* b = this->b();
  if (op_.function == Function::kAddMinimum) {
    const Word* c = this->c();
    for (std::size_t i = 0; i < N; ++i) {
      sum.lane[i] = a[i] + b[i];
    }
    a = sum.lane.data();
    b = c;
  }
  const Word wanted = predicate(op_.predicate_in);
  const Word less = lanes::compare<N>(a, b, 1, op_.is_signed);
  for (std::size_t i = 0; i < N; ++i) {
    result_.lane[i] = lanes::lane_bit(less ^ ~wanted, i) != 0 ? a[i] : b[i];
  }
  commit(op_.destination[0], result_);
}

template <int N>
void Executor<N>::multiply_add_high() {
  LaneRow low;
  LaneRow c_high;
  static_cast<void>(lanes::multiply_add_wide<N>(low.lane.data(), result_.lane.data(), a(), b(), c(),
                                                fetch(op_.c[1], c_high), op_.is_signed));
  commit(op_.destination[0], result_);
}

// Functions on bits and between lanes; false if it is none of them.
template <int N>
bool Executor<N>::run_across(Word* d) {
  switch (op_.function) {
    case Function::kShuffle:
    case Function::kTransposeMatrix:
      if constexpr (N > 1) {
        if (op_.function == Function::kShuffle) {
          set_predicate(op_.predicate_out, lanes::shuffle(d, a(), b(), c(), op_.immediate));
        } else {
          lanes::transpose_matrix(d, a());
        }
      }
      return true;
    case Function::kLeadingBit:
      lanes::leading_bit<N>(d, b(), op_.is_signed, op_.immediate != 0);
      set_predicate(op_.predicate_out, lanes::mask_of<N>([&](std::size_t i) { return d[i] != kAllLanes; }));
      return true;
    case Function::kCountBits:
      lanes::count_bits<N>(d, b());
      return true;
    case Function::kReverseBits:
      lanes::reverse_bits<N>(d, b());
      return true;
    default:
      return false;
  }
}

template <int N>
void Executor<N>::move() {
  for (std::size_t part = 0; part < 2; ++part) {
    if (op_.destination[part] != kNoDestination) {
      std::memcpy(result_.lane.data(), fetch(op_.b[part], b_), N * sizeof(Word));
      commit(op_.destination[part], result_);
    }
  }
}

template <int N>
void Executor<N>::multiply_add() {
  Word* d = result_.lane.data();
  lanes::multiply_add<N>(d, a(), b(), c());
  if (op_.carry_in) {
    const Word in = predicate(op_.predicate_in);
    for (std::size_t i = 0; i < N; ++i) {
      d[i] += lanes::lane_bit(in, i);
    }
  }
  commit(op_.destination[0], result_);
}

template <int N>
void Executor<N>::multiply_add_wide() {
  LaneRow high;
  LaneRow c_high;
  const Word carry = lanes::multiply_add_wide<N>(result_.lane.data(), high.lane.data(), a(), b(), c(),
                                                 fetch(op_.c[1], c_high), op_.is_signed);
  commit(op_.destination[0], result_);
  commit(op_.destination[1], high);
  set_predicate(op_.predicate_out, carry);
}

template <int N>
void Executor<N>::run() {
  Word* d = result_.lane.data();
  switch (op_.function) {
    case Function::kMove:
      return move();
    case Function::kSelect:
      return select();
    case Function::kAdd3:
      return add3();
    case Function::kMultiplyAdd:
      return multiply_add();
    case Function::kMultiplyAddWide:
      return multiply_add_wide();
    case Function::kLea:
    case Function::kLeaHigh:
      return lea();
    case Function::kLogic:
      return logic();
    case Function::kCompare:
      return compare();
    case Function::kSpecial:
      return special();
    case Function::kMinimum:
    case Function::kAddMinimum:
      return minimum();
    case Function::kMultiplyAddHigh:
      return multiply_add_high();
    case Function::kPredicateLogic:
      return predicate_logic();
    case Function::kVote:
      return vote();
    case Function::kAbsolute:
      lanes::absolute<N>(d, b());
      break;
    case Function::kShift:
      lanes::funnel_shift<N>(d, a(), b(), c(), op_);
      break;
    case Function::kPermute:
      if (op_.immediate == 0) {
        lanes::permute<N>(d, a(), b(), c());
      } else {
        lanes::permute_mode<N>(d, a(), b(), c(), op_.immediate);
      }
      break;
    case Function::kDoubleFma:
    case Function::kDoubleAdd:
    case Function::kDoubleMultiply:
      return double_fma();
    case Function::kFloatCompare:
      return float_compare();
    case Function::kDivisionCheck:
      return set_predicate(op_.predicate_out, lanes::needs_slow_division<N>(a(), b()));
    case Function::kFloatToFloat:
    case Function::kFloatToWideInteger:
      return convert_to_pair();
    case Function::kIndexedConstant:
      return indexed_constant();
    case Function::kPredicatesToBits:
      return bits_of_predicates();
    case Function::kBitsToPredicates:
      return predicates_of_bits();
    case Function::kToUniform:
      registers_.uniform[op_.destination[0]] = a()[std::countr_zero(mask_)];
      return;
    default:
      if (!run_float(d)) {
        static_cast<void>(run_across(d));
      }
      break;
  }
  commit(op_.destination[0], result_);
}

bool is_known_function(unsigned number) { return (number >= 2 && number <= 5) || number == 8; }

void execute(const Operation& operation, std::uint32_t mask, const MicroProgram& program, const WarpPosition& position,
             WarpRegisters& registers) {
  if (operation.uniform) {
    if (mask != 0) {
      Executor<1>(operation, mask, program, position, registers).run();
    }
    return;
  }
  if (mask != 0) {
    Executor<isa::kWarpSize>(operation, mask, program, position, registers).run();
  }
}

}  // namespace tilesim::traces
