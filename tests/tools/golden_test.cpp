// Text reports compared with recorded ones; golden/regenerate makes them anew.
#include "tests/tools/command.h"

namespace tilesim::test {

namespace {

void require_golden(const std::string& name, const std::vector<std::string>& arguments) {
  const ProcessResult result = tilesim(arguments);
  INFO("if the change is wanted: tests/tools/golden/regenerate BUILD, then look at the difference");
  REQUIRE(result.exit_code == 0);
  REQUIRE(result.out == read_file(std::string(TILESIM_GOLDEN_FOLDER) + "/" + name + ".txt"));
}

}  // namespace

// golden/regenerate reads these lines: keep one call of require_golden per line.
TEST_CASE("golden reports", "[golden]") {
  // clang-format off
  require_golden("calibrate_recorded", {"calibrate", "--rows", "traces/calibration/h200/microbenchmarks.csv", "--rows", "traces/calibration/h200/extra_microbench.csv", "--all"});
  require_golden("calibrate_two_runs", {"calibrate", "--rows", "traces/calibration/h200/microbench_run1.csv.zst", "--rows", "traces/calibration/h200/microbench_run2.csv.zst", "--beside", "traces/calibration/h200/microbenchmarks.csv"});
  require_golden("check_article", {"check", "--m", "4096", "--n", "4096", "--k", "4096", "--tile", "128x128x8", "--thread-tile", "8x8", "--gpu", "article-card", "--all"});
  require_golden("check_h200_two_stages", {"check", "--m", "4000", "--n", "4096", "--k", "4096", "--tile", "128x128x16", "--stages", "2", "--pad-a", "4"});
  require_golden("check_mma", {"check", "--m", "8192", "--n", "8192", "--k", "8192", "--family", "mma", "--dtype", "bf16", "--layout", "nt", "--tile", "128x128x32", "--wm", "64", "--wn", "32", "--stages", "3", "--copy", "cpasync", "--pad-a", "8", "--pad-b", "8"});
  require_golden("check_occupancy", {"check", "--threads", "256", "--regs", "100", "--smem", "16384"});
  require_golden("gpus", {"gpus"});
  require_golden("replay_32x32_1024", {"replay", "--sass", "traces/calibration/h200/sgemm_32_32_32_2_2_s1_p0.sass", "--grid", "32,32", "--block", "256", "--smem", "8192", "--carveout", "132", "--regs", "30", "--args", "i32:1024,i32:1024,i32:1024,ptr:4MiB,ptr:4MiB,ptr:4MiB"});
  require_golden("validate_sample", {"validate", "--recorded", "tests/tools/recorded/sample", "--replay", "--brief", "--all"});
  require_golden("gpus_show_h200", {"gpus", "show", "h200"});
  // clang-format on
}

}  // namespace tilesim::test
