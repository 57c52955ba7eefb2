// Kernels that ptxas made of the SIMT and mma families (traces/calibration/ptxas): all of them decode, run and compute.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "tests/support/catch.h"
#include "tests/traces/cubin_gemm.h"

namespace tilesim::traces {
namespace {

std::vector<std::string> corpus() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(TILESIM_PTXAS_FOLDER)) {
    if (entry.path().extension() == ".cubin") {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Tile and layout from a name like simt_64x64x16_4x4_a3_tn_v4_g8_ab.cubin or mma_bf16_64x64x32_32x32_a3_nt_v8.cubin;
/// two tiles in each direction, four in K.
Gemm gemm_of(const std::string& path) {
  const std::string name = std::filesystem::path(path).stem().string();
  Gemm gemm;
  int bk = 0;
  int part_m = 0;  // of a thread, or of a warp
  int part_n = 0;
  std::array<char, 5> type{};
  char copy = 0;
  int stages = 0;
  char a = 0;
  char b = 0;
  INFO(name);
  const bool mma = name.starts_with("mma_");
  if (mma) {
    REQUIRE(std::sscanf(name.c_str(), "mma_%4[a-z0-9]_%dx%dx%d_%dx%d_%c%d_%c%c", type.data(), &gemm.bm, &gemm.bn, &bk,
                        &part_m, &part_n, &copy, &stages, &a, &b) == 10);
    gemm.dtype = *model::parse_data_type(type.data());
  } else {
    REQUIRE(std::sscanf(name.c_str(), "simt_%dx%dx%d_%dx%d_%c%d_%c%c", &gemm.bm, &gemm.bn, &bk, &part_m, &part_n, &copy,
                        &stages, &a, &b) == 9);
  }
  gemm.threads = gemm.bm / part_m * (gemm.bn / part_n) * (mma ? 32 : 1);
  gemm.transposed_a = a == 't';
  gemm.transposed_b = b == 't';
  gemm.m = 2 * gemm.bm;
  gemm.n = 2 * gemm.bn;
  gemm.k = 4 * bk;
  return gemm;
}

}  // namespace

TEST_CASE("every kernel of the corpus decodes and its first warp runs to the end") {
  REQUIRE(corpus().size() == 53);
  for (const std::string& path : corpus()) {
    const CubinKernel kernel = only_kernel(path);
    const auto decoded = decode_kernel(kernel);
    INFO(path << ": " << (decoded ? "" : decoded.error().message));
    REQUIRE(decoded.has_value());
    const auto stream = SassKernel::create(*decoded, launch_of(kernel, gemm_of(path)));
    INFO((stream ? "" : stream.error().message));
    REQUIRE(stream.has_value());
    const auto cta = (*stream)->open(0, nullptr);
    isa::DynamicInstruction instruction;
    while (!cta->warp(0).exited()) {
      const bool stepped = cta->warp(0).step(instruction);
      INFO(cta->warp(0).error().message);
      REQUIRE(stepped);
    }
  }
}

TEST_CASE("every kernel of the corpus computes its product") {
  for (const std::string& path : corpus()) {
    const CubinKernel kernel = only_kernel(path);
    const auto decoded = decode_kernel(kernel);
    REQUIRE(decoded.has_value());
    INFO(path);
    check_product(*decoded, launch_of(kernel, gemm_of(path)), gemm_of(path));
  }
}

}  // namespace tilesim::traces
