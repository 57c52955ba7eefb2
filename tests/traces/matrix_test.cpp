#include "traces/emulator/matrix.h"

#include <bit>

#include "tests/support/catch.h"
#include "traces/emulator/half_precision.h"

namespace tilesim::traces {
namespace {

using Type = MatrixOperation::Type;

// Registers of one HMMA: A in rows 0-3, B in 4-5, C in 6-9, D in 10-13.
struct Fixture {
  explicit Fixture(Type type, unsigned depth, bool half_accumulator = false) {
    operation.type = type;
    operation.depth = static_cast<std::uint8_t>(depth);
    operation.half_accumulator = half_accumulator;
    operation.a = {0, 1, 2, 3};
    operation.b = {4, 5};
    operation.c = {6, 7, 8, 9};
    operation.d = {10, 11, 12, 13};
  }
  // Sets 16 bits: register `row` of a lane, low or high half.
  void set_half(std::size_t row, std::size_t lane, unsigned half, float value) {
    const std::uint32_t bits =
        to_half(value, operation.type == Type::kBfloat16 ? HalfType::kBfloat16 : HalfType::kFloat16);
    std::uint32_t& cell = rows[row].lane[lane];
    cell = (cell & ~(0xffffU << (16 * half))) | bits << (16 * half);
  }
  void set(std::size_t row, std::size_t lane, float value) {
    rows[row].lane[lane] = std::bit_cast<std::uint32_t>(value);
  }
  [[nodiscard]] float result(std::size_t i, std::size_t lane) const {
    return std::bit_cast<float>(rows[10 + i].lane[lane]);
  }
  void run() { multiply_matrices(operation, rows.data()); }

  MatrixOperation operation;
  std::array<LaneRow, 14> rows{};
};

}  // namespace

// PTX ISA, m16n8k16: lane 4 g + t holds A[g + 8 (i % 2)][2 t + 8 (i / 2) ..] in register i, B[2 t + 8 i ..][g] in
// register i, and C[g + 8 (i / 2)][2 t + i % 2] in register i.
TEST_CASE("an element of A meets the element of B with the same k") {
  Fixture test(Type::kBfloat16, 16);
  test.set_half(3, 4 * 5 + 2, 1, 3.0F);  // A[13][2 * 2 + 8 + 1 = 13]
  test.set_half(5, 4 * 6 + 2, 1, 7.0F);  // B[13][6]
  test.set(8, 4 * 5 + 3, 0.5F);          // C[13][6]
  test.run();
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(test.result(i, lane) == (lane == 23 && i == 2 ? 21.5F : 0.0F));
    }
  }
}

TEST_CASE("shallow fragments: 8 deep in 16 bits, 8 and 4 deep in TF32") {
  Fixture half(Type::kFloat16, 8);
  half.set_half(1, 4 * 2 + 3, 0, 2.0F);  // A[10][6]
  half.set_half(4, 4 * 1 + 3, 0, 5.0F);  // B[6][1]
  half.run();
  CHECK(half.result(3, 4 * 2) == 10.0F);  // D[10][1]
  Fixture deep(Type::kTf32, 8);
  deep.set(2, 4 * 2 + 3, 2.0F);  // A[2][7]
  deep.set(5, 4 * 1 + 3, 5.0F);  // B[7][1]
  deep.run();
  CHECK(deep.result(1, 4 * 2) == 10.0F);
  Fixture shallow(Type::kTf32, 4);
  shallow.set(1, 4 * 2 + 3, 2.0F);  // A[10][3]
  shallow.set(4, 4 * 1 + 3, 5.0F);  // B[3][1]
  shallow.run();
  CHECK(shallow.result(3, 4 * 2) == 10.0F);
}

TEST_CASE("TF32 ignores the low 13 bits of its inputs") {
  Fixture test(Type::kTf32, 8);
  test.rows[0].lane[0] = 0x3f801fff;  // 1 in TF32
  test.set(4, 0, 1.0F);
  test.run();
  CHECK(test.result(0, 0) == 1.0F);
}

