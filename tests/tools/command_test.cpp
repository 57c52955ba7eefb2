// The built command: help, version, exit codes, streams, JSON, colour, determinism.
#include "tests/tools/command.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tilesim::test {

namespace {

const std::vector<std::string> kCheck{"check", "--m", "4096", "--n", "4096", "--k", "4096", "--gpu", "article-card"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("a bare call prints short help with two examples and exits 2", "[cli]") {
  const ProcessResult bare = tilesim({});
  CHECK(bare.exit_code == 2);
  CHECK(bare.out.find("Examples:\n  tilesim ") != std::string::npos);
  for (const std::string command : {"run", "check", "replay"}) {
    const ProcessResult result = tilesim({command});
    CHECK(result.exit_code == 2);
    CHECK(result.out.find("Usage: tilesim " + command) != std::string::npos);
  }
}

TEST_CASE("-h and --help anywhere print help on stdout and exit 0", "[cli]") {
  for (const auto& words : std::vector<std::vector<std::string>>{{"--help"},
                                                                 {"-h"},
                                                                 {"help"},
                                                                 {"check", "--help"},
                                                                 {"help", "check"},
                                                                 {"replay", "--grid", "0", "-h"},
                                                                 {"gpus", "show", "--help"},
                                                                 {"--help", "check"}}) {
    const ProcessResult result = tilesim(words);
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("Usage: tilesim ") != std::string::npos);
    CHECK(result.err.empty());
  }
}

TEST_CASE("help lists flags by group, aliases and exit codes", "[cli]") {
  CHECK(tilesim({"check", "--help"}).out.find("(also --cta_m)") != std::string::npos);
  CHECK(tilesim({"--help"}).out.find("130 interrupted") != std::string::npos);
}

TEST_CASE("--version names version, commit, build type and compiler", "[cli]") {
  const ProcessResult text = tilesim({"--version"});
  CHECK(text.exit_code == 0);
  CHECK(text.out.starts_with("tilesim 0."));
  const auto json = nlohmann::json::parse(tilesim({"--version", "--json"}).out);
  for (const char* key : {"version", "git", "dirty", "build_type", "compiler"}) {
    CHECK(json.contains(key));
  }
}

TEST_CASE("--gpu help and gpus list the shipped specs", "[cli]") {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"gpus"}, {"gpus", "list"}, {"check", "--gpu", "help"}}) {
    const ProcessResult result = tilesim(words);
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("h200") != std::string::npos);
    CHECK(result.out.find("article-card") != std::string::npos);
  }
}

TEST_CASE("a shipped spec file passes gpus check, and stands for its name", "[cli]") {
  const std::string file = std::string(TILESIM_SPEC_FOLDER) + "/h200.toml";
  CHECK(tilesim({"gpus", "check", file}).exit_code == 0);
  CHECK(tilesim({"check", "--gpu", file}).out == tilesim({"check", "--gpu", "h200"}).out);
}

TEST_CASE("--set changes the spec and its provenance", "[cli]") {
  const ProcessResult result = tilesim(with(kCheck, {"--set", "gpu.device.sm_count=70", "--json", "-"}));
  REQUIRE(result.exit_code == 0);
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json["gpu"]["numbers"]["device.sm_count"]["value"] == 70);
  CHECK(json["result"]["metrics"]["tilesim__ctas_per_sm"]["value"].get<double>() == Approx(1024.0 / 70.0));
}

TEST_CASE("JSON on stdout is the only thing there", "[cli]") {
  const ProcessResult result = tilesim(with(kCheck, {"--json", "-"}));
  CHECK(result.exit_code == 0);
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json["schema_version"] == "1.0.0");
  CHECK(json["problem"]["m"] == 4096);
  CHECK(json["result"]["metrics"]["launch__occupancy_limit_registers"]["kind"] == "analytic");
}

TEST_CASE("JSON to a file leaves the text on stdout", "[cli]") {
  const ScratchFolder scratch;
  const ProcessResult result = tilesim(with(kCheck, {"--json", scratch.file("out.json")}));
  CHECK(result.exit_code == 0);
  CHECK(result.out == tilesim(kCheck).out);
  CHECK(nlohmann::json::parse(read_file(scratch.file("out.json")))["meta"]["command"] == "check");
}

TEST_CASE("a refused question leaves no output file behind and spoils none", "[cli]") {
  const ScratchFolder scratch;
  const std::string old = scratch.write("old.json", "old");
  for (const std::string& path : {scratch.file("new.json"), old}) {
    CHECK(tilesim({"check", "--tile", "1024x1024x64", "--json", path}).exit_code == 2);
  }
  CHECK(read_file(scratch.file("new.json")).empty());
  CHECK(read_file(old) == "old");
}

