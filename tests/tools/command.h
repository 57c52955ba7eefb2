// The built command, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/run_process.h"

namespace tilesim::test {

inline ProcessResult tilesim(const std::vector<std::string>& arguments,
                             const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  return run_process(TILESIM_COMMAND, arguments, environment);
}

inline std::string listing(const std::string& name = "sgemm_32_32_32_2_2_s1_p0") {
  return std::string(TILESIM_CALIBRATION_FOLDER) + "/" + name + ".sass";
}

/// A small replay that is fine: one CTA, 32 x 32 x 64. Tests change one thing of it.
struct Replay {
  std::string sass = listing();
  std::string grid = "1,1";
  std::string block = "256";
  std::string smem = "8192";
  std::string args = "i32:32,i32:32,i32:64,ptr:8KiB,ptr:8KiB,ptr:4KiB";
  [[nodiscard]] std::vector<std::string> words(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"replay", "--sass", sass, "--grid", grid, "--block",
                                 block,    "--smem", smem, "--args", args};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

/// Exit code 2, nothing on stdout, and every word of `expected` in the message, which has a remedy.
inline void require_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& expected) {
  const ProcessResult result = tilesim(arguments);
  INFO(result.err);
  REQUIRE(result.exit_code == 2);
  REQUIRE(result.out.empty());
  REQUIRE(result.err.starts_with("tilesim: error: "));
  REQUIRE(result.err.find("\nremedy: ") != std::string::npos);
  for (const std::string& word : expected) {
    INFO("expected: " << word);
    REQUIRE(result.err.find(word) != std::string::npos);
  }
}

}  // namespace tilesim::test
