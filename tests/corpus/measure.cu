// Launches kernels as a manifest says (written by `measure`, which runs this under Nsight Compute):
//   measure MANIFEST LAUNCHES
// Lines: `kernel CUBIN NAME` grid, block, dynamic shared bytes; then its `buffer BYTES FILL` (a type, zero, none, or
// addresses:BUFFER:BYTES), `address OFFSET BUFFER` (into the parameter block) and, last, `block HEX`.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

void check(CUresult result, const std::string& what) {
  if (result != CUDA_SUCCESS) {
    const char* text = nullptr;
    cuGetErrorString(result, &text);
    std::fprintf(stderr, "%s: %s\n", what.c_str(), text != nullptr ? text : "unknown error");
    std::exit(1);
  }
}

template <class T>
std::vector<char> random_values(std::size_t bytes) {
  std::vector<char> data(bytes);
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    const T value = static_cast<T>(distribution(generator));
    std::memcpy(&data[at], &value, sizeof(T));
  }
  return data;
}

struct Buffer {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  std::string fill;

  void prepare(const std::vector<Buffer>& others) const {
    std::vector<char> data(bytes);
    if (fill.rfind("addresses:", 0) == 0) {
      std::size_t of = 0, step = 0;
      std::sscanf(fill.c_str(), "addresses:%zu:%zu", &of, &step);
      for (std::size_t i = 0; i * 8 < bytes; ++i) {
        const CUdeviceptr one = others[of].address + i * step;
        std::memcpy(&data[i * 8], &one, sizeof one);
      }
    } else if (fill == "f16") {
      data = random_values<__half>(bytes);
    } else if (fill == "bf16") {
      data = random_values<__nv_bfloat16>(bytes);
    } else if (fill == "f64") {
      data = random_values<double>(bytes);
    } else if (fill != "zero" && fill != "none") {
      data = random_values<float>(bytes);
    }
    check(cuMemcpyHtoD(address, data.data(), bytes), "copy");
  }
};

struct Kernel {
  std::string cubin, name;
  unsigned grid[3] = {}, block[3] = {}, shared = 0;
  std::vector<Buffer> buffers;
  std::vector<std::pair<std::size_t, std::size_t>> places;

  void run(std::vector<char> parameters, int launches) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    check(cuModuleLoad(&module, cubin.c_str()), cubin);
    check(cuModuleGetFunction(&function, module, name.c_str()), name);
    for (Buffer& buffer : buffers) check(cuMemAlloc(&buffer.address, buffer.bytes), "allocation");
    for (const auto& [offset, buffer] : places) std::memcpy(&parameters[offset], &buffers[buffer].address, 8);
    std::size_t size = parameters.size();
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    for (int i = 0; i < launches; ++i) {
      for (const Buffer& buffer : buffers) buffer.prepare(buffers);
      check(cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, nullptr, nullptr,
                           extra),
            name);
      check(cuCtxSynchronize(), name);
    }
    for (const Buffer& buffer : buffers) cuMemFree(buffer.address);
    cuModuleUnload(module);
    std::printf("launched %s\n", name.c_str());
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  check(cuInit(0), "driver");
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(cuDeviceGet(&device, 0), "device");
  check(cuDevicePrimaryCtxRetain(&context, device), "context");
  check(cuCtxSetCurrent(context), "context");
  std::ifstream manifest(argv[1]);
  Kernel kernel;
  for (std::string line; std::getline(manifest, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "kernel") {
      kernel = Kernel{};
      words >> kernel.cubin >> kernel.name;
      for (unsigned& extent : kernel.grid) words >> extent;
      for (unsigned& extent : kernel.block) words >> extent;
      words >> kernel.shared;
    } else if (word == "buffer") {
      Buffer buffer;
      words >> buffer.bytes >> buffer.fill;
      kernel.buffers.push_back(buffer);
    } else if (word == "address") {
      std::size_t offset = 0, buffer = 0;
      words >> offset >> buffer;
      kernel.places.emplace_back(offset, buffer);
    } else if (word == "block") {
      std::string hex;
      words >> hex;
      std::vector<char> parameters;
      for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        parameters.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
      }
      kernel.run(parameters, std::atoi(argv[2]));
    }
  }
}