TEST_CASE("a full device is a failed run", "[cli]") {
  const ProcessResult result = tilesim(with(kCheck, {"--json", "/dev/full"}));
  CHECK(result.exit_code == 1);
  CHECK(result.err.find("cannot be written") != std::string::npos);
}

TEST_CASE("a reader that goes away is no error", "[cli]") {
  const std::string command = std::string(TILESIM_COMMAND) + " gpus show h200 | true; echo ${PIPESTATUS[0]}";
  const ProcessResult result = run_process("/bin/bash", {"-c", command});
  CHECK(result.out == "0\n");
  CHECK(result.err.empty());
}

TEST_CASE("a pipe gets no colour unless it is asked for", "[cli]") {
  CHECK(tilesim(kCheck).out.find('\x1b') == std::string::npos);
  CHECK(tilesim(with(kCheck, {"--color", "always"})).out.find('\x1b') != std::string::npos);
  CHECK(tilesim(kCheck, {{"FORCE_COLOR", "1"}}).out.find('\x1b') != std::string::npos);
  CHECK(tilesim(kCheck, {{"FORCE_COLOR", "1"}, {"NO_COLOR", "1"}}).out.find('\x1b') == std::string::npos);
}

TEST_CASE("CUTLASS spellings say the same as ours", "[cli]") {
  CHECK(tilesim(with(kCheck, {"--cta_m", "64", "--cta_n", "64", "--cta_k", "8"})).out ==
        tilesim(with(kCheck, {"--tile", "64x64x8"})).out);
}

TEST_CASE("check fits a screen, and --all says more", "[cli]") {
  const std::string text = tilesim(kCheck).out;
  CHECK(std::count(text.begin(), text.end(), '\n') <= 40);
  CHECK(tilesim(with(kCheck, {"--all"})).out.starts_with(text));
}

TEST_CASE("check reproduces the worked example", "[cli]") {
  const std::string text = tilesim(with(kCheck, {"--tile", "128x128x8", "--thread-tile", "8x8", "--all"})).out;
  for (const std::string number : {"256 threads", "262144 FLOP", "1024 cycles", "682.7 FLOP/B",
                                   "1024 CTAs of 512 K-steps", "349.5 us", "2.557 ms", "201.3 MB"}) {
    INFO(number);
    CHECK(text.find(number) != std::string::npos);
  }
  const std::string occupancy =
      tilesim({"check", "--threads", "256", "--regs", "100", "--smem", "16384", "--gpu", "article-card"}).out;
  CHECK(occupancy.find(": 2 CTAs per SM (25.0 % of its warps), limited by registers.") != std::string::npos);
  CHECK(occupancy.find("26624 (104 per thread)") != std::string::npos);
}

TEST_CASE("a small replay answers in text and JSON, the same bytes each time and with any number of threads", "[cli]") {
  const ProcessResult text = tilesim(Replay{}.words());
  INFO(text.err);
  REQUIRE(text.exit_code == 0);
  CHECK(text.out.find("Warp states") != std::string::npos);
  CHECK(std::count(text.out.begin(), text.out.end(), '\n') <= 40);
  const ProcessResult one = tilesim(Replay{}.words({"--json", "-", "-j", "1"}));
  const ProcessResult again = tilesim(Replay{}.words({"--json", "-", "-j", "1"}));
  const ProcessResult four = tilesim(Replay{}.words({"--json", "-", "-j", "4"}));
  CHECK(one.out == again.out);
  CHECK(one.out == four.out);
  const auto json = nlohmann::json::parse(one.out);
  CHECK(json["result"]["metrics"]["tilesim__flops.sum"]["value"] == 2 * 32 * 32 * 64);
  CHECK(json["launch"]["carveout_assumed"] == true);
}

TEST_CASE("detailed mode simulates every SM with work, the same with any number of threads", "[cli]") {
  Replay replay;
  replay.grid = "2,2";
  replay.args = "i32:64,i32:64,i32:64,ptr:16KiB,ptr:16KiB,ptr:16KiB";
  const ProcessResult result = tilesim(replay.words({"--detailed", "--json", "-", "-j", "1"}));
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(tilesim(replay.words({"--detailed", "--json", "-", "-j", "4"})).out == result.out);
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json["result"]["coverage"]["mode"] == "detailed");
  CHECK(json["result"]["coverage"]["simulated_sms"] == 4);
}

}  // namespace tilesim::test
