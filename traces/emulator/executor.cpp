#include "traces/emulator/executor.h"

#include <bit>
#include <cstring>

#include "traces/emulator/float_functions.h"
#include "traces/emulator/lane_functions.h"
#include "traces/emulator/warp_functions.h"
#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

using lanes::Word;
constexpr Word kAllLanes = ~Word{0};
// Special registers that hold lane masks relative to the reading lane.
constexpr int kSrEqualMask = 56;
constexpr int kSrLessMask = 57;
constexpr int kSrLessEqualMask = 58;
constexpr int kSrGreaterMask = 59;
constexpr int kSrGreaterEqualMask = 60;

std::uint32_t apply(Word value, Change change) {
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

Word pick(Word value, Halves halves) {
  return halves == Halves::kBoth ? value : (halves == Halves::kLowTwice ? value & 0xffff : value >> 16) * 0x10001U;
}

// Buffers of one operation, and the paths between them and the registers. N lanes.
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
  const auto combine = [&](Word value) {
    return op_.boolean == 0 ? value & in : op_.boolean == 1 ? value | in : value ^ in;
  };
  set_predicate(op_.predicate_out, combine(holds));
  set_predicate(op_.predicate_out2, combine(~holds));
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
void Executor<N>::special() {
  const isa::Dim3& block = position_.block;
  for (unsigned i = 0; i < N; ++i) {
    const unsigned thread = position_.first_thread + i;
    Word value = 0;
    switch (op_.immediate) {
      case kSrLaneId:
        value = i;
        break;
      case kSrTidX:
        value = thread % block.x;
        break;
      case kSrTidY:
        value = thread / block.x % block.y;
        break;
      case kSrTidZ:
        value = thread / (block.x * block.y);
        break;
      case kSrCtaidX:
      case kSrCtaidY:
      case kSrCtaidZ:
        value = position_.cta[op_.immediate - static_cast<unsigned>(kSrCtaidX)];
        break;
      case kSrEqualMask:
        value = 1U << i;
        break;
      case kSrLessMask:
        value = (1U << i) - 1;
        break;
      case kSrLessEqualMask:
        value = (2U << i) - 1;
        break;
      case kSrGreaterMask:
        value = ~((2U << i) - 1);
        break;
      case kSrGreaterEqualMask:
        value = ~((1U << i) - 1);
        break;
      default:  // SR_CgaCtaId without clusters, SRZ
        break;
    }
    result_.lane[i] = value;
  }
  commit(op_.destination[0], result_);
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

template <int N>
void Executor<N>::predicate_logic() {
  const Word a = predicate(op_.predicate_in);
  const Word b = predicate(op_.predicate_in2);
  const Word c = predicate(op_.predicate_in3);
  const auto look_up = [&](unsigned table) {
    Word result = 0;
    for (unsigned term = 0; term < 8; ++term) {
      if ((table >> term & 1) != 0) {
        result |= ((term & 4) != 0 ? a : ~a) & ((term & 2) != 0 ? b : ~b) & ((term & 1) != 0 ? c : ~c);
      }
    }
    return result;
  };
  set_predicate(op_.predicate_out, look_up(op_.immediate));
  set_predicate(op_.predicate_out2, look_up(op_.immediate2));
}

// Of the active lanes; on the uniform datapath with a predicate of the lanes.
template <int N>
void Executor<N>::vote() {
  constexpr unsigned kAny = 1;
  constexpr unsigned kEqual = 2;
  const Word ballot = predicate(op_.predicate_in) & mask_;
  const bool holds = op_.immediate == kAny     ? ballot != 0
                     : op_.immediate == kEqual ? ballot == 0 || ballot == mask_
                                               : ballot == mask_;
  result_.lane.fill(ballot);
  commit(op_.destination[0], result_);
  set_predicate(op_.predicate_out, holds ? kAllLanes : 0);
}

// DFMA, DADD (a * 1 + b), DMUL (a * b - 0).
template <int N>
void Executor<N>::double_fma() {
  LaneRow buffers[3];
  LaneRow high{};
  LaneRow nothing{};
  const Word* const zero = nothing.lane.data();
  const Word* const x[2] = {a(), fetch(op_.a[1], buffers[0])};
  const Word* y[2] = {b(), fetch(op_.b[1], buffers[1])};
  const Word* z[2] = {c(), fetch(op_.c[1], buffers[2])};
  LaneRow constant;
  if (op_.function == Function::kDoubleAdd) {
    constant.lane.fill(0x3ff00000U);  // 1
    z[0] = y[0];
    z[1] = y[1];
    y[0] = zero;
    y[1] = constant.lane.data();
  } else if (op_.function == Function::kDoubleMultiply) {
    constant.lane.fill(0x80000000U);  // -0
    z[0] = zero;
    z[1] = constant.lane.data();
  }
  lanes::double_fma<N>(result_.lane.data(), high.lane.data(), x, y, z);
  commit_pair(high);
}

template <int N>
void Executor<N>::convert_to_pair() {
  LaneRow high{};
  LaneRow buffer;
  Word* d = result_.lane.data();
  if (op_.function == Function::kFloatToFloat) {
    lanes::float_to_float<N>(d, high.lane.data(), b(), fetch(op_.b[1], buffer), op_);
  } else {
    lanes::float_to_wide_integer<N>(d, high.lane.data(), b(), op_.is_signed, op_.rounding);
  }
  commit_pair(high);
}

template <int N>
void Executor<N>::float_compare() {
  const Word holds = lanes::float_compare<N>(a(), b(), op_);
  const Word in = predicate(op_.predicate_in);
  const auto combine = [&](Word value) {
    return op_.boolean == 0 ? value & in : op_.boolean == 1 ? value | in : value ^ in;
  };
  set_predicate(op_.predicate_out, combine(holds));
  set_predicate(op_.predicate_out2, combine(~holds));
}

// LDC with an index in a register; zeros outside the bank.
template <int N>
void Executor<N>::indexed_constant() {
  constexpr unsigned kBytes[] = {1, 1, 2, 2, 4, 8, 16, 0};
  const unsigned bytes = kBytes[op_.immediate & 7];
  const std::vector<std::byte>& bank = program_.banks[op_.bank];
  const Word* index = a();
  LaneRow high{};
  for (std::size_t i = 0; i < N; ++i) {
    const std::int64_t place = std::int64_t{static_cast<std::int32_t>(index[i])} + op_.offset;
    std::uint64_t value = 0;
    if (place >= 0 && static_cast<std::uint64_t>(place) + bytes <= bank.size()) {
      std::memcpy(&value, bank.data() + place, std::min<std::size_t>(bytes, sizeof value));
    }
    const unsigned unused = 64 - 8 * std::min(bytes, 8U);
    const bool sign = op_.immediate == 1 || op_.immediate == 3;
    value = sign ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused) : value;
    result_.lane[i] = static_cast<Word>(value);
    high.lane[i] = static_cast<Word>(value >> 32);
  }
  commit_pair(high);
}

// P2R: byte `immediate` of a, where the mask b has bits, becomes the predicates.
template <int N>
void Executor<N>::bits_of_predicates() {
  const Word* old = a();
  const Word* mask = b();
  for (std::size_t i = 0; i < N; ++i) {
    Word bits = 0;
    for (std::size_t p = 0; p < kPredicatePt; ++p) {
      bits |= lanes::lane_bit(registers_.predicates[p], i) << p;
    }
    const unsigned shift = 8U * op_.immediate;
    result_.lane[i] = (old[i] & ~(mask[i] << shift)) | (bits & mask[i]) << shift;
  }
  commit(op_.destination[0], result_);
}

template <int N>
void Executor<N>::predicates_of_bits() {
  const Word* bits = a();
  const Word* mask = b();
  for (std::uint8_t p = 0; p < kPredicatePt; ++p) {
    const Word value =
        lanes::mask_of<N>([&](std::size_t i) { return (bits[i] >> (8U * op_.immediate) >> p & 1) != 0; });
    const Word written = lanes::mask_of<N>([&](std::size_t i) { return (mask[i] >> p & 1) != 0; });
    set_predicate(p, (value & written) | (registers_.predicates[p] & ~written));
  }
}

// Functions on floating-point numbers; false if it is none of them.
template <int N>
bool Executor<N>::run_float(Word* d) {
  const bool plain = !op_.flush && !op_.saturate && op_.rounding == 0;
  LaneRow other;
  switch (op_.function) {
    case Function::kSpecialFunction:
      lanes::special_function<N>(d, b(), op_.immediate);
      return true;
    case Function::kFloatFma:
      if (plain) {
        lanes::float_fma<N>(d, a(), b(), c());
      } else {
        lanes::float_fma<N>(d, a(), b(), c(), op_);
      }
      return true;
    case Function::kFloatAdd:
      if (plain) {
        lanes::float_add<N>(d, a(), b());
      } else {
        other.lane.fill(0x3f800000U);  // a * 1 + b
        lanes::float_fma<N>(d, a(), other.lane.data(), b(), op_);
      }
      return true;
    case Function::kFloatMultiply:
      if (plain) {
        lanes::float_multiply<N>(d, a(), b());
      } else {
        other.lane.fill(0x80000000U);  // a * b - 0
        lanes::float_fma<N>(d, a(), b(), other.lane.data(), op_);
      }
      return true;
    case Function::kFloatMinimum:
      lanes::float_minimum<N>(d, a(), b(), predicate(op_.predicate_in), op_.merge);
      return true;
    case Function::kHalfFma:
      lanes::half_fma<N>(d, a(), b(), c(), op_);
      return true;
    case Function::kHalfAdd:
      other.lane.fill(op_.bfloat ? 0x3f803f80U : 0x3c003c00U);
      if (op_.wide_result) {
        lanes::half_add_wide<N>(d, a(), b(), op_);
      } else {
        lanes::half_fma<N>(d, a(), other.lane.data(), b(), op_);
      }
      return true;
    case Function::kHalfMultiply:
      other.lane.fill(0x80008000U);
      lanes::half_fma<N>(d, a(), b(), other.lane.data(), op_);
      return true;
    case Function::kHalfPack:
      lanes::pack_halves<N>(d, a(), b(), c(), op_);
      return true;
    case Function::kIntegerToFloat:
      lanes::integer_to_float<N>(d, b(), 8U << op_.immediate, op_.is_signed, op_.rounding);
      return true;
    case Function::kFloatToInteger:
      lanes::float_to_integer<N>(d, b(), op_.is_signed, op_.rounding);
      return true;
    case Function::kWideIntegerToFloat:
      lanes::wide_integer_to_float<N>(d, b(), fetch(op_.b[1], other), op_.is_signed, op_.rounding);
      return true;
    default:
      return false;
  }
}

// Functions on bits and between lanes; false if it is none of them.
template <int N>
bool Executor<N>::run_across(Word* d) {
  switch (op_.function) {
    case Function::kShuffle:
      if constexpr (N > 1) {
        set_predicate(op_.predicate_out, lanes::shuffle(d, a(), b(), c(), op_.immediate));
      }
      return true;
    case Function::kTransposeMatrix:
      if constexpr (N > 1) {
        lanes::transpose_matrix(d, a());
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

}  // namespace

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
