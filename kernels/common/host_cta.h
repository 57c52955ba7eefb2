// Runs a CTA of a tiled kernel on the CPU: the words of the language and the functions that common/tile_parts.cuh wants
// outside CUDA. Threads are fibers. A warp's threads change where they exchange data, warps at barriers, forwards and
// backwards in turn, so that a missing barrier shows; copies with cp.async happen only when they are waited for, as
// late as they are allowed to. To be included before the kernel.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#define __device__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __shared__ static
#define TILE_GEMM_UNROLL
#define TILE_GEMM_ONE_BY_ONE

namespace host_cta {

constexpr unsigned kWarpSize = 32;
constexpr std::size_t kStackBytes = 256 * 1024;

struct Index {
  unsigned x = 0;
  unsigned y = 0;
  unsigned z = 0;
};

enum class State { kRuns, kExchanges, kAtBarrier, kDone };

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<char[]> stack{new char[kStackBytes]};
  State state = State::kRuns;
  std::vector<std::function<void()>> open;                // copies not committed yet
  std::deque<std::vector<std::function<void()>>> groups;  // committed, oldest first
};

inline ucontext_t scheduler;
inline std::vector<Fiber> fibers;
inline std::function<void()> body;

}  // namespace host_cta

inline host_cta::Index threadIdx;
inline host_cta::Index blockIdx;
inline host_cta::Index gridDim;

namespace host_cta {

inline Fiber& current() { return fibers[threadIdx.x]; }
inline void leave(State state) {
  current().state = state;
  swapcontext(&current().context, &scheduler);
}

/// What each lane of the warp gives, in the order of lanes. All lanes must take part.
template <class T>
std::array<T, kWarpSize> exchange(const T& own) {
  // Two boards in turn: a lane may already give its next value while others still read this one.
  static std::array<std::vector<T>, 2> boards;
  static std::vector<unsigned> turns;
  turns.resize(fibers.size());
  std::vector<T>& board = boards[turns[threadIdx.x]++ % 2];
  board.resize(fibers.size());
  board[threadIdx.x] = own;
  leave(State::kExchanges);
  std::array<T, kWarpSize> all;
  const unsigned first = threadIdx.x / kWarpSize * kWarpSize;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) all[lane] = board[first + lane];
  return all;
}

inline void fiber_main() {
  body();
  if (!current().open.empty()) std::abort();
  leave(State::kDone);
}

/// Runs the threads of one warp until all of them are at a barrier or done; which, they must agree on.
inline State run_warp(unsigned first, bool backwards) {
  for (State state = State::kExchanges; state == State::kExchanges;) {
    for (unsigned i = 0; i < kWarpSize; ++i) {
      threadIdx.x = first + (backwards ? kWarpSize - 1 - i : i);
      swapcontext(&scheduler, &current().context);
      if (i > 0 && current().state != state) std::abort();
      state = current().state;
    }
  }
  return current().state;
}

/// Runs the threads of the CTA that blockIdx names: each is one call of `body`.
inline void run_cta() {
  for (Fiber& fiber : fibers) {
    fiber.state = State::kRuns;
    fiber.groups.clear();
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, fiber_main, 0);
  }
  const auto threads = static_cast<unsigned>(fibers.size());
  State state = State::kRuns;
  for (bool backwards = false; state != State::kDone; backwards = !backwards) {
    for (unsigned i = 0; i < threads; i += kWarpSize) {
      const State reached = run_warp(backwards ? threads - kWarpSize - i : i, backwards);
      if (i > 0 && reached != state) std::abort();  // a barrier that only some warps reach
      state = reached;
    }
  }
}

}  // namespace host_cta

inline void __syncthreads() { host_cta::leave(host_cta::State::kAtBarrier); }

namespace tile_parts {

constexpr int kStaticSharedBytes = 1 << 30;
inline float* const dynamic_shared = nullptr;

template <int kBytes, bool kMayBeInvalid>
void async_copy(void* destination, const void* source, bool valid) {
  if (reinterpret_cast<std::uintptr_t>(destination) % kBytes != 0) std::abort();
  if (valid && reinterpret_cast<std::uintptr_t>(source) % kBytes != 0) std::abort();
  if (!valid && !kMayBeInvalid) std::abort();
  // The source is const for the whole kernel, so reading it late changes nothing; the write is what matters.
  host_cta::current().open.emplace_back([=] {
    if (valid) {
      std::memcpy(destination, source, kBytes);
    } else {
      std::memset(destination, 0, kBytes);
    }
  });
}
inline void async_commit() {
  host_cta::Fiber& fiber = host_cta::current();
  fiber.groups.push_back(std::move(fiber.open));
  fiber.open.clear();
}
template <int kPending>
void async_wait() {
  auto& groups = host_cta::current().groups;
  for (; groups.size() > kPending; groups.pop_front()) {
    for (const auto& copy : groups.front()) copy();
  }
}

}  // namespace tile_parts
