// Cubins on the command line: replay, check, trace kernels.
#include <nlohmann/json.hpp>

#include "tests/tools/command.h"

namespace tilesim::test {

namespace {

const std::string kTwoKernels = std::string(TILESIM_TEST_CUBINS) + "/two_kernels.cubin";
const std::string kGemm = std::string(TILESIM_PTXAS_FOLDER) + "/simt_64x64x16_8x4_s2_nn_v4.cubin";
const std::string kArguments = "i32:64,i32:64,i32:64,ptr:16KiB,ptr:16KiB,ptr:16KiB";

std::vector<std::string> replay_of(const std::string& cubin, const std::string& arguments,
                                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"replay", "--cubin", cubin, "--grid", "1", "--block", "128", "--args", arguments};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

nlohmann::json json_of(const std::vector<std::string>& words) {
  const ProcessResult result = tilesim(words);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return nlohmann::json::parse(result.out);
}

}  // namespace

TEST_CASE("trace kernels lists what a cubin holds", "[cli]") {
  const ProcessResult text = tilesim({"trace", "kernels", kTwoKernels});
  REQUIRE(text.exit_code == 0);
  CHECK(text.out.find("(cubin) holds 2 kernels") != std::string::npos);
  CHECK(text.out.find("scale(float*, float): 8 at 0, 4 at 8") != std::string::npos);
  // cuobjdump -res-usage of the same file: REG:8 STACK:0 SHARED:0 LOCAL:0 for scale.
  const auto json = json_of({"trace", "kernels", kTwoKernels, "--json", "-"});
  CHECK(json["format"] == "cubin");
  REQUIRE(json["kernels"].size() == 2);
  const auto& scale = json["kernels"][1];
  CHECK(scale["name"] == "_Z5scalePff");
  CHECK(scale["architecture"] == 90);
  CHECK(scale["registers_per_thread"] == 8);
  CHECK(scale["maximum_threads"] == 64);
  CHECK(scale["parameters"] == nlohmann::json::parse(R"([{"offset":0,"bytes":8},{"offset":8,"bytes":4}])"));
}

TEST_CASE("trace kernels tells what a listing does not know as null", "[cli]") {
  const auto json = json_of({"trace", "kernels", listing(), "--json", "-"});
  CHECK(json["format"] == "listing");
  CHECK(json["kernels"][0]["registers_per_thread"].is_null());
  CHECK(json["kernels"][0]["demangled"].get<std::string>().find("sgemm_tile<32, 32, 32, 2, 2, 1, 0>") !=
        std::string::npos);
}

TEST_CASE("trace kernels refuses what is neither", "[cli]") {
  const ScratchFolder scratch;
  require_refused({"trace", "kernels", scratch.write("notes.txt", "no code in here\n")}, {"notes.txt"});
  require_refused({"trace", "kernels", "/no/such/file"}, {"/no/such/file"});
  require_refused({"trace", "kernels", TILESIM_COMMAND}, {"tilesim"});
  require_refused({"trace", "kernel"}, {"unknown command", "did you mean 'kernels'"});
  // A slip gets a suggestion, anything else none.
  require_refused({"replay", "--cubin", kTwoKernels, "--kernel", "scael", "--grid", "1", "--block", "32"},
                  {"'scael' fits no kernel of", "nothing(); scale(float*, float).", "Did you mean scale?"});
  const ProcessResult far =
      tilesim({"replay", "--cubin", kTwoKernels, "--kernel", "gemm", "--grid", "1", "--block", "32"});
  CHECK(far.exit_code == 2);
  CHECK(far.err.find("Did you mean") == std::string::npos);
}

TEST_CASE("a bare trace lists its commands", "[cli]") {
  const ProcessResult bare = tilesim({"trace"});
  CHECK(bare.exit_code == 2);
  CHECK(bare.out.find("trace kernels") != std::string::npos);
  CHECK(tilesim({"trace", "--help"}).exit_code == 0);
  CHECK(tilesim({"help", "trace", "kernels"}).out == tilesim({"trace", "kernels", "--help"}).out);
}

TEST_CASE("a cubin brings its registers and shared memory to a replay", "[cli]") {
  const auto json = json_of(replay_of(kGemm, kArguments, {"--smem", "1024", "--json", "-"}));
  CHECK(json["kernel"]["cubin"] == kGemm);
  CHECK(json["launch"]["registers_per_thread"] == 96);  // nvcc -Xptxas -v of the same kernel
  CHECK(json["launch"]["registers_assumed"] == false);
  CHECK(json["launch"]["shared_bytes"] == 16384 + 1024);  // two stages of 64 x 16 floats of A and B, plus --smem
}

TEST_CASE("a replay refuses what contradicts the cubin", "[cli]") {
  require_refused(replay_of(kTwoKernels, ""), {"holds 2 kernels", "scale(float*, float)", "nothing()"});
  require_refused(replay_of(kTwoKernels, "", {"--kernel", "scael"}),
                  {"'scael' fits no kernel", "scale(float*, float)"});
  require_refused(replay_of(kTwoKernels, "ptr:1KiB,f32:1", {"--kernel", "scale"}), {"block of 128 threads", "64"});
  require_refused(replay_of(kGemm, kArguments, {"--regs", "90"}), {"--regs 90", "96"});
  require_refused(replay_of(kGemm, kArguments, {"--sass", listing()}), {"--sass and --cubin"});
  require_refused(replay_of(kGemm, kArguments + ",i32:1"), {"takes 6 arguments", "4, 4, 4, 8, 8, 8 bytes", "7 given"});
  require_refused(replay_of(kGemm, "i32:64,i32:64,i64:64,ptr:16KiB,ptr:16KiB,ptr:16KiB"),
                  {"argument 3 has 8 bytes", "offset 8 has 4", "i32:"});
  require_refused(replay_of(listing(), kArguments), {"ELF"});
}

TEST_CASE("kernels with barriers of a part of the CTA are timed, in blocks that fill them", "[cli]") {
  const std::string warps = TILESIM_CORPUS_FOLDER "/recorded/warps.sm_90.cubin.gz";
  const auto replay = [&](const std::string& kernel, const std::string& block) {
    return std::vector<std::string>{"replay",
                                    "--cubin",
                                    warps,
                                    "--kernel",
                                    kernel,
                                    "--grid",
                                    "1",
                                    "--block",
                                    block,
                                    "--args",
                                    "i32:32,i32:32,i32:320,ptr:40KiB,ptr:40KiB,ptr:4KiB",
                                    "--json",
                                    "-"};
  };
  // Consumers arrive where producers wait; each half of the CTA has its own.
  for (const auto& [kernel, block] : {std::pair{"sgemm_named_barriers", "256"}, {"sgemm_half_barriers", "512"}}) {
    CHECK(json_of(replay(kernel, block))["result"]["metrics"]["sm__cycles_elapsed.max"]["value"] > 5000);
  }
  require_refused(replay("sgemm_named_barriers", "128"),
                  {"barrier 3 of 256 threads", "its 128 threads", "Check the block size"});
}

TEST_CASE("machine code for another architecture is timed only if that is asked for", "[cli]") {
  const std::vector<std::string> ampere{"--set", "gpu.device.compute_capability_major=8"};
  require_refused(replay_of(kGemm, kArguments, ampere), {"sm_90", "--arch-mismatch allow"});
  const ProcessResult result =
      tilesim(replay_of(kGemm, kArguments, {ampere[0], ampere[1], "--arch-mismatch", "allow"}));
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.out.find("sm_90 timed as if it ran on h200") != std::string::npos);
  // Everywhere that the remedy is named.
  const ScratchFolder scratch;
  const auto others = [&](std::vector<std::string> words) {
    const std::vector<std::string> code = replay_of(kGemm, kArguments, ampere);
    words.insert(words.end(), code.begin() + 1, code.end());
    require_refused(words, {"sm_90", "--arch-mismatch allow"});
    words.insert(words.end(), {"--arch-mismatch", "allow"});
    const ProcessResult timed = tilesim(words);
    INFO(timed.err);
    CHECK(timed.exit_code == 0);
    words.back() = "yes";
    require_refused(words, {"'yes' is not 'allow'"});
  };
  others({"trace", "record", "--ctas", "0", "--out", scratch.file("kernel.tst")});
  others({"validate", "--ncu", TILESIM_TEST_PROFILES "/wide.csv.zst", "--launch", "4"});
}

