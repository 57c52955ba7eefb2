#include "tools/tilesim/launch_flags.h"

#include <algorithm>
#include <thread>

namespace tilesim::cli {

namespace {

constexpr std::int64_t kMaxCarveoutKb = 1024;
constexpr std::int64_t kMaxHostThreads = 256;

}  // namespace

Flag carveout_flag(const std::string& group) {
  return {"carveout", "KB", "shared-memory carve-out (default: the largest)", group, {}, false};
}

std::vector<Flag> simulation_flags() {
  const std::string group = "Simulation";
  return {{"detailed", "", "every SM and every instruction, instead of a sample", group, {}, false},
          {"j", "N", "host threads (default: one per processor); results do not depend on it", group, {}, false, true}};
}

Result<void> read_carveout(const Invocation& invocation, std::optional<int>& field) {
  return read_integer(invocation, "carveout", 0, kMaxCarveoutKb, field);
}

Result<void> read_host_threads(const Invocation& invocation, int& threads) {
  std::optional<int> given;
  if (auto done = read_integer(invocation, "j", 1, kMaxHostThreads, given); !done) {
    return done;
  }
  threads = given.value_or(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  return {};
}

}  // namespace tilesim::cli
