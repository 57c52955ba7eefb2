// Launches the tests of tests.txt and prints one line per result: name, repetition, CTA, warp, then 128 hex words.
// A child process does the work; its parent restarts it after a test that fails or hangs.
#include <cuda_runtime.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kInputs = 10, kThreads = 1024, kCtas = 264, kResults = 128;
constexpr size_t kBufferBytes = size_t{64} << 20;

struct Parameters {
  uint32_t v[900];
};

struct Test {
  std::string name;
  size_t offset, bytes;
  int grid, block, shared, reps, first;
  long rows[kInputs + 1];
};

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  _exit(3);
}

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Test> read_tests(const std::string& path, const char* prefix) {
  std::vector<Test> tests;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    Test t;
    in >> t.name >> t.offset >> t.bytes >> t.grid >> t.block >> t.shared >> t.reps >> t.first;
    for (long& row : t.rows) in >> row;
    if (!prefix || t.name.rfind(prefix, 0) == 0) tests.push_back(t);
  }
  return tests;
}

class Device {
 public:
  Device(std::string pack, std::string rows) : pack_(std::move(pack)), rows_(std::move(rows)) {
    check(cudaMalloc(&in_, kInputs * kThreads * 4), "inputs");
    check(cudaMalloc(&out_, size_t{kCtas} * 32 * kResults * 4), "results");
    check(cudaMalloc(&buffer_, kBufferBytes), "buffer");
    check(cudaMemset(buffer_, 0, kBufferBytes), "buffer");
  }

  void run(const Test& t, FILE* to) {
    load(t);
    std::vector<uint32_t> in(kInputs * kThreads);
    for (int i = 0; i < kInputs; i++) memcpy(&in[i * kThreads], rows_.data() + t.rows[i], size_t(t.block) * 4);
    check(cudaMemcpy(in_, in.data(), in.size() * 4, cudaMemcpyHostToDevice), "inputs");
    Parameters parameters{};
    if (t.rows[kInputs] >= 0) memcpy(parameters.v, rows_.data() + t.rows[kInputs], size_t(t.grid) * 4);
    void* arguments[] = {&out_, &in_, &buffer_, &parameters};
    std::vector<uint32_t> out(size_t(t.grid) * 32 * kResults);
    for (int rep = -1; rep < t.reps; rep++) {
      check(cudaMemset(out_, 0, out.size() * 4), "results");
      check(cudaLaunchKernel((const void*)kernel_, dim3(t.grid), dim3(t.block), arguments, t.shared, 0), "launch");
      check(cudaDeviceSynchronize(), t.name.c_str());
      if (rep < 0 && !t.first) continue;
      check(cudaMemcpy(out.data(), out_, out.size() * 4, cudaMemcpyDeviceToHost), "results");
      print(t, rep, out, to);
    }
  }

 private:
  void load(const Test& t) {
    if (t.offset == loaded_) return;
    if (library_) cudaLibraryUnload(library_);
    check(cudaLibraryLoadData(&library_, pack_.data() + t.offset, nullptr, nullptr, 0, nullptr, nullptr, 0), "load");
    check(cudaLibraryGetKernel(&kernel_, library_, "k"), "kernel");
    check(cudaFuncSetAttribute((const void*)kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024),
          "shared");
    loaded_ = t.offset;
  }

  static void print(const Test& t, int rep, const std::vector<uint32_t>& out, FILE* to) {
    for (int cta = 0; cta < t.grid; cta++) {
      for (int warp = 0; warp < t.block / 32; warp++) {
        const uint32_t* result = &out[(size_t(cta) * 32 + warp) * kResults];
        int last = kResults;
        while (last > 0 && result[last - 1] == 0) last--;
        if (last == 0) continue;
        fprintf(to, "%s %d %d %d", t.name.c_str(), rep, cta, warp);
        for (int i = 0; i < last; i++) fprintf(to, " %x", result[i]);
        fputc('\n', to);
      }
    }
  }

  std::string pack_, rows_;
  uint32_t *in_ = nullptr, *out_ = nullptr, *buffer_ = nullptr;
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
  size_t loaded_ = ~size_t{0};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: runner BUILD_DIR RESULTS [NAME_PREFIX]\n");
    return 2;
  }
  const std::string folder = argv[1], results = argv[2];
  const auto tests = read_tests(folder + "/tests.txt", argc > 3 ? argv[3] : nullptr);
  auto* current =
      static_cast<volatile int*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  fclose(fopen(results.c_str(), "w"));
  int start = 0, failures = 0;
  const int count = int(tests.size());
  while (start < count && failures < 60) {
    *current = start;
    const pid_t child = fork();
    if (child == 0) {
      FILE* to = fopen(results.c_str(), "a");
      Device device(slurp(folder + "/pack.bin"), slurp(folder + "/rows.bin"));
      for (int i = start; i < count; i++) {
        *current = i;
        device.run(tests[i], to);
        fflush(to);
      }
      *current = count;
      _exit(0);
    }
    int seen = -1, idle = 0, status;
    while (waitpid(child, &status, WNOHANG) != child) {
      usleep(50000);
      idle = *current == seen ? idle + 1 : 0;
      seen = *current;
      if (idle == 200) kill(child, SIGKILL);
    }
    if (*current == count) break;
    printf("failed: %s\n", tests[*current].name.c_str());
    failures++;
    start = *current + 1;
  }
  printf("%d tests, %d failed\n", count, failures);
  return failures != 0;
}
