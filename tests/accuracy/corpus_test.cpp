// The corpus of kernels as people write them (tests/corpus), replayed and compared with an H200 (measured.csv there).
// Nothing is fitted to them. Prints one line per kernel.
#include <fmt/format.h>

#include <string>

#include "model/gpu_spec.h"
#include "tests/accuracy/comparison.h"
#include "tests/support/csv.h"
#include "tests/support/kernel_corpus.h"
#include "tests/traces/corpus_launch.h"
#include "tools/lib/sass_source.h"
#include "traces/sass/decoder.h"

using namespace tilesim;

namespace {

const test::CorpusKernel& description_of(const std::string& name) {
  for (const test::CorpusKernel& kernel : test::corpus_kernels()) {
    if (kernel.name == name) {
      return kernel;
    }
  }
  FAIL("measured, but not in kernels.csv: " << name);
  throw;
}

}  // namespace

TEST_CASE("kernels of the corpus against measured ones", "[corpus]") {
  const auto gpu = *model::find_gpu_spec("h200");
  test::Errors errors;
  for (test::CsvRow& row : test::read_csv(TILESIM_CORPUS_FOLDER "/measured.csv")) {
    const std::string& name = row["kernel"];
    CAPTURE(name);
    const test::CorpusKernel& kernel = description_of(name);
    const traces::CubinKernel code = traces::corpus_code(kernel);
    auto decoded = traces::decode_kernel(code);
    REQUIRE(decoded.has_value());
    const test::CorpusShape shape{std::stoi(row["m"]), std::stoi(row["n"]), std::stoi(row["k"]), 2, 2};
    const traces::CorpusLaunch corpus(kernel, shape, code.static_shared_bytes);
    auto source = app::SassSource::create(std::move(*decoded), corpus.launch());
    if (!source) {
      fmt::print("{:<26} {}\n", name, source.error().message);
      CHECK(source.has_value());
      continue;
    }
    app::KernelLaunch launch;
    launch.registers = code.registers_per_thread;
    launch.shared_bytes = static_cast<std::int64_t>(code.static_shared_bytes + kernel.dynamic_shared);
    launch.carveout_kb = static_cast<int>(std::stod(row["launch__shared_mem_config_size"]) / 1024);
    const auto result = app::simulate_kernel(gpu, **source, launch, std::nullopt, app::Effort{false, false, 2});
    if (!result) {
      fmt::print("{:<26} {}\n", name, result.error().message);
      CHECK(result.has_value());
      continue;
    }
    const double truth = std::stod(row["sm__cycles_active.avg"]);
    fmt::print("{:<26} simulated {:>10.0f}  measured {:>10.0f} (spread {:.1f} %)  {:+6.1f} %\n", name,
               result->cycles_active_avg, truth, 100.0 * std::stod(row["sm__cycles_active.avg spread"]),
               errors.add(result->cycles_active_avg, truth));
    std::fflush(stdout);
    const double instructions = std::stod(row["smsp__inst_executed.sum"]);
    CHECK(std::abs(result->instructions / instructions - 1.0) < 0.001);
  }
  errors.print("corpus against measured");
}
