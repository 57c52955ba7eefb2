#include "model/roofline.h"

#include <limits>

#include "tests/model/tile_fixtures.h"

namespace tilesim::model {
namespace {

TEST_CASE("Roofline L03, L13: 3456 x 4096 x 4096, both FLOP conventions, bytes, intensity, bandwidth") {
  const Problem problem = problem_of(3456, 4096, 4096);
  CHECK(gemm_flops(problem)->products == 115964116992);
  CHECK(gemm_flops(problem)->products_and_beta == 115992428544);
  CHECK(gemm_bytes(problem)->total() == 180355072);
  CHECK(problem_intensity(problem)->flop_per_byte == Approx(643).margin(0.5));
  CHECK(180355072 / 9.30172e-3 / (1 << 30) == Approx(18.06).margin(0.005));
}

TEST_CASE("Roofline L03: the A10's peak at boost and base clock") {
  CHECK(peak_flops_per_second(128, 72, 1695) == Approx(31.2e12).epsilon(0.002));
  CHECK(peak_flops_per_second(128, 72, 885) == Approx(16.3e12).epsilon(0.002));
}

TEST_CASE("Roofline L05: tensor peaks depend on the clock") {
  // A100: 108 SMs, 1,024 dense FP16 multiply-adds per cycle; H100: 132 SMs, 4 * 512
  CHECK(peak_flops_per_second(1024, 108, 1095) == Approx(242e12).epsilon(0.002));
  CHECK(peak_flops_per_second(1024, 108, 1305) == Approx(289e12).epsilon(0.002));
  CHECK(peak_flops_per_second(1024, 108, 1410) == Approx(312e12).epsilon(0.002));
  CHECK(peak_flops_per_second(2048, 132, 1830) == Approx(989e12).epsilon(0.001));
}

TEST_CASE("Roofline L01: shares of the dense and of the sparse peak") {
  CHECK(share_of_peak(5.09e14, 990e12).sparse_percent == Approx(25.7).margin(0.05));
  CHECK(share_of_peak(5.09e14, 990e12).dense_percent == Approx(51.4).margin(0.05));
  CHECK(share_of_peak(8.13e14, 1979e12).dense_percent == Approx(41.1).margin(0.05));
}

TEST_CASE("Roofline L07, K09: the linear layer 19,008 x 768 x 3,072 in FP16") {
  const Problem problem = problem_of(19008, 3072, 768, DataType::kF16);
  CHECK(gemm_flops(problem)->products == 89690996736);
  CHECK(gemm_bytes(problem)->total() == 150700032);
  CHECK(problem_intensity(problem)->flop_per_byte == Approx(595.2).margin(0.05));
}

TEST_CASE("Roofline D07: FLOPs and bytes of the skinny T4 problem") {
  const Problem problem = problem_of(4096, 32, 25088);
  CHECK(gemm_flops(problem)->products_and_beta == 6576930816);
  CHECK(gemm_bytes(problem)->total() == 414777344);
  CHECK(problem_intensity(problem)->flop_per_byte == Approx(15.9).margin(0.05));
}

TEST_CASE("Roofline F01: least time of 4096 x 2112 x 7168 at 989 TFLOP/s") {
  CHECK(static_cast<double>(gemm_flops(problem_of(4096, 2112, 7168))->products) / 989e12 * 1e6 ==
        Approx(125.4).margin(0.05));
}

TEST_CASE("Roofline: verdict changes at the ridge") {
  const GpuSpec gpu = shipped_gpu("article-card");
  CHECK(roofline(problem_of(4096, 4096, 4096), gpu)->bound == Bound::kCompute);
  const auto memory = roofline(problem_of(4096, 4096, 8), gpu);
  REQUIRE(memory);
  CHECK(memory->bound == Bound::kMemory);
  CHECK(memory->attainable == Approx(memory->intensity.flop_per_byte * 3.35e12));
  CHECK(roofline(problem_of(4096, 4096, 4096), gpu, 750.0)->peak_flops == Approx(26.88e12));
}

TEST_CASE("Roofline: zero, negative, huge and overflowing problems name the value and a remedy") {
  constexpr std::int64_t kHuge = 2147483648;
  const auto limits = std::numeric_limits<std::int64_t>();
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-4}, kHuge, limits.max(), limits.min()}) {
    for (Problem problem : {problem_of(bad, 128, 128), problem_of(128, bad, 128), problem_of(128, 128, bad)}) {
      const auto flops = gemm_flops(problem);
      REQUIRE_FALSE(flops);
      CHECK(flops.error().message.find(std::to_string(bad)) != std::string::npos);
      CHECK_FALSE(flops.error().remedy.empty());
    }
  }
  const Problem overflow = problem_of(kHuge - 1, kHuge - 1, kHuge - 1);
  REQUIRE_FALSE(validate_problem(overflow));
  CHECK(validate_problem(overflow).error().message.find("2147483647") != std::string::npos);
  Problem parts = problem_of(128, 128, 128);
  parts.split_k = 4;  // C is written four times: 64 KiB each, as much as A and B
  CHECK(gemm_bytes(parts)->total() == 6 * 65536);
  CHECK(problem_intensity(parts)->flop_per_byte == Approx(2.0 * 128 * 128 * 128 / (6 * 65536)));
  parts.split_k = 0;
  CHECK_FALSE(validate_problem(parts));
  parts.split_k = 1;
  parts.batch = 65536;
  CHECK_FALSE(validate_problem(parts));
}

}  // namespace
}  // namespace tilesim::model
