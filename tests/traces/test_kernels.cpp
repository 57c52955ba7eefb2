#include "tests/traces/test_kernels.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/support/catch.h"
#include "traces/sass/decoder.h"

namespace tilesim::traces {

const std::vector<TestKernel>& sgemm_kernels() {
  static const std::vector<TestKernel> kKernels = {
      {"sgemm_32_32_32_2_2_s1_p0", 32, 32, 32, 256, 8192, 4},
      {"sgemm_64_64_16_4_4_s2_p0", 64, 64, 16, 256, 16384, 4},
      {"sgemm_128_128_8_8_8_s1_p0", 128, 128, 8, 256, 8192, 4},
      {"sgemm_128_128_8_8_8_s2_p4", 128, 128, 8, 256, 16640, 4},
      {"sgemm_128_128_16_8_8_s2_p0", 128, 128, 16, 256, 32768, 4},
  };
  return kKernels;
}

const std::vector<TestKernel>& hgemm_kernels() {
  static const std::vector<TestKernel> kKernels = {
      {"hgemm_64_64_32_32_32_s3", 64, 64, 32, 128, 30720, 2},
      {"hgemm_128_128_32_64_32_s3", 128, 128, 32, 256, 61440, 2},
      {"hgemm_128_256_32_64_64_s3", 128, 256, 32, 256, 92160, 2},
  };
  return kKernels;
}

std::string calibration_path(const std::string& file) { return std::string(TILESIM_CALIBRATION_FOLDER) + "/" + file; }

std::string calibration_text(const std::string& file) {
  std::ifstream stream(calibration_path(file), std::ios::binary);
  REQUIRE(stream.good());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

DecodedKernel load_kernel(const std::string& file) {
  const auto listing = read_listing(calibration_path(file));
  REQUIRE(listing.has_value());
  const auto chosen = choose_kernel(*listing, "");
  REQUIRE(chosen.has_value());
  auto decoded = decode_kernel(**chosen);
  REQUIRE(decoded.has_value());
  return std::move(*decoded);
}

LaunchParameters launch_for(const TestKernel& kernel, const Shape& shape) {
  LaunchParameters launch;
  launch.grid = {static_cast<std::uint32_t>(shape.n / kernel.bn), static_cast<std::uint32_t>(shape.m / kernel.bm), 1};
  launch.block = {static_cast<std::uint32_t>(kernel.threads), 1, 1};
  launch.shared_bytes = kernel.shared_bytes;
  const auto bytes = [](int rows, int columns, int element) { return std::int64_t{rows} * columns * element; };
  auto arguments =
      parse_arguments(fmt::format("i32:{},i32:{},i32:{},ptr:{},ptr:{},ptr:{}", shape.m, shape.n, shape.k,
                                  bytes(shape.m, shape.k, kernel.input_bytes),
                                  bytes(shape.k, shape.n, kernel.input_bytes), bytes(shape.m, shape.n, 4)));
  REQUIRE(arguments.has_value());
  launch.arguments = std::move(*arguments);
  return launch;
}

std::unique_ptr<SassKernel> open_kernel(const TestKernel& kernel, const Shape& shape) {
  auto created = SassKernel::create(load_kernel(kernel.name + ".sass"), launch_for(kernel, shape));
  REQUIRE(created.has_value());
  return std::move(*created);
}

double recorded(const TestKernel& kernel, int size, const std::string& metric) {
  std::istringstream lines(calibration_text(fmt::format("{}.{}x{}x{}.csv", kernel.name, size, size, size)));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.rfind(metric + ",", 0) == 0) {
      return std::stod(line.substr(line.rfind(',') + 1));
    }
  }
  FAIL("no such metric: " << metric);
  return 0;
}

}  // namespace tilesim::traces
