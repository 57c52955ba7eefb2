#include "tests/traces/cubin_gemm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "tests/support/catch.h"
#include "traces/emulator/functional.h"
#include "traces/emulator/half_precision.h"

namespace tilesim::traces {
namespace {

/// Fills the matrix that `argument` points to with random numbers; returns them as the type holds them.
std::vector<double> random_matrix(DeviceMemory& memory, std::size_t argument, model::DataType dtype,
                                  std::mt19937& generator) {
  std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
  const std::span<std::byte> bytes = memory.bytes(argument);
  const auto size = static_cast<std::size_t>(model::element_bytes(dtype));
  std::vector<double> values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    float value = distribution(generator);
    std::uint32_t stored = std::bit_cast<std::uint32_t>(value);
    if (dtype == model::DataType::kBf16) {
      stored >>= 16;
      value = bfloat16_to_float(static_cast<std::uint16_t>(stored));
    } else if (dtype == model::DataType::kF16) {
      stored = to_half(static_cast<double>(value), HalfType::kFloat16);
      value = float16_to_float(static_cast<std::uint16_t>(stored));
    } else if (dtype == model::DataType::kTf32) {
      value = std::bit_cast<float>(stored & 0xffffe000U);  // what the tensor core takes of it
    }
    std::memcpy(bytes.data() + i * size, &stored, size);
    values[i] = value;
  }
  return values;
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
                 static_cast<std::uint32_t>((gemm.m + gemm.bm - 1) / gemm.bm), static_cast<std::uint32_t>(gemm.parts)};
  launch.block.x = static_cast<std::uint32_t>(gemm.threads);
  constexpr std::uint64_t kDynamic = 200 * 1024;  // kernels without static shared memory take theirs at the launch
  launch.shared_bytes = kernel.static_shared_bytes != 0 ? kernel.static_shared_bytes : kDynamic;
  const auto bytes = static_cast<int>(model::element_bytes(gemm.dtype));
  const auto arguments = parse_arguments(
      "i32:" + std::to_string(gemm.m) + ",i32:" + std::to_string(gemm.n) + ",i32:" + std::to_string(gemm.k) +
      ",ptr:" + std::to_string(bytes * gemm.m * gemm.k) + ",ptr:" + std::to_string(bytes * gemm.k * gemm.n) +
      ",ptr:" + std::to_string(4 * gemm.m * gemm.n * gemm.parts) + ",f32:1,f32:0");
  REQUIRE(arguments.has_value());
  launch.arguments = *arguments;
  return launch;
}

void check_product(const DecodedKernel& kernel, const LaunchParameters& launch, const Gemm& gemm) {
  auto memory = DeviceMemory::allocate(launch.arguments);
  REQUIRE(memory.has_value());
  std::mt19937 generator(7);
  const std::vector<double> a = random_matrix(*memory, 3, gemm.dtype, generator);
  const std::vector<double> b = random_matrix(*memory, 4, gemm.dtype, generator);
  const std::span<std::byte> result = memory->bytes(5);
  std::fill(result.begin(), result.end(), std::byte{0x7f});  // 3e38, which a product with beta = 0 hides
  const auto executed = run_functional(kernel, launch, *memory);
  INFO((executed ? "" : executed.error().message + " " + executed.error().where));
  REQUIRE(executed.has_value());
  const std::span<const float> c{reinterpret_cast<const float*>(result.data()), result.size() / sizeof(float)};
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  std::size_t wrong = 0;
  const int depth = gemm.k / gemm.parts;
  for (int line = 0; line < gemm.parts * gemm.m; ++line) {
    const int i = line % gemm.m;
    const int part = line / gemm.m;
    for (int j = 0; j < gemm.n; ++j) {
      double sum = 0;
      double magnitude = 0;
      for (int l = part * depth; l < (part + 1) * depth; ++l) {
        const double term = a[at(gemm.transposed_a ? l * gemm.m + i : i * gemm.k + l)] *
                            b[at(gemm.transposed_b ? j * gemm.k + l : l * gemm.n + j)];
        sum += term;
        magnitude += std::abs(term);
      }
      wrong += std::abs(c[at(line * gemm.n + j)] - sum) <= depth * 0x1p-24 * magnitude ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace tilesim::traces
