// Launches the kernel `tile_gemm` of a cubin and compares C with a product summed in double precision.
//   measure CUBIN M N K BM BN THREADS DYNAMIC_SHARED_BYTES LAYOUT LAUNCHES
// Prints the largest difference over the bound that FP32 summation allows; exit code 1 if it is over 1.
#include <cuda.h>

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

// One thread per element, in double precision.
__global__ void reference(int m, int n, int k, const float* a, const float* b, const float* c, bool a_transposed,
                          bool b_transposed, float* worst) {
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= m || column >= n) return;
  double sum = 0.0;
  double magnitude = 0.0;
  for (int i = 0; i < k; ++i) {
    const double x = a[a_transposed ? static_cast<size_t>(i) * m + row : static_cast<size_t>(row) * k + i];
    const double y = b[b_transposed ? static_cast<size_t>(column) * k + i : static_cast<size_t>(i) * n + column];
    sum += x * y;
    magnitude += fabs(x * y);
  }
  const double error = fabs(sum - c[static_cast<size_t>(row) * n + column]);
  const double bound = 6e-8 * k * magnitude + 1e-30;
  const float ratio = error == error ? static_cast<float>(error / bound) : 1e30F;  // NaN: the element was not written
  atomicMax(reinterpret_cast<int*>(worst), __float_as_int(ratio));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 11) {
    std::fprintf(stderr, "usage: measure CUBIN M N K BM BN THREADS DYNAMIC_SHARED_BYTES LAYOUT LAUNCHES\n");
    return 2;
  }
  int m = std::atoi(argv[2]);
  int n = std::atoi(argv[3]);
  int k = std::atoi(argv[4]);
  const unsigned bm = static_cast<unsigned>(std::atoi(argv[5]));
  const unsigned bn = static_cast<unsigned>(std::atoi(argv[6]));
  const unsigned threads = static_cast<unsigned>(std::atoi(argv[7]));
  const unsigned shared = static_cast<unsigned>(std::atoi(argv[8]));
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
    std::vector<float> host(count);
    for (float& value : host) value = uniform(random);
    float* device = nullptr;
    cudaMalloc(&device, count * sizeof(float));
    cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    return device;
  };
  float* a = filled(static_cast<size_t>(m) * k);
  float* b = filled(static_cast<size_t>(k) * n);
  float* c = nullptr;
  float* worst = nullptr;
  const size_t c_bytes = static_cast<size_t>(m) * n * sizeof(float);
  cudaMalloc(&c, c_bytes);
  cudaMalloc(&worst, sizeof(float));
  cudaMemset(worst, 0, sizeof(float));
  cudaMemset(c, 0xff, c_bytes);  // NaN everywhere
  void* arguments[] = {&m, &n, &k, &a, &b, &c};
  for (int launch = 0; launch < std::atoi(argv[10]); ++launch) {
    check(cuLaunchKernel(kernel, (n + bn - 1) / bn, (m + bm - 1) / bm, 1, threads, 1, 1, shared, nullptr, arguments,
                         nullptr),
          "launch");
    check(cuCtxSynchronize(), "kernel");
  }
  reference<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, a, b, c, argv[9][0] == 't',
                                                                  argv[9][1] == 't', worst);
  float ratio = 0.0F;
  cudaMemcpy(&ratio, worst, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("error over bound %.3f\n", static_cast<double>(ratio));
  return ratio <= 1.0F ? 0 : 1;
}
