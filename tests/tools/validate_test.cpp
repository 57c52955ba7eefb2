// The built `tilesim validate` on the recordings of recorded/sample.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/command.h"

namespace tilesim::test {

namespace {

const std::string kSample = std::string(TILESIM_SAMPLE_RECORDINGS);

std::vector<std::string> validate(const std::vector<std::string>& more) {
  std::vector<std::string> words{"validate", "--recorded", kSample, "--brief"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("validate: the same bytes for any number of threads; development by name, locked as totals", "[cli]") {
  const std::vector<std::string> chosen{"--replay", "--family", "mma", "--dtype", "bf16", "--json", "-"};
  auto one = validate(chosen);
  one.insert(one.end(), {"-j", "1"});
  auto three = validate(chosen);
  three.insert(three.end(), {"-j", "3"});
  const ProcessResult a = tilesim(one);
  INFO(a.err);
  REQUIRE(a.exit_code == 0);
  CHECK(a.err.empty());  // progress is for terminals
  CHECK(tilesim(three).out == a.out);
  const auto result = nlohmann::json::parse(a.out).at("result");
  CHECK(result.at("metric") == "sm__cycles_elapsed.max");
  REQUIRE(result.at("summaries").size() == 2);
  CHECK(result.at("summaries")[1].at("part") == "locked");
  CHECK(result.at("summaries")[1].at("runs") == 1);
  REQUIRE(result.at("development").size() == 2);
  const auto& metrics = result.at("development")[0].at("metrics");
  // Machine code executes what was counted (traces/calibration/ptxas/measured_mma.csv).
  CHECK(metrics.at("smsp__inst_executed.sum").at("predicted") == metrics.at("smsp__inst_executed.sum").at("measured"));
  CHECK(metrics.at("launch__registers_per_thread").at("predicted") ==
        metrics.at("launch__registers_per_thread").at("measured"));
  CHECK(a.out.find("mma_bf16_128x128x32_64x64_a2") == std::string::npos);  // locked
}

TEST_CASE("validate: gates end with exit code 3 and say what failed", "[cli]") {
  const std::vector<std::string> chosen{"--replay", "--dtype", "bf16", "--part", "locked"};
  auto strict = validate(chosen);
  strict.insert(strict.end(), {"--max-mape", "0"});
  const ProcessResult failed = tilesim(strict);
  CHECK(failed.exit_code == 3);
  CHECK(failed.out.find("MAPE of sm__cycles_elapsed.max is") != std::string::npos);
  auto loose = validate(chosen);
  loose.insert(loose.end(), {"--max-mape", "90", "--max-worst", "90"});
  const ProcessResult passed = tilesim(loose);
  CHECK(passed.exit_code == 0);
  CHECK(passed.out.find("All gates pass.") != std::string::npos);
}

TEST_CASE("validate: wrong use is refused before anything is simulated", "[cli]") {
  require_refused(validate({"--family", "simd"}), {"--family 'simd'", "did you mean 'simt'", "mma, simt"});
  require_refused(validate({"--dtype", "f32,"}), {"--dtype ''"});
  require_refused(validate({"--shapes", "64x64"}), {"--shapes"});
  require_refused(validate({"--shapes", "64x64x64"}), {"nothing was recorded at 64x64x64", "2048x2048x1024"});
  require_refused(validate({"--only", "mma_bf16_128x128x32_64x64_a2*"}),  // it is locked
                  {"no kernel of the development part is called 'mma_bf16_128x128x32_64x64_a2*'", "there "});
  require_refused(validate({"--only", "x"}), {"is called 'x'", "simt_"});
  require_refused(validate({"--part", "open"}), {"--part 'open'"});
  require_refused(validate({"--metric", "sm__cycles_active"}), {"did you mean 'sm__cycles_active.avg'"});
  require_refused(validate({"--max-mape", "-1"}), {"--max-mape"});
  require_refused(validate({"--min-tau", "2"}), {"--min-tau"});
  require_refused(validate({"--detailed"}), {"--brief and --detailed"});
  require_refused(validate({"--csv", "-", "--json", "-"}), {"stdout"});
  require_refused(validate({"--html", "/no/such/folder/x.html"}), {"--html"});
  require_refused({"validate", "--recorded", "/no/such/folder"}, {"/no/such/folder"});
  // Flags of the other questions.
  require_refused(validate({"--cubin", "x"}), {"--cubin needs --ncu"});
  require_refused(validate({"--stages", "3"}), {"--stages needs --ncu"});
  require_refused(validate({"--launch", "7"}), {"--launch needs --ncu"});
  require_refused(validate({"--carveout", "100"}), {"--carveout needs --ncu"});
  require_refused(validate({"--limit", "9"}), {"--limit needs --live"});
}

TEST_CASE("validate: folders without recordings, with bad ones and without code", "[cli]") {
  const ScratchFolder folder;
  const std::string path = folder.file("");
  require_refused({"validate", "--recorded", path}, {"no recording"});
  const std::string name = "mma_bf16_128x128x64_64x32_a2_nt_v8_pa8_pb8";
  const std::string record = read_file(kSample + "/" + name + ".json");
  folder.write("a.json", record);
  folder.write("b.json", record);
  require_refused({"validate", "--recorded", path}, {"b.json", "kernel.name"});
  folder.write("b.json", "{\"kind\": \"tilesim-recording\"");
  require_refused({"validate", "--recorded", path}, {"b.json", "is not JSON"});
  std::remove(folder.file("b.json").c_str());
  // Without its code, or with another one, the run cannot be replayed; `--run` needs none.
  const ProcessResult absent = tilesim({"validate", "--recorded", path, "--replay", "--brief", "--max-mape", "99"});
  CHECK(absent.exit_code == 3);
  CHECK(absent.out.find("1 run could not be simulated") != std::string::npos);
  folder.write(name + ".cubin.zst", "something else");
  const ProcessResult other = tilesim({"validate", "--recorded", path, "--replay", "--brief"});
  CHECK(other.exit_code == 1);  // not one run
  CHECK(other.out.find("its SHA-256 is") != std::string::npos);
  CHECK(tilesim({"validate", "--recorded", path, "--brief"}).exit_code == 0);  // from generated code it can be
}

TEST_CASE("validate: a locked run that fails is not named; a carve-out of no GPU fails", "[cli]") {
  const ScratchFolder folder;
  const std::string locked = "mma_bf16_128x128x32_64x64_a2_nt_v8_pa8_pb8";
  for (const std::string& name : {locked, std::string("mma_bf16_128x128x64_64x32_a2_nt_v8_pa8_pb8"),
                                  std::string("mma_bf16_128x256x32_64x64_a4_nt_v8_pa8_pb8")}) {
    auto record = nlohmann::json::parse(read_file(kSample + "/" + name + ".json"));
    if (name != locked) {
      folder.write(name + ".cubin.zst", read_file(kSample + "/" + name + ".cubin.zst"));
      for (auto& run : record.at("runs")) {
        run.at("metrics")["launch__shared_mem_config_size"] = {
            {"value", 1e300}, {"unit", "byte"}, {"spread", 0}, {"repeats", 5}};
      }
    }
    folder.write(name + ".json", record.dump());
  }
  for (const char* form : {"never", "-"}) {
    std::vector<std::string> words{"validate", "--recorded", folder.file(""), "--replay", "--brief", "--all"};
    words.insert(words.end(), {form == std::string("-") ? "--json" : "--color", form});
    const ProcessResult result = tilesim(words);
    INFO(result.out << result.err);
    CHECK(result.exit_code == 1);
    CHECK(result.out.find(locked) == std::string::npos);
    CHECK(result.out.find("the recorded code is not there") != std::string::npos);
    CHECK(result.out.find("launch__shared_mem_config_size is 1e+300 bytes") != std::string::npos);
  }
}

TEST_CASE("validate: without the shipped set it says where to get it", "[cli]") {
  const ScratchFolder folder;
  const ProcessResult result = tilesim({"validate", "--run"}, {{"TILESIM_RECORDED", folder.file("none")}});
  CHECK(result.exit_code == 2);
  CHECK(result.err.find(folder.file("none")) != std::string::npos);
}

TEST_CASE("validate --ncu: a profile is listed, and compared with code and with a tile", "[cli]") {
  const std::string profile = std::string(TILESIM_CALIBRATION_FOLDER) + "/sgemm_32_32_32_2_2_s1_p0.1024x1024x1024.csv";
  const ProcessResult list = tilesim({"validate", "--ncu", profile});
  CHECK(list.exit_code == 0);
  CHECK(list.out.find("void sgemm_tile<32, 32, 32, 2, 2, 1, 0>") != std::string::npos);
  CHECK(list.out.find("32x32x1") != std::string::npos);
  // Grid, block, shared memory, registers, carve-out and clock are the profile's.
  const std::string args = "i32:1024,i32:1024,i32:1024,ptr:4MiB,ptr:4MiB,ptr:4MiB";
  const ProcessResult code =
      tilesim({"validate", "--ncu", profile, "--sass", listing(), "--args", args, "--json", "-"});
  INFO(code.err);
  REQUIRE(code.exit_code == 0);
  const auto json = nlohmann::json::parse(code.out);
  CHECK(json.at("launch").at("registers_per_thread") == 30);
  CHECK(json.at("launch").at("shared_bytes") == 8192);
  CHECK(json.at("warnings").empty());
  bool found = false;
  for (const auto& row : json.at("comparison")) {
    if (row.at("metric") == "smsp__inst_executed.sum") {
      found = true;
      CHECK(row.at("error") == 0.0);
      CHECK(row.at("measured") == row.at("predicted"));
    }
  }
  CHECK(found);
  const ProcessResult tile = tilesim({"validate", "--ncu", profile, "--tile", "32x32x32", "--thread-tile", "2x2", "--m",
                                      "1024", "--n", "1024", "--k", "1024", "--csv", "-"});
  REQUIRE(tile.exit_code == 0);
  CHECK(tile.out.starts_with("metric,unit,predicted,measured,error,error_unit\ngpu__time_duration.sum,ns,"));
  const ProcessResult mangled = tilesim({"validate", "--ncu", profile, "--sass", listing(), "--args", args, "--kernel",
                                         "_Z10sgemm_tileILi32ELi32ELi32ELi2ELi2ELi1ELi0EEviiiPKfS1_Pf", "--csv", "-"});
  INFO(mangled.err);
  CHECK(mangled.exit_code == 0);
  const ProcessResult other = tilesim({"validate", "--ncu", profile, "--sass", listing(), "--args",
                                       "i32:32,i32:32,i32:64,ptr:8KiB,ptr:8KiB,ptr:4KiB", "--grid", "1,1"});
  CHECK(other.exit_code == 0);
  CHECK(other.out.find("warning: the prediction is for a grid of 1x1x1, the profile for one of 32x32x1") !=
        std::string::npos);
}

TEST_CASE("validate --ncu: all three forms, and what is refused", "[cli]") {
  const std::string folder = TILESIM_TEST_PROFILES;
  for (const auto& [name, form] :
       {std::pair{"long.csv.zst", "a row per metric"}, std::pair{"long_base.csv.zst", "a row per metric"},
        std::pair{"wide.csv.zst", "a row per launch"}, std::pair{"wide_base.csv.zst", "a row per launch"},
        std::pair{"details.txt.zst", "text of a page"}, std::pair{"details_all.txt.zst", "text of a page"},
        std::pair{"raw.txt.zst", "text of a page"}, std::pair{"mixed.csv", "a row per metric"}}) {
    const ProcessResult list = tilesim({"validate", "--ncu", folder + "/" + name, "--all"});
    INFO(name << list.err);
    CHECK(list.exit_code == 0);
    CHECK(list.out.find(form) != std::string::npos);
    CHECK(list.out.find("5 launches") != std::string::npos);
    CHECK(list.out.find("gpu__time_duration.sum") != std::string::npos);
  }
  const std::string several = folder + "/wide.csv.zst";
  require_refused({"validate", "--ncu", several, "--tile", "32x32x32", "--m", "1024", "--n", "1024", "--k", "1024"},
                  {"5 launches", "--launch"});
  require_refused({"validate", "--ncu", several, "--launch", "7", "--tile", "32x32x32"}, {"number 7"});
  require_refused({"validate", "--ncu", several, "--launch", "1", "--tile", "32x32x32"}, {"--m, --n and --k"});
  require_refused({"validate", "--ncu", several, "--launch", "1", "--sass", listing(), "--tile", "32x32x32"},
                  {"--sass and --cubin"});
  require_refused({"validate", "--ncu", several, "--replay"}, {"--replay does not go with --ncu"});
  require_refused({"validate", "--ncu", several, "--html", "-"}, {"--html does not go with --ncu"});
  require_refused({"validate", "--ncu", several, "--live"}, {"--live does not go with --ncu"});
  require_refused({"validate", "--ncu", several, "--launch", "1", "--sass", listing(), "--m", "64"},
                  {"--m does not go with --sass and --cubin"});
  require_refused({"validate", "--ncu", several, "--launch", "1", "--tile", "32x32x32", "--grid", "8"},
                  {"--grid does not go with a tile configuration"});
  // Where nothing is predicted.
  require_refused({"validate", "--ncu", several, "--launch", "1"}, {"--launch needs code or a tile"});
  require_refused({"validate", "--ncu", several, "--csv", "-"}, {"--csv needs code or a tile"});
  require_refused({"validate", "--ncu", several, "--m", "1024"}, {"--m needs code or a tile"});
  require_refused({"validate", "--ncu", several, "--dtype", "bf16"}, {"--dtype needs code or a tile"});
  require_refused({"validate", "--ncu", several, "--launch", "1", "--tile", "32x32x32", "--csv", "-", "--json", "-"},
                  {"two outputs", "stdout"});
  require_refused({"validate", "--ncu", "/no/such/file"}, {"/no/such/file"});
  require_refused({"validate", "--ncu", listing()}, {"no profile", "--import"});
}

TEST_CASE("validate --ncu: each form beside the code, with conflicts, hit rates and waiting states of the file",
          "[cli]") {
  const std::string folder = TILESIM_TEST_PROFILES "/";
  const std::string state = "smsp__average_warps_issue_stalled_";
  // Of launch 3, as wide_base.csv prints them, to two digits behind the point.
  const std::vector<std::pair<std::string, double>> rows{
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 36498.0},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 294188.0},
      {"lts__t_sector_op_read_hit_rate.pct", 87.28},
      {state + "mio_throttle_per_issue_active.ratio", 20.67},
      {state + "long_scoreboard_per_issue_active.ratio", 5.66}};
  for (const auto& [name, has_rows] :
       {std::pair{"long.csv.zst", false}, std::pair{"wide.csv.zst", true}, std::pair{"wide_base.csv.zst", true},
        std::pair{"details.txt.zst", false}, std::pair{"details_all.txt.zst", true}, std::pair{"raw.txt.zst", true}}) {
    const ProcessResult result =
        tilesim({"validate", "--ncu", folder + name, "--kernel", "gemm", "--launch", "3", "--cubin",
                 folder + "gemm.cubin", "--args", "i32:1024,ptr:16MiB,ptr:16MiB,ptr:16MiB", "--json", "-"});
    INFO(name << result.err);
    REQUIRE(result.exit_code == 0);
    const auto json = nlohmann::json::parse(result.out);
    CHECK(json.at("warnings").empty());
    std::map<std::string, nlohmann::json> compared;
    for (const auto& row : json.at("comparison")) {
      compared[row.at("metric")] = row;
    }
    CHECK(compared.at("smsp__inst_executed.sum").at("measured") == 90243072.0);
    CHECK(compared.at("smsp__inst_executed.sum").at("error") == 0.0);
    CHECK(compared.at("launch__shared_mem_config_size").at("error") == 0.0);  // 32.77 Kbyte and 32,768 byte
    for (const auto& [metric, value] : rows) {
      INFO(metric);
      CHECK(compared.contains(metric) == has_rows);
      if (has_rows) {
        constexpr double kHalfDigit = 0.0051;
        CHECK(std::abs(compared[metric].at("measured").get<double>() - value) <= kHalfDigit);
      }
    }
  }
}

TEST_CASE("validate --live: without a GPU it says what is missing", "[cli]") {
  const ScratchFolder empty;  // a machine with a GPU, too, has no kernels there
  const ProcessResult result =
      tilesim({"validate", "--live"},
              {{"TILESIM_KERNELS", empty.file("none")}, {"PATH", empty.file("none")}, {"NVCC", ""}, {"CUDA_HOME", ""}});
  CHECK(result.exit_code == 4);
  for (const char* word : {"nvcc", "ncu", "the runner", "TILESIM_KERNELS", "--replay"}) {
    INFO(word);
    CHECK(result.err.find(word) != std::string::npos);
  }
  require_refused({"validate", "--live", "--recorded", "x"}, {"--recorded does not go with --live"});
  require_refused({"validate", "--live", "--limit", "0"}, {"--limit"});
  // Before anything is measured: what does not go with it, and what is wrong.
  for (const char* flag : {"--family", "--dtype", "--part"}) {
    require_refused({"validate", "--live", flag, "mma"}, {std::string(flag) + " does not go with --live", "--only"});
  }
  require_refused({"validate", "--live", "--metric", "time"}, {"--metric 'time'"});
  require_refused({"validate", "--live", "--min-tau", "2"}, {"--min-tau"});
  require_refused({"validate", "--live", "--csv", "/no/such/folder/x.csv"}, {"--csv"});
  require_refused({"validate", "--live", "--html", "/no/such/folder/x.html"}, {"--html"});
  require_refused({"validate", "--live", "--shapes", "64x64"}, {"--shapes"});
  require_refused({"validate", "--live", "--stages", "3"}, {"--stages needs --ncu"});
  const ProcessResult unlocked = tilesim({"validate", "--live"}, {{"TILESIM_RECORDED", empty.file("none")}});
  CHECK(unlocked.exit_code == 2);
  CHECK(unlocked.err.find("which kernels are locked") != std::string::npos);
  CHECK(unlocked.err.find(empty.file("none")) != std::string::npos);
}

TEST_CASE("validate --live: nvcc is that of NVCC alone, else of CUDA_HOME, else of PATH; a folder is none", "[cli]") {
  const ScratchFolder scratch;
  const std::filesystem::path root = scratch.file("");
  const auto program = [](const std::filesystem::path& path) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  };
  program(root / "cuda" / "bin" / "nvcc");
  program(root / "path" / "nvcc");
  std::filesystem::create_directories(root / "folders" / "nvcc");
  const auto missing = [&](const std::string& nvcc, const std::string& toolkit, const std::string& search) {
    const ProcessResult result = tilesim(
        {"validate", "--live"},
        {{"TILESIM_KERNELS", scratch.file("none")}, {"NVCC", nvcc}, {"CUDA_HOME", toolkit}, {"PATH", root / search}});
    CHECK(result.exit_code == 4);  // there is no runner
    return result.err.find("nvcc, ") != std::string::npos;
  };
  CHECK_FALSE(missing("", root / "cuda", "none"));
  CHECK_FALSE(missing("", root / "none", "path"));
  CHECK_FALSE(missing("nvcc", "", "path"));
  CHECK_FALSE(missing(root / "path" / "nvcc", "", "none"));
  CHECK(missing("no_such_nvcc", root / "cuda", "path"));
  CHECK(missing("", "", "folders"));
  CHECK(missing(root / "folders" / "nvcc", "", "path"));
}

}  // namespace tilesim::test
