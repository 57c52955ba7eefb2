// Traces on the command line: what is recorded replays to the same bytes, and what is wrong is refused.
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/tools/command.h"

namespace tilesim::test {

namespace {

std::string fine(const std::vector<std::string>& words) {
  const ProcessResult result = tilesim(words);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return result.out;
}

/// The words of a replay as those of its recording to `file`.
std::vector<std::string> recording(const std::vector<std::string>& replay, const std::string& file) {
  std::vector<std::string> words{"trace", "record", "--out", file};
  words.insert(words.end(), replay.begin() + 1, replay.end());
  return words;
}

Replay long_replay() {
  Replay replay;
  replay.grid = "4,3";
  replay.args = "i32:96,i32:128,i32:8192,ptr:4MiB,ptr:4MiB,ptr:64KiB";
  return replay;
}

}  // namespace

TEST_CASE("the replay of a trace prints the bytes of the replay that it was recorded from", "[cli]") {
  const ScratchFolder scratch;
  const std::string file = scratch.file("kernel.tst");
  const std::vector<std::string> words = long_replay().words();  // 256 trips: two shortened runs in the default mode
  fine(recording(words, file));
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--json", "-"}, {"--carveout", "100"}, {"--set", "gpu.device.sm_count=8"}}) {
    std::vector<std::string> direct = words;
    direct.insert(direct.end(), more.begin(), more.end());
    std::vector<std::string> traced{"replay", "--trace", file};
    traced.insert(traced.end(), more.begin(), more.end());
    CHECK(fine(traced) == fine(direct));
  }
  Replay small;
  small.grid = "2,1";
  small.args = "i32:32,i32:64,i32:128,ptr:64KiB,ptr:64KiB,ptr:64KiB";
  fine(recording(small.words(), file));
  CHECK(fine({"replay", "--trace", file, "--detailed", "--json", "-"}) ==
        fine(small.words({"--detailed", "--json", "-"})));
}

