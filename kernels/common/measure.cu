// Launches the kernel `tile_gemm` of a cubin and compares C with a product summed in double precision.
//   measure CUBIN M N K BM BN THREADS DYNAMIC_SHARED_BYTES LAYOUT DTYPE LAUNCHES [TIMED]
// DTYPE: f32, tf32, f16 or bf16. Prints the largest difference over the bound that FP32 summation allows; exit code 1
// if it is over 1. TIMED more launches are timed with events after the L2 was flushed, and as many warm: prints their
// medians and spreads.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace {

void check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) {
    const char* text = nullptr;
    cuGetErrorString(result, &text);
    std::fprintf(stderr, "measure: %s: %s\n", what, text != nullptr ? text : "unknown error");
    std::exit(4);
  }
}

enum class Type { kF32, kTf32, kF16, kBf16 };

__host__ __device__ int bytes_of(Type type) { return type == Type::kF16 || type == Type::kBf16 ? 2 : 4; }

// An element as the kernel sees it: the tensor core takes the upper 19 bits of a TF32 operand.
__device__ double element(const void* matrix, size_t index, Type type) {
  switch (type) {
    case Type::kF16:
      return __half2float(static_cast<const __half*>(matrix)[index]);
    case Type::kBf16:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(matrix)[index]);
    case Type::kTf32:
      return __uint_as_float(static_cast<const unsigned*>(matrix)[index] & 0xffffe000U);
    case Type::kF32:
      break;
  }
  return static_cast<const float*>(matrix)[index];
}

// One thread per element, in double precision.
__global__ void reference(int m, int n, int k, const void* a, const void* b, const float* c, bool a_transposed,
                          bool b_transposed, Type type, float* worst) {
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= m || column >= n) return;
  double sum = 0.0;
  double magnitude = 0.0;
  for (int i = 0; i < k; ++i) {
    const double x =
        element(a, a_transposed ? static_cast<size_t>(i) * m + row : static_cast<size_t>(row) * k + i, type);
    const double y =
        element(b, b_transposed ? static_cast<size_t>(column) * k + i : static_cast<size_t>(i) * n + column, type);
    sum += x * y;
    magnitude += fabs(x * y);
  }
  const double error = fabs(sum - c[static_cast<size_t>(row) * n + column]);
  const double bound = 6e-8 * k * magnitude + 1e-30;
  const float ratio = error == error ? static_cast<float>(error / bound) : 1e30F;  // NaN: the element was not written
  atomicMax(reinterpret_cast<int*>(worst), __float_as_int(ratio));
}

Type type_of(const char* name) {
  const char* names[] = {"f32", "tf32", "f16", "bf16"};
  for (int i = 0; i < 4; ++i) {
    if (std::strcmp(name, names[i]) == 0) return static_cast<Type>(i);
  }
  std::fprintf(stderr, "measure: DTYPE is f32, tf32, f16 or bf16, not %s\n", name);
  std::exit(2);
}

// Median and spread (largest minus smallest over the median) of event times in microseconds.
template <class Launch, class Before>
void time_launches(const char* name, int count, const Before& before, const Launch& launch) {
  cudaEvent_t begin;
  cudaEvent_t end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> times;
  for (int i = 0; i < count; ++i) {
    before();
    cudaEventRecord(begin);
    launch();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float milliseconds = 0.0F;
    cudaEventElapsedTime(&milliseconds, begin, end);
    times.push_back(1000.0F * milliseconds);
  }
  std::sort(times.begin(), times.end());
  const float median = times[times.size() / 2];
  std::printf("%s us %.3f spread %.4f\n", name, static_cast<double>(median),
              static_cast<double>((times.back() - times.front()) / median));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 12 && argc != 13) {
    std::fprintf(stderr,
                 "usage: measure CUBIN M N K BM BN THREADS DYNAMIC_SHARED_BYTES LAYOUT DTYPE LAUNCHES [TIMED]\n");
    return 2;
  }
  int m = std::atoi(argv[2]);
  int n = std::atoi(argv[3]);
  int k = std::atoi(argv[4]);
  const unsigned bm = static_cast<unsigned>(std::atoi(argv[5]));
  const unsigned bn = static_cast<unsigned>(std::atoi(argv[6]));
  const unsigned threads = static_cast<unsigned>(std::atoi(argv[7]));
  const unsigned shared = static_cast<unsigned>(std::atoi(argv[8]));
  const Type type = type_of(argv[10]);
  cudaFree(nullptr);  // the primary context
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  check(cuModuleLoad(&module, argv[1]), argv[1]);
  check(cuModuleGetFunction(&kernel, module, "tile_gemm"), "tile_gemm");
  if (shared > 0) {
    check(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared)),
          "dynamic shared memory");
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  const auto filled = [&](size_t count) {
    const auto size = static_cast<size_t>(bytes_of(type));
    std::vector<unsigned char> host(count * size);
    for (size_t i = 0; i < count; ++i) {
      const float value = uniform(random);
      const __half half = __float2half(value);
      const __nv_bfloat16 bfloat = __float2bfloat16(value);
      const void* const stored = type == Type::kF16    ? static_cast<const void*>(&half)
                                 : type == Type::kBf16 ? static_cast<const void*>(&bfloat)
                                                       : static_cast<const void*>(&value);
      std::memcpy(host.data() + i * size, stored, size);
    }
    void* device = nullptr;
    cudaMalloc(&device, host.size());
    cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice);
    return device;
  };
  void* a = filled(static_cast<size_t>(m) * k);
  void* b = filled(static_cast<size_t>(k) * n);
  float* c = nullptr;
  float* worst = nullptr;
  const size_t c_bytes = static_cast<size_t>(m) * n * sizeof(float);
  cudaMalloc(&c, c_bytes);
  cudaMalloc(&worst, sizeof(float));
  cudaMemset(worst, 0, sizeof(float));
  cudaMemset(c, 0xff, c_bytes);  // NaN everywhere
  void* arguments[] = {&m, &n, &k, &a, &b, &c};
  const auto launch = [&] {
    check(cuLaunchKernel(kernel, (n + bn - 1) / bn, (m + bm - 1) / bm, 1, threads, 1, 1, shared, nullptr, arguments,
                         nullptr),
          "launch");
  };
  for (int i = 0; i < std::atoi(argv[11]); ++i) {
    launch();
    check(cuCtxSynchronize(), "kernel");
  }
  reference<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, a, b, c, argv[9][0] == 't',
                                                                  argv[9][1] == 't', type, worst);
  float ratio = 0.0F;
  cudaMemcpy(&ratio, worst, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("error over bound %.3f\n", static_cast<double>(ratio));
  if (argc == 13) {
    constexpr size_t kFlushBytes = size_t{256} << 20;
    void* flush = nullptr;
    cudaMalloc(&flush, kFlushBytes);
    time_launches(
        "flushed", std::atoi(argv[12]), [&] { cudaMemset(flush, 1, kFlushBytes); }, launch);
    time_launches(
        "warm", std::atoi(argv[12]), [] {}, launch);
  }
  return ratio <= 1.0F ? 0 : 1;
}
