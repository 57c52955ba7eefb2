#include "tests/traces/cubin_gemm.h"

#include <cmath>
#include <random>
#include <span>

#include "tests/support/catch.h"
#include "traces/emulator/functional.h"

namespace tilesim::traces {
namespace {

std::span<float> floats(DeviceMemory& memory, std::size_t argument) {
  const std::span<std::byte> bytes = memory.bytes(argument);
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace

CubinKernel only_kernel(const std::string& path) {
  const auto cubin = read_cubin(path);
  REQUIRE(cubin.has_value());
  const auto chosen = choose_kernel(*cubin, "");
  REQUIRE(chosen.has_value());
  return **chosen;
}

LaunchParameters launch_of(const CubinKernel& kernel, const Gemm& gemm) {
  LaunchParameters launch;
  launch.grid = {static_cast<std::uint32_t>((gemm.n + gemm.bn - 1) / gemm.bn),
                 static_cast<std::uint32_t>((gemm.m + gemm.bm - 1) / gemm.bm), 1};
  launch.block.x = static_cast<std::uint32_t>(gemm.threads);
  constexpr std::uint64_t kDynamic = 200 * 1024;  // kernels without static shared memory take theirs at the launch
  launch.shared_bytes = kernel.static_shared_bytes != 0 ? kernel.static_shared_bytes : kDynamic;
  const auto arguments = parse_arguments(
      "i32:" + std::to_string(gemm.m) + ",i32:" + std::to_string(gemm.n) + ",i32:" + std::to_string(gemm.k) +
      ",ptr:" + std::to_string(4 * gemm.m * gemm.k) + ",ptr:" + std::to_string(4 * gemm.k * gemm.n) +
      ",ptr:" + std::to_string(4 * gemm.m * gemm.n) + ",f32:1,f32:0");
  REQUIRE(arguments.has_value());
  launch.arguments = *arguments;
  return launch;
}

void check_product(const DecodedKernel& kernel, const LaunchParameters& launch, const Gemm& gemm) {
  auto memory = DeviceMemory::allocate(launch.arguments);
  REQUIRE(memory.has_value());
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
  for (const std::size_t argument : {3, 4}) {
    for (float& value : floats(*memory, argument)) {
      value = distribution(generator);
    }
  }
  const auto executed = run_functional(kernel, launch, *memory);
  INFO((executed ? "" : executed.error().message + " " + executed.error().where));
  REQUIRE(executed.has_value());
  const auto a = floats(*memory, 3);
  const auto b = floats(*memory, 4);
  const auto c = floats(*memory, 5);
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  std::size_t wrong = 0;
  for (int i = 0; i < gemm.m; ++i) {
    for (int j = 0; j < gemm.n; ++j) {
      double sum = 0;
      double magnitude = 0;
      for (int l = 0; l < gemm.k; ++l) {
        const double term = static_cast<double>(a[at(gemm.transposed_a ? l * gemm.m + i : i * gemm.k + l)]) *
                            b[at(gemm.transposed_b ? j * gemm.k + l : l * gemm.n + j)];
        sum += term;
        magnitude += std::abs(term);
      }
      wrong += std::abs(c[at(i * gemm.n + j)] - sum) <= gemm.k * 0x1p-24 * magnitude ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace tilesim::traces
