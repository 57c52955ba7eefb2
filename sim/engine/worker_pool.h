// A fixed set of host threads that share the SMs of a window. Which thread runs which is not determined; that the
// result does not depend on it is the caller's part.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace tilesim::sim {

class WorkerPool {
 public:
  /// `threads` in all, the caller's included; at least 1.
  explicit WorkerPool(int threads) {
    for (int i = 1; i < threads; ++i) {
      helpers_.emplace_back([this] { help(); });
    }
  }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() {
    stop_ = true;
    begin();
    for (std::thread& helper : helpers_) {
      helper.join();
    }
  }

  /// Calls `work` once for every number below `count`, on all threads; returns when all calls have. `work` must not
  /// throw.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& work) {
    work_ = &work;
    count_ = count;
    next_ = 0;
    working_ = helpers_.size();
    begin();
    take();
    for (std::size_t left = working_; left != 0; left = working_) {
      working_.wait(left);
    }
  }

 private:
  void begin() {
    ++round_;
    round_.notify_all();
  }
  void take() {
    for (std::size_t i = next_++; i < count_; i = next_++) {
      (*work_)(i);
    }
  }
  void help() {
    for (std::size_t seen = 0;; ++seen) {
      round_.wait(seen);
      if (stop_) {
        return;
      }
      take();
      if (--working_ == 0) {
        working_.notify_one();
      }
    }
  }

  std::vector<std::thread> helpers_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_ = 0;     ///< the first number that nobody has taken
  std::atomic<std::size_t> round_ = 0;    ///< calls of for_each()
  std::atomic<std::size_t> working_ = 0;  ///< helpers that are not done with this round
  std::atomic<bool> stop_ = false;
};

}  // namespace tilesim::sim