TEST_CASE("a cubin and a generated tile are recorded too", "[cli]") {
  const ScratchFolder scratch;
  const std::string file = scratch.file("kernel.tst");
  const std::vector<std::string> cubin{
      "replay", "--cubin", std::string(TILESIM_PTXAS_FOLDER) + "/simt_64x64x16_4x4_a3_nn_v4.cubin",
      "--grid", "2,2",     "--block",
      "256",    "--args",  "i32:128,i32:128,i32:640,ptr:512KiB,ptr:512KiB,ptr:64KiB"};
  fine(recording(cubin, file));
  CHECK(fine({"replay", "--trace", file}) == fine(cubin));

  const std::vector<std::string> tile{"--tile", "64x64x8", "--thread-tile", "8x4", "--m",
                                      "256",    "--n",     "256",           "--k", "2048"};
  std::vector<std::string> words{"trace", "record", "--out", file};
  words.insert(words.end(), tile.begin(), tile.end());
  fine(words);
  words = {"run", "--json", "-"};
  words.insert(words.end(), tile.begin(), tile.end());
  const auto run = nlohmann::json::parse(fine(words));
  const auto replayed = nlohmann::json::parse(fine({"replay", "--trace", file, "--json", "-"}));
  CHECK(replayed["kernel"]["code"] == "estimated");
  for (const char* metric : {"sm__cycles_active.avg", "sm__cycles_elapsed.max", "smsp__inst_executed.sum",
                             "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "dram__bytes_read.sum"}) {
    INFO(metric);
    CHECK(replayed["result"]["metrics"][metric]["value"] == run["result"]["metrics"][metric]["value"]);
  }
  CHECK(replayed["result"]["warp_states"] == run["result"]["warp_states"]);
}

TEST_CASE("a part of the grid is recorded, and its replay says so", "[cli]") {
  const ScratchFolder scratch;
  const std::string file = scratch.file("part.tst");
  auto words = recording(long_replay().words(), file);
  words.insert(words.end(), {"--ctas", "1-2,7"});
  fine(words);
  const auto info = nlohmann::json::parse(fine({"trace", "info", file, "--verify", "--json", "-"}));
  CHECK(info["ctas"] == 3);
  CHECK(info["launch"]["grid"] == nlohmann::json::parse("[4,3,1]"));
  CHECK(info["loop_trips"] == 256);
  CHECK(info["kernel"]["origin"] == listing());
  CHECK(fine({"trace", "info", file}).find("Holds      3 of 12 CTAs") != std::string::npos);
  const auto replayed = nlohmann::json::parse(fine({"replay", "--trace", file, "--json", "-"}));
  CHECK(replayed["launch"]["grid"] == nlohmann::json::parse("[3,1,1]"));
  CHECK(replayed["result"]["notes"].dump().find("3 of the launch's 12 CTAs") != std::string::npos);

  const std::string cat = fine({"trace", "cat", file, "--ctas", "2", "--warps", "0,3", "--first", "2"});
  CHECK(cat.find("CTA 7, warp 0\n     0 ffffffff  ") == 0);
  CHECK(cat.find("CTA 7, warp 3\n") != std::string::npos);
  CHECK(fine({"trace", "cat", file, "--first", "0"}).find("LDG.E") != std::string::npos);
}

TEST_CASE("a trace goes to Accel-Sim's format and back", "[cli]") {
  const ScratchFolder scratch;
  const std::string own = scratch.file("kernel.tst");
  const std::string text = scratch.file("kernel-1.traceg.xz");
  Replay replay;
  replay.grid = "2,1";
  replay.args = "i32:32,i32:64,i32:1024,ptr:256KiB,ptr:256KiB,ptr:64KiB";
  fine(recording(replay.words(), own));
  fine({"trace", "convert", own, text});
  const auto direct = nlohmann::json::parse(fine({"replay", "--trace", own, "--json", "-"}));
  const auto imported = nlohmann::json::parse(fine({"replay", "--trace", text, "--json", "-"}));
  CHECK(imported["kernel"]["code"] == "approximate");
  CHECK(imported["kernel"]["accelsim_trace"] == text);
  CHECK(imported["result"]["notes"].dump().find("approximate") != std::string::npos);
  const auto value = [](const nlohmann::json& j, const char* metric) {
    return j["result"]["metrics"][metric]["value"].get<double>();
  };
  // What does not hang on the rebuilt control codes is the same.
  for (const char* metric :
       {"smsp__inst_executed.sum", "tilesim__flops.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"}) {
    INFO(metric);
    CHECK(value(imported, metric) == value(direct, metric));
  }
  const double ratio = value(imported, "sm__cycles_active.avg") / value(direct, "sm__cycles_active.avg");
  CHECK(ratio > 0.9);
  CHECK(ratio < 1.1);

  const std::string list =
      scratch.write("kernelslist.g", "MemcpyHtoD,0x7f0000000000,64\nkernel-1.traceg\nkernel-2.traceg\n");
  scratch.write("kernel-2.traceg", "");
  const ProcessResult converted = tilesim({"trace", "convert", list, scratch.file("all")});
  CHECK(converted.exit_code == 0);
  CHECK(converted.err.find("kernel-2.traceg is empty: left out") != std::string::npos);
  CHECK(std::filesystem::exists(scratch.file("all/kernel-1.tst")));
  require_refused({"trace", "convert", scratch.write("missing.g", "kernel-9.traceg.xz\n"), scratch.file("all")},
                  {"kernel-9.traceg.xz does not exist"});
}

TEST_CASE("code for another architecture is timed only if that is asked for", "[cli]") {
  const ScratchFolder scratch;
  const std::string text = scratch.write("kernel-1.traceg",
                                         "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-nregs = 16\n"
                                         "-binary version = 80\n-accelsim tracer version = 5\n#\n#BEGIN_TB\n"
                                         "warp = 0\ninsts = 1\n0000 ffffffff 0 EXIT 0 0 0\n#END_TB\n");
  require_refused({"replay", "--trace", text}, {"sm_80", "--arch-mismatch allow"});
  CHECK(fine({"replay", "--trace", text, "--arch-mismatch", "allow"}).find("sm_80 timed as if it ran on h200") !=
        std::string::npos);
  require_refused({"replay", "--trace", text, "--arch-mismatch", "yes"}, {"'yes' is not 'allow'"});
}

TEST_CASE("trace info tells the size of the file that it was given", "[cli]") {
  const ScratchFolder scratch;
  const std::string ours = scratch.file("kernel.tst");
  fine(recording(Replay{}.words(), ours));
  for (const char* name : {"kernel-1.traceg", "kernel-1.traceg.xz"}) {
    const std::string text = scratch.file(name);
    fine({"trace", "convert", ours, text});
    const auto json = nlohmann::json::parse(fine({"trace", "info", text, "--json", "-"}));
    CHECK(json["bytes"] == std::filesystem::file_size(text));
    CHECK(json["format_version"].is_null());
    CHECK(fine({"trace", "info", text}).find("Accel-Sim's text") != std::string::npos);
  }
  const auto json = nlohmann::json::parse(fine({"trace", "info", ours, "--json", "-"}));
  CHECK(json["bytes"] == std::filesystem::file_size(ours));
  CHECK(json["format_version"] == 2);
}

TEST_CASE("kernels whose CTAs wait for later ones are recorded, or refused where those are left out", "[cli]") {
  const ScratchFolder scratch;
  const std::string file = scratch.file("waits.tst");
  const std::vector<std::string> words{
      "trace",  "record", "--out",   file, "--cubin", std::string(TILESIM_TEST_CUBINS) + "/waits.cubin",
      "--grid", "5",      "--block", "64", "--args",  "ptr:4KiB,ptr:4KiB,ptr:64"};
  fine(words);
  CHECK(fine({"trace", "info", file, "--verify"}).find("340 instructions of waiting loops") != std::string::npos);
  CHECK(fine({"replay", "--trace", file}).find("suffix_sums takes") != std::string::npos);
  auto part = words;
  part.insert(part.end(), {"--ctas", "0-2"});
  require_refused(part, {"3 CTAs wait for memory that none of them changes", "all CTAs run that others wait for"});
}

TEST_CASE("a trace replaces no pipe, device or folder", "[cli]") {
  const ScratchFolder scratch;
  const std::string pipe = scratch.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  REQUIRE(::mkfifo(scratch.file("pipe.traceg").c_str(), 0600) == 0);
  const std::string trace = scratch.file("kernel.tst");
  fine(recording(Replay{}.words(), trace));
  require_refused(recording(Replay{}.words(), pipe), {"pipe", "no regular file"});
  require_refused({"trace", "convert", trace, scratch.file("pipe.traceg")}, {"pipe.traceg", "no regular file"});
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("traces that are wrong, and flags that do not go with them, are refused", "[cli]") {
  const ScratchFolder scratch;
  const std::string file = scratch.file("kernel.tst");
  const std::vector<std::string> words = Replay{}.words();
  fine(recording(words, file));
  const std::string bytes = read_file(file);
  require_refused({"replay", "--trace", scratch.write("cut.tst", bytes.substr(0, bytes.size() / 2))},
                  {"cut.tst", "at byte " + std::to_string(bytes.size() / 2)});
  std::string changed = bytes;
  changed[60] = static_cast<char>(changed[60] ^ 4);
  require_refused({"replay", "--trace", scratch.write("changed.tst", changed)},
                  {"changed.tst", "at byte 16", "checksum"});
  require_refused({"trace", "info", scratch.write("changed.tst", changed), "--verify"}, {"at byte 16"});
  changed = bytes;
  changed[8] = 9;
  require_refused({"replay", "--trace", scratch.write("newer.tst", changed)}, {"version 9", "newer TileSim"});
  require_refused({"replay", "--trace", "/no/such.tst"}, {"/no/such.tst"});
  require_refused({"replay", "--trace", "/tmp"}, {"/tmp"});
  require_refused({"replay", "--trace", file, "--grid", "1"}, {"--grid does not go with --trace"});
  require_refused({"replay", "--trace", file, "--nvdisasm", "auto"}, {"--nvdisasm does not go with --trace"});
  require_refused({"trace", "record", "--out", file}, {"nothing to record"});
  require_refused({"trace", "record", "--tile", "64x64x8", "--out", file, "--block", "64"},
                  {"--block does not go with a tile configuration"});
  require_refused({"trace", "record", "--sass", listing(), "--out", file, "--layout", "nt"},
                  {"--layout does not go with --sass and --cubin"});
  require_refused({"trace", "record", "--tile", "64x64x8"}, {"--out is missing"});
  require_refused({"trace", "record", "--tile", "64x64x8", "--out", "-"}, {"does not go to stdout", "name a file"});
  require_refused(recording(words, "/no/such/folder/x.tst"), {"/no/such/folder/x.tst"});
  auto more = recording(words, file);
  more.insert(more.end(), {"--ctas", "0-3"});
  require_refused(more, {"--ctas 0-3", "not among the CTAs"});
  require_refused({"trace", "cat", file, "--warps", "8"}, {"--warps 8"});
  require_refused({"trace", "convert", file}, {"two files"});
  const std::string source = scratch.write("kernel.cu", "#include <x>\n");
  for (const std::string& other : {source, std::string(TILESIM_COMMAND)}) {
    for (const char* command : {"info", "cat"}) {
      require_refused({"trace", command, other}, {"the file is no trace", ".tst files", ".traceg"});
    }
    require_refused({"trace", "convert", other, scratch.file("out.tst")}, {"the file is no trace"});
  }
}

}  // namespace tilesim::test
