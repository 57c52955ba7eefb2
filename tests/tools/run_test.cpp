// tilesim run: the screen, the JSON, --all, and that the 17 items of the published method are answered.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/tools/command.h"

namespace tilesim::test {

namespace {

const std::vector<std::string> kRun{"run", "--tile", "64x64x16", "--thread-tile", "4x4", "--stages", "2",
                                    "--m", "512",    "--n",      "512",           "--k", "512"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void require_fits_a_screen(const std::string& text) {
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    INFO(line);
    CHECK(line.size() <= 80);
  }
  INFO(text);
  CHECK(count <= 40);
}

}  // namespace

TEST_CASE("run fits a screen of 80 x 40 and leads with the verdict", "[cli]") {
  const ProcessResult result = tilesim(kRun);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  require_fits_a_screen(result.out);
  const std::string verdict = result.out.substr(0, result.out.find("\n\n"));
  for (const std::string word : {"64x64x16 tile with 4x4 per thread takes ", " on the NVIDIA H200 SXM: ", "FLOP/s",
                                 "% of the FP32 peak", "estimated", "the largest loss: ", "% of the time"}) {
    INFO(word);
    std::string flat = verdict;
    std::replace(flat.begin(), flat.end(), '\n', ' ');
    CHECK(flat.find(word) != std::string::npos);
  }
  for (const std::string section : {"Where the time goes", "= simulated", "What to try", "Trust ", "Simulated "}) {
    INFO(section);
    CHECK(result.out.find(section) != std::string::npos);
  }
}

TEST_CASE("run of a naive kernel speaks of no shared memory and gives advice that it can follow", "[cli]") {
  const std::vector<std::string> naive{"run",           "--copy", "direct",      "--tile", "32x32x8",
                                       "--thread-tile", "1x1",    "--warp-tile", "32x1",   "--m",
                                       "256",           "--n",    "256",         "--k",    "256"};
  const ProcessResult result = tilesim(naive);
  INFO(result.err << result.out);
  REQUIRE(result.exit_code == 0);
  require_fits_a_screen(result.out);
  std::string flat = result.out;
  std::replace(flat.begin(), flat.end(), '\n', ' ');
  CHECK(flat.find("32x32x8 tile with 1x1 per thread, 32x1 per warp, no shared memory takes ") != std::string::npos);
  CHECK(flat.find("B shared") == std::string::npos);
  CHECK(flat.find("--vec") == std::string::npos);
  const auto json = nlohmann::json::parse(tilesim(with(naive, {"--json", "-"})).out);
  CHECK(json["kernel"]["copy"] == "direct");
  CHECK(json["kernel"]["wm"] == 32);
  CHECK(json["kernel"]["vec"] == 1);
  CHECK(json["launch"]["shared_bytes"] == 0);
  CHECK(json["result"]["metrics"]["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"]["value"] == 0);
}

TEST_CASE("check of kernels without shared memory and with warp tiles", "[cli]") {
  const ProcessResult direct =
      tilesim({"check", "--copy", "direct", "--tile", "32x32x8", "--thread-tile", "1x1", "--all"});
  INFO(direct.err << direct.out);
  REQUIRE(direct.exit_code == 0);
  CHECK(direct.out.find("no shared memory, no barriers") != std::string::npos);
  const ProcessResult wide =
      tilesim({"check", "--copy", "direct", "--tile", "32x32x8", "--thread-tile", "1x1", "--vec", "4"});
  CHECK(wide.exit_code == 2);
  CHECK(wide.err.find("--copy direct loads element by element, not 4 at a time") != std::string::npos);
  const ProcessResult warps = tilesim({"check", "--warp-tile", "32x64", "--json", "-"});
  REQUIRE(warps.exit_code == 0);
  const auto kernel = nlohmann::json::parse(warps.out)["kernel"];
  CHECK(kernel["wm"] == 32);
  CHECK(kernel["wn"] == 64);
}

TEST_CASE("run of a tensor-core kernel speaks of its pipe, its clock, its sums and its warp tiles", "[cli]") {
  const std::vector<std::string> tile{"run",  "--family", "mma",      "--tile", "64x64x32", "--wm",    "32",
                                      "--wn", "32",       "--stages", "3",      "--copy",   "cpasync", "--layout",
                                      "nt",   "--m",      "512",      "--n",    "512",      "--k",     "512"};
  struct Type {
    const char* name;
    double peak;  // FLOP/s of 132 SMs at 1,800 MHz: 2,048 multiply-adds a cycle, TF32 by the datasheet's ratio
    double a_and_b_bytes;
  };
  for (const Type& type : {Type{"bf16", 973.2e12, 2.0}, Type{"f16", 973.2e12, 2.0}, Type{"tf32", 486.1e12, 4.0}}) {
    const ProcessResult result = tilesim(with(tile, {"--dtype", type.name}));
    INFO(result.err << result.out);
    REQUIRE(result.exit_code == 0);
    require_fits_a_screen(result.out);
    for (const std::string& word :
         {std::string("32x32 per warp"), fmt::format("{} tensor peak", type.name), std::string("at 1800 MHz")}) {
      INFO(word);
      CHECK(result.out.find(word) != std::string::npos);
    }
    CHECK(result.out.find("FP32") == std::string::npos);
    CHECK(result.out.find("thread tile") == std::string::npos);
    const auto json = nlohmann::json::parse(tilesim(with(tile, {"--dtype", type.name, "--json", "-"})).out);
    const auto& metrics = json["result"]["metrics"];
    CHECK(metrics["tilesim__flops.sum"]["value"] == 2.0 * 512 * 512 * 512);
    CHECK(metrics["tilesim__tensor_peak_flops_per_second"]["value"].get<double>() == Approx(type.peak).epsilon(0.002));
    CHECK_FALSE(metrics.contains("tilesim__fp32_peak_flops_per_second"));
    CHECK(metrics["launch__occupancy_limit_shared_mem"]["value"] > 0);
    // A and B once each at least, C as FP32.
    CHECK(metrics["dram__bytes_read.sum"]["value"].get<double>() >= 2 * 512 * 512 * type.a_and_b_bytes);
    CHECK(json["result"]["gap"]["parts"][0]["key"] == "peak");
    CHECK(json["result"]["gap"]["parts"][1]["key"] == "mma_sync");
  }
}

TEST_CASE("--family mma alone is legal: bf16, a step of 32, warp tiles of 64x32", "[cli]") {
  const ProcessResult result = tilesim({"check", "--family", "mma", "--json", "-"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json["problem"]["dtype"] == "bf16");
  CHECK(json["kernel"]["bk"] == 32);
  CHECK(json["kernel"]["wm"] == 64);
  CHECK(json["kernel"]["wn"] == 32);
}

TEST_CASE("run fits a screen whatever the configuration", "[cli]") {
  for (const auto& more : std::vector<std::vector<std::string>>{
           {"--tile", "128x128x8", "--thread-tile", "8x8", "--m", "130", "--n", "2052", "--k", "40"},
           {"--tile", "32x32x32", "--thread-tile", "2x2", "--m", "512", "--n", "512", "--k", "128", "--detailed"},
           {"--tile", "128x64x16", "--layout", "tt", "--m", "512", "--n", "512", "--k", "256", "--split-k", "2"},
           {"--tile", "128x128x8", "--gpu", "article-card", "--m", "1024", "--n", "1024", "--k", "2048"}}) {
    const ProcessResult result = tilesim(with({"run"}, more));
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    require_fits_a_screen(result.out);
  }
}

TEST_CASE("the JSON of run has the problem, the gap, the advice and the sheet, the same bytes each time", "[cli]") {
  const ProcessResult one = tilesim(with(kRun, {"--json", "-", "-j", "1"}));
  REQUIRE(one.exit_code == 0);
  CHECK(one.out == tilesim(with(kRun, {"--json", "-", "-j", "3"})).out);
  const auto json = nlohmann::json::parse(one.out);
  CHECK(json["meta"]["command"] == "run");
  CHECK(json["problem"]["m"] == 512);
  CHECK(json["kernel"]["code"] == "estimated");
  CHECK(json["kernel"]["bm"] == 64);
  const auto& result = json["result"];
  CHECK(result["metrics"]["tilesim__flops.sum"]["value"] == 2.0 * 512 * 512 * 512);
  CHECK(result["sheet"]["tilesim__threads_per_cta"]["value"] == 256);
  CHECK(result["sheet"]["tilesim__registers_per_thread"]["value"] == json["launch"]["registers_per_thread"]);
  double sum = 0.0;
  for (const auto& part : result["gap"]["parts"]) {
    sum += part["seconds"].get<double>();
  }
  CHECK(sum == Approx(result["gap"]["seconds"].get<double>()));
  CHECK(result["gap"]["seconds"].get<double>() * 1e9 ==
        Approx(result["metrics"]["gpu__time_duration.sum"]["value"].get<double>()));
  REQUIRE_FALSE(result["troubleshooting"].empty());
  for (const char* key : {"key", "symptom", "metric", "value", "unit", "cause", "confirm", "try"}) {
    CHECK(result["troubleshooting"][0].contains(key));
  }
  CHECK(result["trust"]["validated"].is_boolean());
}

TEST_CASE("run --all answers all 17 items of the method", "[cli]") {
  const std::string screen = tilesim(kRun).out;
  const std::string all = tilesim(with(kRun, {"--all"})).out;
  CHECK(all.starts_with(screen));
  for (int item = 1; item <= 15; ++item) {
    INFO(item);
    CHECK(all.find("\n" + std::string(item < 10 ? "     " : "    ") + std::to_string(item) + "  ") !=
          std::string::npos);
  }
  for (const std::string heading : {"Item 16: the gap", "Item 17: troubleshooting", "Where a pencil sketch slips",
                                    "Warp states", "Shared accesses", "    cause    ", "    confirm  "}) {
    INFO(heading);
    CHECK(all.find(heading) != std::string::npos);
  }
}

TEST_CASE("no run is faster than the sheet's least time", "[cli]") {
  for (const std::string tile : {"128x128x8", "64x64x16", "128x64x16"}) {
    const auto json = nlohmann::json::parse(
        tilesim({"run", "--tile", tile, "--m", "1024", "--n", "1024", "--k", "512", "--json", "-"}).out);
    CHECK(json["result"]["gap"]["seconds"].get<double>() >=
          json["result"]["sheet"]["tilesim__least_seconds"]["value"].get<double>());
  }
}

TEST_CASE("a carve-out and a clock reach the simulation", "[cli]") {
  const auto json =
      nlohmann::json::parse(tilesim(with(kRun, {"--carveout", "32", "--clock", "1000", "--json", "-"})).out);
  CHECK(json["launch"]["carveout_kb"] == 32);
  CHECK(json["launch"]["clock_mhz"] == 1000);
  CHECK(json["result"]["occupancy"]["resident_ctas_per_sm"] == 1);
  CHECK(json["result"]["sheet"]["tilesim__resident_ctas"]["value"] == 1);
}

TEST_CASE("the worked example by value, item by item", "[cli]") {
  const auto json =
      nlohmann::json::parse(tilesim({"check", "--m", "4096", "--n", "4096", "--k", "4096", "--tile", "128x128x8",
                                     "--thread-tile", "8x8", "--stages", "2", "--gpu", "article-card", "--json", "-"})
                                .out);
  struct Number {
    int item;
    const char* key;
    double value;
    double margin;
  };
  const std::vector<Number> numbers{{1, "threads_per_cta", 256, 0},
                                    {2, "shared_bytes_per_buffer", 8192, 0},
                                    {2, "shared_bytes", 16384, 0},
                                    {3, "accumulators_per_thread", 64, 0},
                                    {4, "flops_per_k_step", 262144, 0},
                                    {4, "flops_per_thread_k_step", 1024, 0},
                                    {4, "fma_per_thread_k_step", 512, 0},
                                    {4, "k_step_cycles", 1024, 0},
                                    {4, "k_step_seconds", 0.683e-6, 0.0005e-6},
                                    {5, "problem_intensity", 682.7, 0.05},
                                    {5, "problem_intensity_per_element", 2731, 0.5},
                                    {5, "tile_intensity_limit", 32, 1e-9},
                                    {6, "peak", 53.76e12, 1},
                                    {6, "peak_per_sm", 384e9, 1},
                                    {6, "fp16_tensor_ridge", 295.2, 0.05},
                                    {6, "fp32_ridge", 16.0, 0.05},
                                    {7, "shared_reads_per_fma_untiled", 2, 0},
                                    {7, "shared_reads_per_fma", 0.25, 0},
                                    {8, "resident_ctas", 2, 0},
                                    {8, "ctas_needed", 1, 0},
                                    {9, "flops", 1.374e11, 0.0005e11},
                                    {9, "bytes_a", 67.1e6, 0.05e6},
                                    {9, "compulsory_bytes", 201.3e6, 0.05e6},
                                    {9, "ctas", 1024, 0},
                                    {9, "k_steps", 512, 0},
                                    {9, "ctas_per_sm", 7.3, 0.05},
                                    {9, "whole_waves", 4, 0},
                                    {9, "cta_alone_seconds", 349.5e-6, 0.05e-6},
                                    {9, "wave_seconds", 699e-6, 0.1e-6},
                                    {9, "peak_seconds", 2.56e-3, 0.005e-3},
                                    {9, "whole_wave_seconds", 2.80e-3, 0.005e-3},
                                    {10, "hidden_loads", 100, 0},
                                    {11, "barriers_per_k_step", 1, 0},
                                    {12, "store_a_bank_conflicts", 32, 0},
                                    {12, "load_b_bank_conflicts", 512, 0},
                                    {13, "load_a_sectors_per_request", 16, 0},
                                    {13, "load_b_row_alignment", 16, 0},
                                    {14, "wasted_work", 0, 0},
                                    {15, "dram_over_compulsory", 2.03125, 1e-9}};
  for (const Number& n : numbers) {
    INFO("item " << n.item << ": " << n.key);
    const double value = json["result"]["metrics"][std::string("tilesim__") + n.key]["value"].get<double>();
    CHECK(value == Approx(n.value).margin(n.margin).epsilon(1e-9));
  }
  CHECK(json["result"]["notes"].size() == 5);
}

TEST_CASE("the worked example simulated: items 16 and 17 on the article's card", "[cli]") {
  const auto json = nlohmann::json::parse(tilesim({"run", "--m", "4096", "--n", "4096", "--k", "4096", "--stages", "2",
                                                   "--gpu", "article-card", "--json", "-"})
                                              .out);
  const auto& gap = json["result"]["gap"];
  CHECK(gap["parts"][0]["key"] == "peak");
  CHECK(gap["parts"][0]["seconds"].get<double>() == Approx(2.556528e-3).epsilon(1e-6));
  // Tail: the busiest SM has 8 CTAs, which take 8 * 349.5 us at the peak.
  const double balance = gap["parts"][2]["seconds"].get<double>();
  CHECK(balance + 2.556528e-3 == Approx(8 * 349.5253e-6).epsilon(1e-5));
  CHECK(gap["seconds"].get<double>() > 2.796e-3);
  CHECK_FALSE(json["result"]["troubleshooting"].empty());
}

TEST_CASE("the parts of a run of microseconds are in microseconds", "[cli]") {
  const std::string text =
      tilesim({"run", "--tile", "32x32x32", "--thread-tile", "2x2", "--m", "32", "--n", "32", "--k", "32"}).out;
  const std::size_t table = text.find("Where the time goes");
  REQUIRE(table != std::string::npos);
  const std::string total = text.substr(text.find("= simulated", table));
  CHECK(total.substr(0, total.find('\n')).ends_with(" us"));
  CHECK(text.substr(table, text.find("= simulated") - table).find(" ms ") == std::string::npos);
  CHECK(std::stod(total.substr(std::string("= simulated").size())) >= 1.0);
}

}  // namespace tilesim::test
