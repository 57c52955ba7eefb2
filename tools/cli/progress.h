// How far a long command is, on stderr where that is a terminal.
#pragma once

#include <chrono>
#include <cstddef>

namespace tilesim::cli {

/// One line that is written over and over, and erased at the end. Says nothing in the first half second, and nothing at
/// all where stderr is no terminal.
class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();
  void update(std::size_t done, std::size_t total);

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_ = false;
  bool shown_ = false;
  Clock::time_point start_;
  Clock::time_point last_;
};

}  // namespace tilesim::cli
