// Runs the kernel of tile_gemm.cuh on the CPU and compares C with a plain triple loop: `host-test` builds this for a
// set of configurations. Threads of a CTA are fibers that change at barriers, forwards and backwards in turn, so that a
// missing barrier shows; copies with cp.async happen only when they are waited for, as late as they are allowed to.
// What it cannot show: reads of C's neighbours that happen to be mapped, and anything about warps.
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#define __device__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __shared__ static
#define TILE_GEMM_UNROLL

namespace {

struct Index {
  unsigned x = 0;
  unsigned y = 0;
};
Index threadIdx;
Index blockIdx;
Index gridDim;
constexpr std::size_t kStackBytes = 256 * 1024;

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<char[]> stack{new char[kStackBytes]};
  bool done = false;
  std::vector<std::function<void()>> open;                // copies not committed yet
  std::deque<std::vector<std::function<void()>>> groups;  // committed, oldest first
};
ucontext_t scheduler;
std::vector<Fiber> fibers;
std::function<void()> body;

Fiber& current() { return fibers[threadIdx.x]; }
void __syncthreads() { swapcontext(&current().context, &scheduler); }
void fiber_main() {
  body();
  if (!current().open.empty()) std::abort();
  current().done = true;
  __syncthreads();
}

}  // namespace

namespace tile_gemm_simt {
constexpr int kStaticSharedBytes = 1 << 30;
float* const dynamic_shared = nullptr;

template <int kBytes, bool kMayBeInvalid>
void async_copy(float* destination, const float* source, bool valid) {
  if (reinterpret_cast<std::uintptr_t>(destination) % kBytes != 0) std::abort();
  if (valid && reinterpret_cast<std::uintptr_t>(source) % kBytes != 0) std::abort();
  if (!valid && !kMayBeInvalid) std::abort();
  // The source is const for the whole kernel, so reading it late changes nothing; the write is what matters.
  current().open.emplace_back([=] {
    if (valid) {
      std::memcpy(destination, source, kBytes);
    } else {
      std::memset(destination, 0, kBytes);
    }
  });
}
template <int kCount>
void store_vector(float* to, const float (&from)[kCount]) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(from) != 0) std::abort();
  std::memcpy(to, from, sizeof(from));
}
void async_commit() {
  current().groups.push_back(std::move(current().open));
  current().open.clear();
}
template <int kPending>
void async_wait() {
  auto& groups = current().groups;
  for (; groups.size() > kPending; groups.pop_front()) {
    for (const auto& copy : groups.front()) copy();
  }
}
}  // namespace tile_gemm_simt

#include "tile_gemm.cuh"

using Kernel =
    tile_gemm_simt::TileGemm<TILE_BM, TILE_BN, TILE_BK, TILE_TM, TILE_TN, TILE_STAGES, TILE_VEC, TILE_PAD_A, TILE_PAD_B,
                             TILE_SWIZZLE, (TILE_ASYNC != 0), (TILE_TRANSPOSED_A != 0), (TILE_TRANSPOSED_B != 0),
                             tile_gemm_simt::TILE_RASTER, TILE_GROUP, (TILE_RAGGED != 0), (TILE_EPILOGUE != 0)>;

namespace {

void run_cta() {
  // What an earlier CTA left must not be taken for this one's.
  std::fill_n(Kernel::shared_a(), Kernel::kFloatsA, std::numeric_limits<float>::quiet_NaN());
  std::fill_n(Kernel::shared_b(), Kernel::kFloatsB, std::numeric_limits<float>::quiet_NaN());
  for (Fiber& fiber : fibers) {
    fiber.done = false;
    fiber.groups.clear();
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, fiber_main, 0);
  }
  const auto threads = static_cast<unsigned>(Kernel::kThreads);
  unsigned left = threads;
  for (bool backwards = false; left > 0; backwards = !backwards) {
    for (unsigned i = 0; i < threads; ++i) {
      const unsigned thread = backwards ? threads - 1 - i : i;
      if (fibers[thread].done) std::abort();  // a barrier that only some threads reach
      threadIdx.x = thread;
      swapcontext(&scheduler, &fibers[thread].context);
      left -= fibers[thread].done ? 1 : 0;
    }
    if (left != 0 && left != threads) std::abort();
  }
}

// An allocation that ends where the matrix ends and starts 16-byte aligned, with NaN before it.
std::vector<float> random_matrix(int count) {
  std::vector<float> matrix(static_cast<std::size_t>(count));
  for (float& value : matrix) value = static_cast<float>(std::rand() % 17 - 8);
  return matrix;
}

bool check(int m, int n, int k) {
  const std::vector<float> a = random_matrix(m * k);
  const std::vector<float> b = random_matrix(k * n);
  const std::vector<float> before = random_matrix(m * n);
  std::vector<float> c = before;
  const float alpha = TILE_EPILOGUE ? 2.0F : 1.0F;
  const float beta = TILE_EPILOGUE ? 3.0F : 0.0F;
  gridDim = {static_cast<unsigned>((n + TILE_BN - 1) / TILE_BN), static_cast<unsigned>((m + TILE_BM - 1) / TILE_BM)};
  body = [&] { Kernel::run(m, n, k, a.data(), b.data(), c.data(), alpha, beta); };
  for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y) {
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) run_cta();
  }
  // Small whole numbers: every order of summing gives the same.
  int wrong = 0;
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0.0F;
      for (int i = 0; i < k; ++i) {
        sum +=
            a[TILE_TRANSPOSED_A ? i * m + row : row * k + i] * b[TILE_TRANSPOSED_B ? column * k + i : i * n + column];
      }
      const float expected = alpha * sum + beta * before[row * n + column];
      if (!(c[row * n + column] == expected)) ++wrong;
    }
  }
  if (wrong > 0) std::printf("%dx%dx%d: %d elements of C are wrong\n", m, n, k, wrong);
  return wrong == 0;
}

}  // namespace

int main() {
  fibers.resize(Kernel::kThreads);
  bool good = check(2 * TILE_BM, 3 * TILE_BN, 5 * TILE_BK) && check(3 * TILE_BM, TILE_BN, TILE_BK);
  if (TILE_RAGGED) {
    constexpr int kVec = TILE_VEC;
    good = good && check(TILE_BM + 3 * kVec, 2 * TILE_BN - kVec, 3 * TILE_BK + kVec) && check(kVec, kVec, kVec) &&
           check(3 * TILE_BM - kVec, TILE_BN / 2 / kVec * kVec, 2 * TILE_BK - kVec) && check(4 * kVec, 4 * kVec, 0);
  }
  return good ? 0 : 1;
}
