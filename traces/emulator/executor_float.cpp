// Operations on floating-point numbers.
#include "traces/emulator/float_functions.h"
#include "traces/emulator/lane_executor.h"
#include "traces/emulator/warp_functions.h"

namespace tilesim::traces {

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
  set_predicate(op_.predicate_out, combine(holds, in));
  set_predicate(op_.predicate_out2, combine(~holds, in));
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

template void Executor<1>::double_fma();
template void Executor<isa::kWarpSize>::double_fma();
template void Executor<1>::convert_to_pair();
template void Executor<isa::kWarpSize>::convert_to_pair();
template void Executor<1>::float_compare();
template void Executor<isa::kWarpSize>::float_compare();
template bool Executor<1>::run_float(Word* d);
template bool Executor<isa::kWarpSize>::run_float(Word* d);

}  // namespace tilesim::traces
