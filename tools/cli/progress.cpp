#include "tools/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace tilesim::cli {

namespace {

constexpr double kQuietSeconds = 0.5;
constexpr double kBetweenSeconds = 0.1;
constexpr const char* kErase = "\r\033[K";

}  // namespace

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1), start_(Clock::now()), last_(start_) {}

Progress::~Progress() {
  if (shown_) {
    std::fputs(kErase, stderr);
  }
}

void Progress::update(std::size_t done, std::size_t total) {
  const Clock::time_point now = Clock::now();
  const auto seconds = [now](Clock::time_point since) { return std::chrono::duration<double>(now - since).count(); };
  if (!terminal_ || done == 0 || seconds(start_) < kQuietSeconds || seconds(last_) < kBetweenSeconds) {
    return;
  }
  last_ = now;
  shown_ = true;
  const double left = seconds(start_) / static_cast<double>(done) * static_cast<double>(total - done);
  const auto whole = std::lround(left);
  std::fputs(fmt::format("{}[{}/{}] simulated, {}:{:02} left", kErase, done, total, whole / 60, whole % 60).c_str(),
             stderr);
}

}  // namespace tilesim::cli
