// The calibration kernels, five in FP32 and three on tensor cores (bf16, B stored as N x K), and their Nsight Compute
// counters (traces/calibration/h200).
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "tests/support/catch.h"

namespace tilesim::test {

struct CalibrationKernel {
  const char* name;
  int bm, bn, registers;
  int shared_bytes;
  int threads = 256;
  int element_bytes = 4;  ///< of A and B; C is FP32
};
constexpr CalibrationKernel kCalibrationKernels[] = {{"sgemm_128_128_8_8_8_s1_p0", 128, 128, 119, 8192},
                                                     {"sgemm_128_128_8_8_8_s2_p4", 128, 128, 128, 16640},
                                                     {"sgemm_128_128_16_8_8_s2_p0", 128, 128, 143, 32768},
                                                     {"sgemm_64_64_16_4_4_s2_p0", 64, 64, 69, 16384},
                                                     {"sgemm_32_32_32_2_2_s1_p0", 32, 32, 30, 8192}};

constexpr CalibrationKernel kTensorKernels[] = {{"hgemm_128_128_32_64_32_s3", 128, 128, 102, 61440, 256, 2},
                                                {"hgemm_128_256_32_64_64_s3", 128, 256, 209, 92160, 256, 2},
                                                {"hgemm_64_64_32_32_32_s3", 64, 64, 72, 30720, 128, 2}};

inline std::map<std::string, double> counters(const std::string& name, int size) {
  std::ifstream file(fmt::format("{}/{}.{}x{}x{}.csv", TILESIM_CALIBRATION_FOLDER, name, size, size, size));
  REQUIRE(file);
  std::map<std::string, double> values;
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(',');
    const std::size_t second = line.find(',', first + 1);
    if (second != std::string::npos) {
      values[line.substr(0, first)] = std::strtod(line.c_str() + second + 1, nullptr);
    }
  }
  return values;
}

}  // namespace tilesim::test
