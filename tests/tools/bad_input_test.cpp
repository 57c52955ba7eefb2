// Wrong flags, names, sizes and files: each with a message that names the value and a remedy, and exit code 2.
#include <fmt/format.h>

#include "tests/tools/command.h"

namespace tilesim::test {

namespace {

/// A question of `command` whose extent `flag` is `value`.
std::vector<std::string> with_extent(const std::string& command, const std::string& flag, const std::string& value) {
  std::vector<std::string> words{command};
  for (const std::string extent : {"m", "n", "k"}) {
    words.insert(words.end(), {"--" + extent, extent == flag ? value : "4096"});
  }
  return words;
}

void require_extent_refused(const std::string& value, const std::string& problem) {
  for (const std::string command : {"check", "run"}) {
    for (const std::string flag : {"m", "n", "k"}) {
      require_refused(with_extent(command, flag, value), {"--" + flag, value, problem, "from 1 to 2147483647"});
    }
  }
}

}  // namespace

TEST_CASE("zero M, N or K is refused", "[cli]") { require_extent_refused("0", "is zero"); }

TEST_CASE("negative M, N or K is refused", "[cli]") { require_extent_refused("-5", "is negative"); }

TEST_CASE("M, N or K over 32 bits is refused", "[cli]") { require_extent_refused("2147483648", "is too large"); }

TEST_CASE("M, N or K over 64 bits is refused", "[cli]") {
  require_extent_refused("99999999999999999999", "is too large for 64 bits");
}

TEST_CASE("M, N or K that is no number is refused", "[cli]") { require_extent_refused("4k", "is not a whole number"); }

TEST_CASE("a product of extents that overflows is refused", "[cli]") {
  require_refused({"check", "--m", "2147483647", "--n", "2147483647", "--k", "2147483647"}, {"2147483647"});
}

TEST_CASE("an incomplete problem is refused", "[cli]") {
  require_refused({"check", "--m", "4096", "--n", "4096"}, {"--k is missing"});
}

TEST_CASE("a tile that does not fit is refused with bytes and what would fit", "[cli]") {
  require_refused({"check", "--tile", "256x256x64", "--thread-tile", "16x16", "--stages", "2"},
                  {"262144", "232448", "nearest legal"});
}

TEST_CASE("a tile with threads that are no multiple of 32 is refused", "[cli]") {
  require_refused({"check", "--tile", "24x24x8", "--thread-tile", "8x8"}, {"9 threads", "32"});
}

TEST_CASE("a tile with more than 1,024 threads is refused", "[cli]") {
  require_refused({"check", "--tile", "128x128x8", "--thread-tile", "2x2"}, {"4096", "1024"});
}

TEST_CASE("run refuses an illegal tile in the words of check", "[cli]") {
  for (const auto& tile :
       std::vector<std::vector<std::string>>{{"--tile", "256x256x64", "--thread-tile", "16x16", "--stages", "2"},
                                             {"--tile", "24x24x8", "--thread-tile", "8x8"},
                                             {"--tile", "128x128x8", "--thread-tile", "2x2"},
                                             {"--tile", "128x128x8", "--vec", "3"},
                                             {"--tile", "128x128x8", "--swizzle", "2", "--pad-a", "4"}}) {
    std::vector<std::string> check{"check"};
    std::vector<std::string> run{"run"};
    check.insert(check.end(), tile.begin(), tile.end());
    run.insert(run.end(), tile.begin(), tile.end());
    const ProcessResult refused = tilesim(check);
    if (refused.exit_code == 0) {
      continue;  // legal after all: then it is not this test's business
    }
    require_refused(run, {"nearest legal"});
    CHECK(tilesim(run).err == refused.err);
  }
}

TEST_CASE("run refuses what it cannot generate, and flags that it does not know", "[cli]") {
  require_refused({"run", "--family", "mma", "--tile", "128x128x32", "--dtype", "f32"},
                  {"Tensor cores", "f32", "--dtype tf32"});
  require_refused({"run", "--smem", "100"}, {"--smem"});
  require_refused({"run", "--stagse", "2"}, {"--stagse", "did you mean '--stages'"});
  require_refused({"run", "--carveout", "5000"}, {"--carveout 5000", "1024"});
  require_refused({"run", "--carveout", "500"}, {"carve-out"});
  require_refused({"run", "-j", "0", "--m", "64", "--n", "64", "--k", "64"}, {"-j 0", "256"});
  require_refused({"run", "--clock", "0"}, {"--clock 0"});
  require_refused({"run", "--regs", "256"}, {"--regs 256"});
  require_refused({"run", "--gpu", "h20"}, {"'h20'", "did you mean 'h200'"});
  require_refused({"run", "--m", "4096", "--n", "4096"}, {"--k is missing"});
  require_refused({"run", "--tile", "128x128x8", "--json", "/no/such/folder/out.json"}, {"--json"});
}

TEST_CASE("a malformed tile is refused", "[cli]") {
  require_refused({"check", "--tile", "128x128"}, {"--tile", "128x128", "3 numbers"});
  require_refused({"check", "--tile", "128x0x8"}, {"--tile 0 is zero"});
  require_refused({"check", "--tile", "128x128x8", "--bm", "64"}, {"--tile and --bm"});
}

TEST_CASE("threads that are no multiple of 32 are refused", "[cli]") {
  require_refused({"check", "--threads", "100", "--regs", "32"}, {"--threads 100", "use 128"});
}

TEST_CASE("threads over 1,024 are refused", "[cli]") {
  require_refused({"check", "--threads", "2048", "--regs", "32"}, {"--threads 2048", "1024"});
}

TEST_CASE("an unknown GPU is refused with the nearest one", "[cli]") {
  require_refused({"check", "--gpu", "h20"}, {"'h20'", "did you mean 'h200'", "article-card"});
}

TEST_CASE("an unknown flag is refused with the nearest one", "[cli]") {
  require_refused({"check", "--stagse", "2"}, {"--stagse", "did you mean '--stages'"});
}

TEST_CASE("an abbreviated flag is refused", "[cli]") {
  require_refused({"check", "--stag", "2"}, {"--stag", "did you mean '--stages'"});
}

TEST_CASE("an unknown command is refused with the nearest one", "[cli]") {
  require_refused({"repaly"}, {"'repaly'", "did you mean 'replay'"});
}

TEST_CASE("an unknown key of --set is refused with the nearest one", "[cli]") {
  require_refused({"check", "--set", "gpu.device.sm_cuont=1"}, {"device.sm_cuont", "device.sm_count"});
}

TEST_CASE("a malformed --set is refused", "[cli]") {
  require_refused({"check", "--set", "device.sm_count"}, {"gpu.KEY=VALUE"});
  require_refused({"check", "--set", "gpu.device.sm_count=-3"}, {"-3"});
}

TEST_CASE("an unknown choice is refused with the choices", "[cli]") {
  require_refused({"check", "--dtype", "f23"}, {"--dtype", "f23", "f32"});
  require_refused({"check", "--color", "yes"}, {"--color", "'yes'", "auto"});
}

TEST_CASE("a flag without its value, twice, or with a value too many is refused", "[cli]") {
  require_refused({"check", "--m"}, {"--m", "no value"});
  require_refused({"check", "--bm", "64", "--bm", "32"}, {"--bm is given twice"});
  require_refused({"check", "--bm", "64", "--cta_m", "32"}, {"--bm is given twice"});
  require_refused({"check", "--all=3"}, {"--all"});
}

TEST_CASE("a surplus argument is refused", "[cli]") {
  require_refused({"check", "128x128x8"}, {"unexpected argument '128x128x8'"});
  require_refused({"gpus", "show", "h200", "more"}, {"unexpected argument 'more'"});
}

TEST_CASE("an output that cannot be written is found before the work starts", "[cli]") {
  Replay replay;
  replay.sass = "/no/such/listing.sass";  // would be the next complaint
  require_refused(replay.words({"--json", "/no/such/folder/out.json"}), {"--json", "/no/such/folder/out.json"});
  require_refused({"check", "--json", "/"}, {"--json", "'/'"});
}

TEST_CASE("a broken spec file is refused with file and line", "[cli]") {
  const ScratchFolder scratch;
  std::string spec = read_file(std::string(TILESIM_SPEC_FOLDER) + "/h200.toml");
  const std::size_t at = spec.find("sm_count");
  REQUIRE(at != std::string::npos);
  spec.replace(at, 8, "sm_cuont");
  const std::string path = scratch.write("gpu.toml", spec);
  require_refused({"gpus", "check", path}, {path + ":", "sm_cuont", "sm_count"});
  require_refused({"gpus", "check", scratch.file("none.toml")}, {"none.toml"});
  require_refused({"check", "--gpu", scratch.write("empty.toml", "")}, {"empty.toml"});
}

TEST_CASE("a GPU below compute capability 7 is not supported", "[cli]") {
  require_refused({"check", "--set", "gpu.device.compute_capability_major=6"}, {"6.0", "unsupported"});
}

TEST_CASE("files that are missing, empty or folders are told so, and named once", "[cli]") {
  const ScratchFolder scratch;
  const std::string empty = scratch.write("empty", "");
  const std::string folder = scratch.file("");
  for (const auto& [words, missing] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{{{"gpus", "check"}, "does not exist"},
                                                                     {{"trace", "kernels"}, "does not exist"},
                                                                     {{"validate", "--ncu"}, "No such file"}}) {
    for (const auto& [file, problem] : std::vector<std::pair<std::string, std::string>>{
             {scratch.file("none"), missing}, {empty, "is empty"}, {folder, "not a file"}}) {
      if (words.front() == "validate" && file == folder) {
        continue;  // said as the system does
      }
      std::vector<std::string> all = words;
      all.push_back(file);
      require_refused(all, {file, problem});
      const std::string text = tilesim(all).err;
      INFO(text);
      CHECK(text.find(file) == text.rfind(file));
    }
  }
  for (const char* flag : {"--sass", "--cubin"}) {
    const std::string file = scratch.file("none");
    const ProcessResult result = tilesim({"replay", flag, file, "--grid", "1", "--block", "32"});
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.find(file) == result.err.rfind(file));
    CHECK(result.err.find("does not exist") != std::string::npos);
  }
}

TEST_CASE("replay --help names every form of an argument", "[cli]") {
  const std::string help = tilesim({"replay", "--help"}).out;
  for (const char* form : {"i32:", "f32:", "ptr:", "raw:", "mem:", "ptrs:"}) {
    INFO(form);
    CHECK(help.find(form) != std::string::npos);
  }
}

}  // namespace tilesim::test
