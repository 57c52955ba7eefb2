#include "traces/emulator/functional.h"

#include <cmath>
#include <cstring>
#include <random>

#include "tests/support/catch.h"
#include "tests/traces/test_kernels.h"
#include "traces/emulator/half_precision.h"
#include "traces/emulator/matrix.h"

namespace tilesim::traces {
namespace {

DeviceMemory allocate(const LaunchParameters& launch) {
  auto memory = DeviceMemory::allocate(launch.arguments);
  REQUIRE(memory.has_value());
  return std::move(*memory);
}

std::span<float> floats(DeviceMemory& memory, std::size_t argument) {
  const std::span<std::byte> bytes = memory.bytes(argument);
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

void fill_random(std::span<float> values, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
  for (float& value : values) {
    value = distribution(generator);
  }
}

// C = A B in double, compared within the bound of a K-term FP32 sum; poisoned elements are NaN and compare unequal.
void check_product(DeviceMemory& memory, const Shape& shape) {
  const auto a = floats(memory, 3);
  const auto b = floats(memory, 4);
  const auto c = floats(memory, 5);
  std::size_t wrong = 0;
  for (int i = 0; i < shape.m; ++i) {
    for (int j = 0; j < shape.n; ++j) {
      double sum = 0;
      double magnitude = 0;
      for (int k = 0; k < shape.k; ++k) {
        const double term = static_cast<double>(a[static_cast<std::size_t>(i * shape.k + k)]) *
                            b[static_cast<std::size_t>(k * shape.n + j)];
        sum += term;
        magnitude += std::abs(term);
      }
      const double bound = shape.k * 0x1p-24 * magnitude;
      const double error = std::abs(c[static_cast<std::size_t>(i * shape.n + j)] - sum);
      wrong += error <= bound ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("each kernel computes the product on several CTAs and K-steps") {
  for (const TestKernel& test : sgemm_kernels()) {
    const Shape shape{test.bm * 2, test.bn * 3, test.bk * 5};
    const DecodedKernel kernel = load_kernel(test.name + ".sass");
    const LaunchParameters launch = launch_for(test, shape);
    DeviceMemory memory = allocate(launch);
    fill_random(floats(memory, 3), 1);
    fill_random(floats(memory, 4), 2);
    std::memset(memory.bytes(5).data(), 0xff, memory.bytes(5).size());
    const auto executed = run_functional(kernel, launch, memory);
    INFO(test.name);
    REQUIRE(executed.has_value());
    CHECK(*executed > 0);
    check_product(memory, shape);
  }
}

TEST_CASE("functional and timing mode execute the same instructions") {
  const TestKernel& test = sgemm_kernels()[3];
  const Shape shape{128, 128, 64};
  const auto kernel = open_kernel(test, shape);
  DeviceMemory memory = allocate(kernel->launch());
  const auto executed = run_functional(kernel->decoded(), kernel->launch(), memory);
  REQUIRE(executed.has_value());
  std::uint64_t steps = 0;
  const auto cta = kernel->open(0, nullptr);
  isa::DynamicInstruction instruction;
  for (int w = 0; w < cta->warp_count(); ++w) {
    while (!cta->warp(w).exited()) {
      REQUIRE(cta->warp(w).step(instruction));
      ++steps;
    }
  }
  CHECK(*executed == steps);
}

TEST_CASE("selected CTAs write their tiles only") {
  const TestKernel& test = sgemm_kernels()[0];
  const Shape shape{64, 96, 96};
  const LaunchParameters launch = launch_for(test, shape);
  DeviceMemory memory = allocate(launch);
  fill_random(floats(memory, 3), 3);
  fill_random(floats(memory, 4), 4);
  std::memset(memory.bytes(5).data(), 0xff, memory.bytes(5).size());
  const std::uint64_t cta = 4;  // column 1, row 1
  REQUIRE(run_functional(load_kernel(test.name + ".sass"), launch, memory, {&cta, 1}).has_value());
  const auto c = floats(memory, 5);
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < 96; ++j) {
      REQUIRE(std::isnan(c[i * 96 + j]) == !(i >= 32 && j >= 32 && j < 64));
    }
  }
}

TEST_CASE("functional mode reports accesses outside an allocation") {
  const TestKernel& test = sgemm_kernels()[0];
  LaunchParameters launch = launch_for(test, {64, 64, 64});
  launch.grid.x = 3;
  DeviceMemory memory = allocate(launch);
  const auto executed = run_functional(load_kernel(test.name + ".sass"), launch, memory);
  REQUIRE_FALSE(executed.has_value());
  CHECK(executed.error().message.find("outside every allocation") != std::string::npos);
}

TEST_CASE("grids of more CTAs than can be listed are refused, parts of them run") {
  const TestKernel& test = sgemm_kernels()[0];
  LaunchParameters launch = launch_for(test, {32, 32, 32});
  launch.grid.x = (1U << 24) + 1;
  const DecodedKernel kernel = load_kernel(test.name + ".sass");
  DeviceMemory memory = allocate(launch);
  const auto executed = run_functional(kernel, launch, memory);
  REQUIRE_FALSE(executed.has_value());
  CHECK(executed.error().kind == ErrorKind::kUsage);
  CHECK(executed.error().message.find("16777217 CTAs") != std::string::npos);
  const auto streams = SassKernel::create(kernel, launch);
  REQUIRE(streams.has_value());
  const auto walked = run_streams(**streams);
  REQUIRE_FALSE(walked.has_value());
  CHECK(walked.error().message.find("16777217 CTAs") != std::string::npos);
  const std::uint64_t first = 0;
  CHECK(run_functional(kernel, launch, memory, {&first, 1}).has_value());
}

TEST_CASE("functional mode refuses memory that is too large or another launch's") {
  const auto huge = parse_arguments("ptr:3GiB,ptr:3GiB");
  REQUIRE(huge.has_value());
  CHECK_FALSE(DeviceMemory::allocate(*huge).has_value());
  const TestKernel& test = sgemm_kernels()[0];
  DeviceMemory small = allocate(launch_for(test, {32, 32, 32}));
  CHECK_FALSE(run_functional(load_kernel(test.name + ".sass"), launch_for(test, {64, 64, 64}), small).has_value());
}

TEST_CASE("tensor kernels compute the product of bf16 matrices within the tensor cores' rounding") {
  for (const TestKernel& test : hgemm_kernels()) {
    const Shape shape{test.bm * 2, test.bn, test.bk * 5};
    const LaunchParameters launch = launch_for(test, shape);
    DeviceMemory memory = allocate(launch);
    std::mt19937 generator(5);
    std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
    std::vector<float> inputs[2];
    for (const std::size_t which : {0U, 1U}) {
      const std::span<std::byte> bytes = memory.bytes(3 + which);
      for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
        const std::uint16_t element = to_half(distribution(generator), HalfType::kBfloat16);
        std::memcpy(&bytes[2 * i], &element, sizeof element);
        inputs[which].push_back(bfloat16_to_float(element));
      }
    }
    std::memset(memory.bytes(5).data(), 0xff, memory.bytes(5).size());
    const auto executed = run_functional(load_kernel(test.name + ".sass"), launch, memory);
    INFO(test.name << (executed ? "" : ": " + executed.error().message));
    REQUIRE(executed.has_value());
    const auto c = floats(memory, 5);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      const std::size_t k = static_cast<std::size_t>(shape.k);
      const float* row = &inputs[0][i / static_cast<std::size_t>(shape.n) * k];
      const float* column = &inputs[1][i % static_cast<std::size_t>(shape.n) * k];  // B is stored N x K
      double sum = 0;
      double magnitude = 0;
      for (std::size_t l = 0; l < k; ++l) {
        sum += double{row[l]} * column[l];
        magnitude += std::abs(double{row[l]} * column[l]);
      }
      wrong += std::abs(c[i] - sum) <= matrix_error_bound(shape.k, false) * magnitude ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

}  // namespace tilesim::traces