TEST_CASE("FP16 accumulators come in pairs and round to nearest") {
  Fixture test(Type::kFloat16, 16, true);
  test.set_half(0, 0, 0, 1.0F);        // A[0][0]
  test.set_half(4, 0, 0, 1.0F);        // B[0][0]
  test.set_half(4, 4, 0, 0x1.8p-10F);  // B[0][1]
  test.set_half(6, 0, 1, 1.0F);        // C[0][1]
  test.run();
  CHECK(float16_to_float(static_cast<std::uint16_t>(test.rows[10].lane[0])) == 1.0F);
  CHECK(float16_to_float(static_cast<std::uint16_t>(test.rows[10].lane[0] >> 16)) == 1.0F + 0x1p-9F);
}

// Fasi et al. 2021: addends are cut off, not rounded, and partial sums within a block are exact.
TEST_CASE("addends below the last kept bit are lost, those above it add up") {
  const auto sum = [](float small, unsigned count) {
    Fixture test(Type::kBfloat16, 16);
    test.set(6, 0, 1.0F);
    for (unsigned k = 0; k < count; ++k) {  // the first 8 of K are one block
      test.set_half(k >= 8 ? 2 : 0, k % 8 / 2, k % 2, small);
      test.set_half(k >= 8 ? 5 : 4, k % 8 / 2, k % 2, 1.0F);
    }
    test.run();
    return test.result(0, 0);
  };
  CHECK(sum(0x1p-26F, 8) == 1.0F);              // below the bit under FP32's last
  CHECK(sum(0x1p-24F, 2) == 1.0F + 0x1p-23F);   // two halves of the last bit
  CHECK(sum(0x1p-24F, 1) == 1.0F);              // the result is cut off
  CHECK(sum(-0x1p-24F, 1) == 1.0F - 0x1p-24F);  // below 1 the bit is one of FP32's
  CHECK(sum(0x1p-24F, 8) == 1.0F + 0x1p-21F);
}

TEST_CASE("infinities and not-a-numbers come through") {
  Fixture test(Type::kFloat16, 8);
  test.set_half(0, 0, 0, INFINITY);
  test.set_half(4, 0, 0, 2.0F);
  test.run();
  CHECK(test.result(0, 0) == INFINITY);
  CHECK(std::isnan(test.result(1, 0)));  // infinity times zero
}

TEST_CASE("16-bit floats: every value goes to FP32 and back") {
  for (const HalfType type : {HalfType::kFloat16, HalfType::kBfloat16}) {
    unsigned different = 0;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const float value = half_to_float(static_cast<std::uint16_t>(bits), type);
      different += !std::isnan(value) && to_half(value, type) != bits ? 1 : 0;
    }
    CHECK(different == 0);
  }
}

TEST_CASE("rounding to 16 bits: nearest even, towards zero, overflow, subnormals") {
  CHECK(to_half(1.0 + 0x1p-11, HalfType::kFloat16) == 0x3c00);
  CHECK(to_half(1.0 + 0x1.8p-10, HalfType::kFloat16) == 0x3c02);
  CHECK(to_half(1.0 + 0x1.8p-10, HalfType::kFloat16, true) == 0x3c01);
  CHECK(to_half(65519.0, HalfType::kFloat16) == 0x7bff);
  CHECK(to_half(65520.0, HalfType::kFloat16) == 0x7c00);
  CHECK(to_half(1e9, HalfType::kFloat16, true) == 0x7bff);
  CHECK(to_half(-0x1p-25, HalfType::kFloat16) == 0x8000);
  CHECK(to_half(0x1.8p-25, HalfType::kFloat16) == 0x0001);
  CHECK(to_half(1.0 + 0x1p-8, HalfType::kBfloat16) == 0x3f80);
  CHECK(to_half(std::nan(""), HalfType::kBfloat16) == 0x7fff);
}

}  // namespace tilesim::traces
