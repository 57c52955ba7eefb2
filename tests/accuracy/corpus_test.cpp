// The corpus of kernels as people write them (tests/corpus), replayed and compared with an H200 (measured.csv there).
// Nothing is fitted to them. Prints one line per kernel.
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "model/gpu_spec.h"
#include "tests/accuracy/comparison.h"
#include "tests/support/kernel_corpus.h"
#include "tests/traces/corpus_launch.h"
#include "tools/lib/sass_source.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/sass/decoder.h"

using namespace tilesim;

namespace {

/// Rows of measured.csv by column.
std::vector<std::map<std::string, std::string>> measured_rows() {
  std::ifstream file(std::string(TILESIM_CORPUS_FOLDER) + "/measured.csv");
  REQUIRE(file);
  const auto cells_of = [](const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) {
      cells.push_back(cell);
    }
    return cells;
  };
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = cells_of(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = cells_of(line);
    REQUIRE(cells.size() == names.size());
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      row[names[i]] = cells[i];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

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
  for (auto& row : measured_rows()) {
    const std::string& name = row["kernel"];
    CAPTURE(name);
    const test::CorpusKernel& kernel = description_of(name);
    const auto cubin = traces::parse_cubin(test::corpus_cubin(kernel.source, 90), kernel.source);
    REQUIRE(cubin.has_value());
    const auto chosen = traces::choose_kernel(*cubin, name, 90);
    REQUIRE(chosen.has_value());
    auto decoded = traces::decode_kernel(**chosen);
    REQUIRE(decoded.has_value());
    const test::CorpusShape shape{std::stoi(row["m"]), std::stoi(row["n"]), std::stoi(row["k"]), 2, 2};
    const traces::CorpusLaunch corpus(kernel, shape, (*chosen)->static_shared_bytes);
    auto source = app::SassSource::create(std::move(*decoded), corpus.launch());
    if (!source) {
      fmt::print("{:<26} {}\n", name, source.error().message);
      CHECK(source.has_value());
      continue;
    }
    app::KernelLaunch launch;
    launch.registers = (*chosen)->registers_per_thread;
    launch.shared_bytes = static_cast<std::int64_t>((*chosen)->static_shared_bytes + kernel.dynamic_shared);
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
