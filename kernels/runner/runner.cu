// Works through many kernels and problems in one process.
//   runner time MANIFEST LIMIT_S             checks C, times the kernel and cuBLAS with events
//   runner launch MANIFEST LIMIT_S REPEATS   only launches, REPEATS times each, for Nsight Compute to look at
// MANIFEST: manifest.h. Prints one JSON object a line and job, in order. Ends before the first job that would begin
// after LIMIT_S seconds. Exit codes: 0; 1 after a launch that failed, which spoils the context: its line says "failed";
// 2 wrong use; 4 no GPU. Clocks and other settings of the card are left as they are.
#include <cublas_v2.h>
#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "manifest.h"
#include "operands.cuh"

namespace runner {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitAbsent = 4;
constexpr int kThreads = 256;
constexpr unsigned kBlocks = 132 * 8;

int current_job = -1;

// Keeps the GPU busy without touching memory, so that what is timed behind it waits in the queue and its launch costs
// nothing.
__global__ void wait_cycles(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

[[noreturn]] void fail(const char* what, const char* why) {
  if (current_job < 0) {
    std::fprintf(stderr, "runner: %s: %s\n", what, why);
    std::exit(kExitAbsent);
  }
  std::printf("\n{\"job\": %d, \"failed\": \"%s: %s\"}\n", current_job, what, why);  // a line may be begun
  std::exit(kExitFailed);
}

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  fail(what, text != nullptr ? text : "unknown error");
}

void check(cudaError_t result, const char* what) {
  if (result != cudaSuccess) fail(what, cudaGetErrorString(result));
}

void check(cublasStatus_t result, const char* what) {
  if (result != CUBLAS_STATUS_SUCCESS) fail(what, cublasGetStatusString(result));
}

unsigned blocks_for(int count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

struct Times {
  float median = 0.0F;  // us
  float spread = 0.0F;  // (largest - smallest) / median
  int count = 0;
};

/// Allocations, large enough for every job, and what lies in them.
class Bench {
 public:
  explicit Bench(const std::vector<Job>& jobs) {
    long long a = 0;
    long long b = 0;
    long long c = 0;
    for (const Job& job : jobs) {
      a = std::max(a, job.bytes_a());
      b = std::max(b, job.bytes_b());
      c = std::max(c, job.elements_c());
      sample_size_ = std::max(sample_size_, Sample(job.m, job.n).size());
    }
    check(cudaMalloc(&a_, static_cast<std::size_t>(a)), "memory for A");
    check(cudaMalloc(&b_, static_cast<std::size_t>(b)), "memory for B");
    check(cudaMalloc(&c_, static_cast<std::size_t>(c) * sizeof(float)), "memory for C");
    check(cudaMalloc(&flush_, kFlushBytes), "memory to flush the caches with");
    check(cudaMalloc(&product_, static_cast<std::size_t>(sample_size_) * sizeof(double)), "memory for the product");
    check(cudaMalloc(&magnitude_, static_cast<std::size_t>(sample_size_) * sizeof(double)),
          "memory for the magnitudes");
    check(cudaMalloc(&found_, 2 * sizeof(unsigned)), "memory for the comparison");
    check(cudaEventCreate(&begin_), "event");
    check(cudaEventCreate(&end_), "event");
  }

  void load(const Job& job) {
    if (module_ != nullptr) check(cuModuleUnload(module_), "unloading");
    check(cuModuleLoad(&module_, job.cubin.c_str()), job.cubin.c_str());
    check(cuModuleGetFunction(&kernel_, module_, "tile_gemm"), "tile_gemm");
    if (job.shared_bytes > 0) {
      check(cuFuncSetAttribute(kernel_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               static_cast<int>(job.shared_bytes)),
            "dynamic shared memory");
    }
    if (!filled_ || !job.same_operands(operands_)) {
      fill<<<kBlocks, kThreads>>>(a_, job.m, job.k, job.a_transposed, job.type, kSeedA);
      fill<<<kBlocks, kThreads>>>(b_, job.k, job.n, job.b_transposed, job.type, kSeedB);
      operands_ = job;
      filled_ = true;
    }
    if (job.beta != 0.0F) {
      fill<<<kBlocks, kThreads>>>(c_, job.m, job.n, false, Type::kF32, kSeedC);
    } else {
      check(cudaMemset(c_, 0xff, static_cast<std::size_t>(job.elements_c()) * sizeof(float)), "poisoning C");
    }
    check(cudaDeviceSynchronize(), "filling");
  }

  void launch(const Job& job) {
    int m = job.m;
    int n = job.n;
    int k = job.k;
    float alpha = job.alpha;
    float beta = job.beta;
    void* arguments[] = {&m, &n, &k, &a_, &b_, &c_, &alpha, &beta};  // the last two are not read where not declared
    check(cuLaunchKernel(kernel_, job.grid_x, job.grid_y, static_cast<unsigned>(job.parts), job.threads, 1, 1,
                         job.shared_bytes, nullptr, arguments, nullptr),
          "launch");
  }

  /// What one launch left in C: the largest error over the sum of magnitudes. Rounding errors of k additions are of
  /// either sign and grow like the root of k; a term too many or too few is far above that bound.
  void check_c(const Job& job) {
    const Sample sample(job.m, job.n);
    if (!referenced_ || !job.same_product(reference_)) {
      reference<<<blocks_for(sample.size()), kThreads>>>(sample, job.k, job.type, product_, magnitude_);
      reference_ = job;
      referenced_ = true;
    }
    check(cudaMemset(found_, 0, 2 * sizeof(unsigned)), "comparison");
    compare<<<blocks_for(sample.size()), kThreads>>>(sample, job.m, job.n, job.parts, c_, product_, magnitude_,
                                                     job.alpha, job.beta, found_);
    count_unwritten<<<kBlocks, kThreads>>>(c_, job.elements_c(), found_ + 1);
    unsigned found[2];
    check(cudaMemcpy(found, found_, sizeof(found), cudaMemcpyDeviceToHost), "comparison");
    float error = 0.0F;
    std::memcpy(&error, found, sizeof(error));
    const double bound = std::sqrt(job.k) * 0x1p-24;
    std::printf("\"check\": {\"right\": %s, \"max_error\": %.3g, \"bound\": %.3g, \"unwritten\": %u, \"elements\": %d}",
                error <= bound && found[1] == 0 ? "true" : "false", std::isfinite(error) ? error : 1e30, bound,
                found[1], sample.size());
  }

  static void print_times(const char* name, const Times& flushed, const Times& warm) {
    std::printf(
        ", \"%s\": {\"flushed_us\": {\"median\": %.3f, \"spread\": %.4f, \"count\": %d}, \"warm_us\": {\"median\": "
        "%.3f, \"spread\": %.4f, \"count\": %d}}",
        name, flushed.median, flushed.spread, flushed.count, warm.median, warm.spread, warm.count);
  }

  template <class Launch>
  void time(const char* name, const Launch& launch) {
    const float first = once(launch);
    const int count = std::clamp(static_cast<int>(kTimedUs / first), kFewestTimed, kMostTimed);
    const Times flushed = times(
        count, [&] { check(cudaMemsetAsync(flush_, 1, kFlushBytes), "flushing"); }, launch);
    const Times warm = times(
        count, [] { wait_cycles<<<1, 1>>>(kWaitCycles); }, launch);
    print_times(name, flushed, warm);
  }

  /// The same product by cuBLAS; measured once for jobs with the same operands that follow each other.
  void time_cublas(const Job& job) {
    if (handle_ == nullptr) check(cublasCreate(&handle_), "cublasCreate");
    const float alpha = 1.0F;
    const float beta = 0.0F;
    const cudaDataType_t types[] = {CUDA_R_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF};
    const cudaDataType_t type = types[static_cast<int>(job.type)];
    const cublasComputeType_t compute = job.type == Type::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    // cuBLAS counts along columns: what is row-major here is transposed there, and C' = B' A'.
    const auto gemm = [&] {
      check(cublasGemmEx(handle_, job.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                         job.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, job.n, job.m, job.k, &alpha, b_, type,
                         job.b_transposed ? job.k : job.n, a_, type, job.a_transposed ? job.m : job.k, &beta, c_,
                         CUDA_R_32F, job.n, compute, CUBLAS_GEMM_DEFAULT),
            "cublasGemmEx");
    };
    gemm();  // loads the kernel
    check(cudaDeviceSynchronize(), "cublasGemmEx");
    time("cublas", gemm);
  }

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{256} << 20;
  static constexpr float kTimedUs = 20'000.0F;
  static constexpr int kFewestTimed = 5;
  static constexpr long long kWaitCycles = 100'000;  // 50 us
  static constexpr int kMostTimed = 25;

  template <class Launch>
  float once(const Launch& launch) {
    check(cudaEventRecord(begin_), "event");
    launch();
    check(cudaEventRecord(end_), "event");
    check(cudaEventSynchronize(end_), "kernel");
    float milliseconds = 0.0F;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "event");
    return 1000.0F * milliseconds;
  }

  template <class Before, class Launch>
  Times times(int count, const Before& before, const Launch& launch) {
    std::vector<float> all;
    for (int i = 0; i < count; ++i) {
      before();
      all.push_back(once(launch));
    }
    std::sort(all.begin(), all.end());
    const float median = (all[all.size() / 2] + all[(all.size() - 1) / 2]) / 2.0F;
    return {median, (all.back() - all.front()) / median, count};
  }

  void* a_ = nullptr;
  void* b_ = nullptr;
  float* c_ = nullptr;
  void* flush_ = nullptr;
  double* product_ = nullptr;
  double* magnitude_ = nullptr;
  unsigned* found_ = nullptr;
  int sample_size_ = 0;
  bool filled_ = false;
  bool referenced_ = false;
  Job operands_;   // that lie in A and B
  Job reference_;  // whose product was computed
  CUmodule module_ = nullptr;
  CUfunction kernel_ = nullptr;
  cublasHandle_t handle_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

void run_timed(Bench& bench, const std::vector<Job>& jobs, std::size_t i) {
  const Job& job = jobs[i];
  bench.load(job);
  bench.launch(job);
  check(cudaDeviceSynchronize(), "kernel");
  std::printf("{\"job\": %d, ", job.id);
  bench.check_c(job);
  bench.time("timing", [&] { bench.launch(job); });
  if (i == 0 || !job.same_operands(jobs[i - 1])) bench.time_cublas(job);
  std::printf("}\n");
}

void run_launches(Bench& bench, const Job& job, int repeats) {
  bench.load(job);
  for (int i = 0; i < repeats; ++i) {
    bench.launch(job);
    check(cudaDeviceSynchronize(), "kernel");
  }
  std::printf("{\"job\": %d, \"launches\": %d}\n", job.id, repeats);
}

int run(int argc, char** argv) {
  const bool timed = argc == 4 && std::strcmp(argv[1], "time") == 0;
  if (!timed && !(argc == 5 && std::strcmp(argv[1], "launch") == 0)) {
    std::fprintf(stderr, "usage: runner time MANIFEST LIMIT_S | runner launch MANIFEST LIMIT_S REPEATS\n");
    return kExitUsage;
  }
  const std::vector<Job> jobs = read_manifest(argv[2]);
  if (jobs.empty()) {
    std::fprintf(stderr, "runner: %s holds no jobs, or a line that is none\n", argv[2]);
    return kExitUsage;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[3]));
  check(cudaFree(nullptr), "GPU");  // the primary context, which the driver's functions then use
  Bench bench(jobs);
  for (std::size_t i = 0; i < jobs.size() && std::chrono::steady_clock::now() < end; ++i) {
    current_job = jobs[i].id;
    if (timed) {
      run_timed(bench, jobs, i);
    } else {
      run_launches(bench, jobs[i], std::atoi(argv[4]));
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace runner

int main(int argc, char** argv) { return runner::run(argc, argv); }
