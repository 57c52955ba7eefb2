#include "traces/emulator/lane_functions.h"

#include <array>

#include "tests/support/catch.h"

namespace tilesim::traces::lanes {
namespace {

Operation shift_operation(bool right, bool high, bool is_signed, bool wide, bool wrap) {
  Operation op;
  op.right = right;
  op.high = high;
  op.is_signed = is_signed;
  op.wide = wide;
  op.wrap = wrap;
  return op;
}

Word shifted(Word low, Word amount, Word high, const Operation& op) {
  Word result = 0;
  funnel_shift<1>(&result, &low, &amount, &high, op);
  return result;
}

}  // namespace

TEST_CASE("SHF in the forms that compilers use") {
  const Operation left = shift_operation(false, false, false, false, false);          // SHF.L.U32
  const Operation left_high = shift_operation(false, true, false, true, false);       // SHF.L.U64.HI
  const Operation right_signed = shift_operation(true, true, true, false, false);     // SHF.R.S32.HI
  const Operation right_unsigned = shift_operation(true, true, false, false, false);  // SHF.R.U32.HI
  const Operation funnel = shift_operation(true, false, false, false, true);          // SHF.R.W.U32
  CHECK(shifted(5, 4, 0, left) == 80);
  CHECK(shifted(5, 32, 0, left) == 0);
  CHECK(shifted(0x80000001, 1, 0x7, left_high) == 0xf);
  CHECK(shifted(0, 31, 0x80000000, right_signed) == 0xffffffff);
  CHECK(shifted(0, 40, 0x80000000, right_signed) == 0xffffffff);
  CHECK(shifted(0, 30, 0x80000000, right_unsigned) == 2);
  CHECK(shifted(0x10, 36, 0x3, funnel) == 0x30000001);
}

TEST_CASE("carry chains: subtracting zero carries out") {
  // 64-bit 5 - 0: IADD3 low, P0, 5, -0, RZ.
  Word d = 0;
  const Word five = 5;
  const Word not_zero = ~Word{0};
  const Word zero = 0;
  const Carries difference = add3_with_carry<1>(&d, &five, &not_zero, &zero, 0, 0, 1);
  CHECK(d == 5);
  CHECK(difference.first == 1);
  const Word all = ~Word{0};
  const Carries sum = add3_with_carry<1>(&d, &all, &all, &all, 0, 0, 0);
  CHECK(d == 0xfffffffd);
  CHECK(sum.first == 1);
  CHECK(sum.second == 1);
}

TEST_CASE("IMAD.WIDE signed and unsigned") {
  Word low = 0;
  Word high = 0;
  const Word a = 0xffffffff;
  const Word b = 3;
  const Word c = 10;
  const Word c_high = 1;
  CHECK(multiply_add_wide<1>(&low, &high, &a, &b, &c, &c_high, true) == 1);  // -3 + 0x10000000a
  CHECK(low == 7);
  CHECK(high == 1);
  CHECK(multiply_add_wide<1>(&low, &high, &a, &b, &c, &c_high, false) == 0);
  CHECK(low == 7);
  CHECK(high == 4);
}

TEST_CASE("LOP3 tables") {
  const Word a = 0xff00ff00;
  const Word b = 0xf0f0f0f0;
  const Word c = 0xcccccccc;
  Word d = 0;
  lookup<1>(&d, &a, &b, &c, 0xc0);
  CHECK(d == (a & b));
  lookup<1>(&d, &a, &b, &c, 0xf8);
  CHECK(d == (a | (b & c)));
  lookup<1>(&d, &a, &b, &c, 0x3c);
  CHECK(d == (a ^ b));
  lookup<1>(&d, &a, &b, &c, 0x96);
  CHECK(d == (a ^ b ^ c));
}

TEST_CASE("PRMT picks bytes and replicates signs") {
  Word d = 0;
  const Word a = 0x33221100;
  const Word c = 0x77e65544;
  const Word selector = 0x6540;
  permute<1>(&d, &a, &selector, &c);
  CHECK(d == 0xe6554400);
  const Word signs = 0x0ee0;
  permute<1>(&d, &a, &signs, &c);
  CHECK(d == 0x00ffff00);
}

TEST_CASE("comparisons by condition code") {
  const std::array<Word, 3> a{1, 5, 0xffffffff};
  const std::array<Word, 3> b{5, 5, 1};
  CHECK((compare<3>(a.data(), b.data(), 1, true) & 7) == 0b101);   // LT signed
  CHECK((compare<3>(a.data(), b.data(), 1, false) & 7) == 0b001);  // LT unsigned
  CHECK((compare<3>(a.data(), b.data(), 2, true) & 7) == 0b010);   // EQ
  CHECK((compare<3>(a.data(), b.data(), 3, true) & 7) == 0b111);   // LE
  CHECK((compare<3>(a.data(), b.data(), 4, false) & 7) == 0b100);  // GT
  CHECK((compare<3>(a.data(), b.data(), 5, true) & 7) == 0b101);   // NE
  CHECK((compare<3>(a.data(), b.data(), 6, true) & 7) == 0b010);   // GE
  CHECK((compare<3>(a.data(), b.data(), 7, true) & 7) == 0b111);
  CHECK((compare<3>(a.data(), b.data(), 0, true) & 7) == 0);
}

TEST_CASE("LEA.HI shifts the pair and takes its high word") {
  Word d = 0;
  const Word low = 0xc0000000;
  const Word high = 0x1;
  shifted_high<1>(&d, &low, &high, 2);
  CHECK(d == 7);
  shifted_high<1>(&d, &low, &high, 0);
  CHECK(d == 1);
}

TEST_CASE("I2F rounds as told, F2I cuts, clamps and takes not-a-number for zero") {
  const auto to_float = [](Word value, bool is_signed, unsigned rounding) {
    Word d = 0;
    integer_to_float<1>(&d, &value, 32, is_signed, rounding);
    return std::bit_cast<float>(d);
  };
  CHECK(to_float(16777217, true, 0) == 16777216.0F);
  CHECK(to_float(16777217, true, 2) == 16777218.0F);
  CHECK(to_float(16777217, true, 3) == 16777216.0F);
  CHECK(to_float(0xffffffff, true, 0) == -1.0F);
  CHECK(to_float(0xffffffff, false, 1) == 4294967040.0F);
  CHECK(to_float(0xffffffff, false, 2) == 4294967296.0F);
  const auto to_integer = [](float value, bool is_signed) {
    Word d = 0;
    const Word a = std::bit_cast<Word>(value);
    float_to_integer<1>(&d, &a, is_signed, 3);
    return d;
  };
  CHECK(to_integer(-1.9F, true) == 0xffffffff);
  CHECK(to_integer(-1.9F, false) == 0);
  CHECK(to_integer(1e20F, false) == 0xffffffff);
  CHECK(to_integer(1e20F, true) == 0x7fffffff);
  CHECK(to_integer(NAN, true) == 0);
}

}  // namespace tilesim::traces::lanes
