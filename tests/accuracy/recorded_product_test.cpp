// Functional check of the recorded kernels: each of their codes computes a product on random matrices.
#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/traces/cubin_gemm.h"
#include "traces/recorded/recording.h"

using namespace tilesim;

namespace {

/// A problem of two tiles in both directions and one K-step more than there are buffers in every part of K; for code
/// with bounds checks the second tiles and the last step hold a few vectors only.
traces::Gemm gemm_of(const model::TileConfig& c, bool ragged, std::int64_t parts) {
  traces::Gemm gemm;
  gemm.bm = static_cast<int>(c.bm);
  gemm.bn = static_cast<int>(c.bn);
  gemm.threads = static_cast<int>(model::threads_per_cta(c));
  gemm.transposed_a = to_string(c.layout)[0] == 't';
  gemm.transposed_b = to_string(c.layout)[1] == 't';
  const int vec = static_cast<int>(c.vec);
  gemm.m = gemm.bm + (ragged ? 3 * vec : gemm.bm);
  gemm.n = gemm.bn + (ragged ? 5 * vec : gemm.bn);
  gemm.parts = static_cast<int>(parts);
  gemm.k = gemm.parts * (static_cast<int>(c.stages * c.bk) + (ragged ? vec : static_cast<int>(c.bk)));
  gemm.dtype = c.dtype;
  return gemm;
}

}  // namespace

TEST_CASE("every code of the recorded set computes its product", "[recorded]") {
  const auto recordings = traces::read_recordings(TILESIM_RECORDED_FOLDER);
  REQUIRE(recordings.has_value());
  std::size_t codes = 0;
  for (const traces::Recording& recording : *recordings) {
    for (const auto& [label, code] : recording.codes) {
      INFO(recording.name << ", " << label);
      REQUIRE(recording.configuration.has_value());
      REQUIRE(traces::check_code(code).has_value());
      const traces::CubinKernel kernel = traces::only_kernel(code.file.string());
      const auto decoded = traces::decode_kernel(kernel);
      REQUIRE(decoded.has_value());
      const traces::Gemm gemm =
          gemm_of(*recording.configuration, label == "ragged", recording.runs.front().problem.split_k);
      traces::check_product(*decoded, traces::launch_of(kernel, gemm), gemm);
      ++codes;
    }
  }
  fmt::print("{} codes of {} recorded kernels compute their products\n", codes, recordings->size());
  CHECK(codes >= recordings->size());
}
