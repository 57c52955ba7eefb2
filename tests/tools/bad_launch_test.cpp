// Listings that are damaged, and launches that do not match the kernel.
#include <fmt/format.h>

#include "tests/tools/command.h"

namespace tilesim::test {

namespace {

std::vector<std::string> replay_of(const std::string& sass) {
  Replay replay;
  replay.sass = sass;
  return replay.words();
}

}  // namespace

TEST_CASE("a missing listing is refused", "[cli]") {
  require_refused(replay_of("/no/such/listing.sass"), {"/no/such/listing.sass"});
}

TEST_CASE("an empty listing is refused", "[cli]") {
  const ScratchFolder scratch;
  require_refused(replay_of(scratch.write("empty.sass", "")), {"empty.sass"});
}

TEST_CASE("a truncated listing is refused with the line", "[cli]") {
  const ScratchFolder scratch;
  const std::string text = read_file(listing());
  // In the middle of an instruction: after the first half of the last encoding but a few.
  const std::size_t cut = text.rfind("/* 0x", text.size() / 2);
  REQUIRE(cut != std::string::npos);
  require_refused(replay_of(scratch.write("cut.sass", text.substr(0, cut + 10))), {"cut.sass:"});
}

TEST_CASE("a binary listing is refused", "[cli]") {
  const ScratchFolder scratch;
  std::string bytes(
      "\x7f"
      "ELF");
  for (int i = 0; i < 4096; ++i) {
    bytes.push_back(static_cast<char>(i * 37 % 251));
  }
  require_refused(replay_of(scratch.write("kernel.cubin", bytes)), {"kernel.cubin"});
}

TEST_CASE("a folder as a listing is refused", "[cli]") { require_refused(replay_of("/tmp"), {"/tmp"}); }

TEST_CASE("an opcode that is not known is refused with its name and line", "[cli]") {
  const ScratchFolder scratch;
  std::string text = read_file(listing());
  const std::size_t ffma = text.find("FFMA");
  const std::size_t end = text.find(" */", text.find("/* 0x", ffma));
  REQUIRE(end != std::string::npos);
  text.replace(end - 3, 3, "ffe");
  require_refused(replay_of(scratch.write("opcode.sass", text)), {"opcode.sass:", "FFMA"});
}

TEST_CASE("an unknown kernel is refused with those that there are", "[cli]") {
  require_refused(Replay{}.words({"--kernel", "no_such_kernel"}), {"no_such_kernel", "sgemm_tile"});
}

TEST_CASE("an unknown instruction is refused, or does nothing if that is asked for", "[cli]") {
  const ScratchFolder scratch;
  std::string odd = read_file(listing());
  const std::string nop = "/* 0x0000000000007918 */";
  const std::size_t at = odd.find(nop);  // behind the last EXIT
  REQUIRE(at != std::string::npos);
  odd.replace(at, nop.size(), "/* 0x00000000000071ff */");
  Replay replay;
  replay.sass = scratch.write("odd.sass", odd);
  std::vector<std::string> words = replay.words();
  require_refused(words, {"odd.sass", "0x1ff"});
  words.insert(words.end(), {"--unknown", "nop"});
  const ProcessResult result = tilesim(words);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK((result.out + result.err).find("1 unknown instruction") != std::string::npos);
  words.back() = "skip";
  require_refused(words, {"'skip' is not 'nop'"});
}

TEST_CASE("an unknown flag of replay is refused with the nearest one", "[cli]") {
  require_refused(Replay{}.words({"--carveuot", "100"}), {"--carveuot", "did you mean '--carveout'"});
}

TEST_CASE("a block that is no whole number of warps is refused", "[cli]") {
  Replay replay;
  replay.block = "100";
  require_refused(replay.words(), {"--block 100,1,1", "100 threads", "use 128"});
}

TEST_CASE("a block over 1,024 threads is refused", "[cli]") {
  Replay replay;
  replay.block = "64,32";
  require_refused(replay.words(), {"--block 64,32,1", "1024"});
}

TEST_CASE("a grid that is zero, negative, too large or overflows is refused", "[cli]") {
  Replay replay;
  for (const auto& [grid, problem] :
       std::vector<std::pair<std::string, std::string>>{{"0,1", "--grid 0 is zero"},
                                                        {"-1", "--grid -1 is negative"},
                                                        {"2147483648", "is too large"},
                                                        {"1,65536", "is too large"},
                                                        {"2147483647,65535,65535", "too many"},
                                                        {"2147483647", "too many"},
                                                        {"99999999999999999999", "64 bits"},
                                                        {"1,2,3,4", "1 to 3 numbers"},
                                                        {"32x32", "give 1 to 3 numbers separated by ','"},
                                                        {"1,,1", "not a whole number"}}) {
    replay.grid = grid;
    require_refused(replay.words(), {"--grid", problem});
  }
}

TEST_CASE("a launch without grid, block or listing is refused", "[cli]") {
  require_refused({"replay", "--sass", listing(), "--block", "256"}, {"--grid is missing"});
  require_refused({"replay", "--sass", listing(), "--grid", "1"}, {"--block is missing"});
  require_refused({"replay", "--grid", "1"}, {"--sass or --cubin is missing"});
}

TEST_CASE("fewer argument bytes than the code reads are refused", "[cli]") {
  Replay replay;
  replay.args = "i32:32,i32:32,i32:64,ptr:8KiB,ptr:8KiB";
  require_refused(replay.words(), {"argument"});
}

TEST_CASE("a malformed argument is refused", "[cli]") {
  Replay replay;
  for (const auto& [args, problem] : std::vector<std::pair<std::string, std::string>>{
           {"i32:99999999999", "i32:99999999999"}, {"int:3", "int:3"}, {"ptr:0", "ptr:0"}, {"i32:3,,i32:4", "empty"}}) {
    replay.args = args;
    require_refused(replay.words(), {problem});
  }
}

TEST_CASE("an access outside its allocation is refused", "[cli]") {
  Replay replay;
  replay.args = "i32:32,i32:32,i32:64,ptr:1KiB,ptr:8KiB,ptr:4KiB";
  require_refused(replay.words(), {"allocation"});
}

TEST_CASE("an access outside shared memory is refused", "[cli]") {
  Replay replay;
  replay.smem = "1024";
  require_refused(replay.words(), {"shared"});
}

TEST_CASE("a launch that does not fit an SM is refused", "[cli]") {
  Replay replay;
  replay.smem = "300000";
  require_refused(replay.words(), {"300000"});
  require_refused(Replay{}.words({"--regs", "256"}), {"--regs 256"});
}

TEST_CASE("fewer registers than the code uses are refused", "[cli]") {
  require_refused(Replay{}.words({"--regs", "20"}), {"--regs 20", "registers that the code uses"});
}

TEST_CASE("arguments that do not match the kernel's signature are refused", "[cli]") {
  Replay replay;
  replay.args = "i64:32,i32:32,i32:64,ptr:8KiB,ptr:8KiB,ptr:4KiB";
  require_refused(replay.words(), {"argument 1 is 'i64:32'", "parameter is int", "pass i32"});
  replay.args = "i32:32,i32:32,i32:64,ptr:8KiB,ptr:8KiB,ptr:4KiB,i32:1";
  require_refused(replay.words(), {"takes 6 arguments", "7 given"});
}

TEST_CASE("allocations beyond the GPU's memory are refused", "[cli]") {
  Replay replay;
  replay.args = "i32:32,i32:32,i32:64,ptr:100GiB,ptr:100GiB,ptr:4KiB";
  require_refused(replay.words(), {"bytes, h200 has", "smaller ptr"});
}

TEST_CASE("code for another compute capability is refused", "[cli]") {
  require_refused(Replay{}.words({"--set", "gpu.device.compute_capability_major=8"}), {"sm_90", "8.0"});
}

TEST_CASE("more CTAs than are simulated are refused", "[cli]") {
  require_refused({"run", "--m", "512", "--n", "512", "--k", "64", "--batch", "65535"},
                  {"the grid has 1048560 CTAs", "larger tiles"});
}

TEST_CASE("run counts useful products only", "[cli]") {
  const ProcessResult result = tilesim({"run", "--m", "1", "--n", "4096", "--k", "64"});
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("f32 nn: 524.3 kFLOP") != std::string::npos);  // 2 * 1 * 4096 * 64
}

}  // namespace tilesim::test
