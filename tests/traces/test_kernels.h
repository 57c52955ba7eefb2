// The calibration kernels as test input: their listings, launches and recorded counters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "traces/emulator/launch.h"
#include "traces/emulator/sass_kernel.h"
#include "traces/sass/listing_reader.h"

namespace tilesim::traces {

struct TestKernel {
  std::string name;  ///< as the file, without extension
  int bm = 0;
  int bn = 0;
  int bk = 0;
  int threads = 0;
  std::uint64_t shared_bytes = 0;
  int input_bytes = 4;  ///< per element of A and B
};

struct Shape {
  int m = 0;
  int n = 0;
  int k = 0;
};

[[nodiscard]] const std::vector<TestKernel>& sgemm_kernels();
[[nodiscard]] const std::vector<TestKernel>& hgemm_kernels();
[[nodiscard]] std::string calibration_path(const std::string& file);

/// Text of a file of the calibration folder.
[[nodiscard]] std::string calibration_text(const std::string& file);
/// Decoded kernel of a listing with one kernel; fails the test otherwise.
[[nodiscard]] DecodedKernel load_kernel(const std::string& file);
[[nodiscard]] LaunchParameters launch_for(const TestKernel& kernel, const Shape& shape);
[[nodiscard]] std::unique_ptr<SassKernel> open_kernel(const TestKernel& kernel, const Shape& shape);

/// Value of a metric in the recorded counters of a kernel at 1024^3 or 4096^3.
[[nodiscard]] double recorded(const TestKernel& kernel, int size, const std::string& metric);

}  // namespace tilesim::traces