TEST_CASE("check gives the occupancy of a kernel in a cubin", "[cli]") {
  const auto json = json_of({"check", "--cubin", kGemm, "--json", "-"});
  CHECK(json["kernel"]["name"] == "tile_gemm");
  // 96 registers are 12,288 for four warps: five of them in 65,536.
  CHECK(json["result"]["occupancy"]["resident_ctas_per_sm"] == 5);
  const auto fewer = json_of({"check", "--cubin", kGemm, "--threads", "64", "--smem", "100000", "--json", "-"});
  CHECK(fewer["launch"]["shared_bytes"] == 116384);
  CHECK(fewer["result"]["occupancy"]["limit_shared_mem"] == 1);
}

TEST_CASE("check refuses what does not go with a cubin", "[cli]") {
  require_refused({"check", "--cubin", kGemm, "--threads", "256"}, {"--threads 256", "128"});
  require_refused({"check", "--cubin", kGemm, "--regs", "32"}, {"--regs"});
  require_refused({"check", "--cubin", kGemm, "--tile", "64x64x8"}, {"--cubin does not go with a tile"});
  require_refused({"check", "--kernel", "x", "--threads", "64", "--regs", "32"}, {"--kernel needs --cubin"});
  require_refused({"check", "--cubin", kTwoKernels, "--kernel", "nothing"}, {"--threads is missing"});
  require_refused({"check", "--cubin", kTwoKernels}, {"holds 2 kernels"});
}

}  // namespace tilesim::test
