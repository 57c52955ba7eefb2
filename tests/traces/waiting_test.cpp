// CTAs that wait for what others store: contents that arguments give, and how long a warp may wait.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/traces/cubin_gemm.h"
#include "traces/emulator/functional.h"

namespace tilesim::traces {
namespace {

/// suffix_sums of cubins/waits.cu: CTA i waits until flag i + 1 is not zero.
struct Waiting {
  DecodedKernel kernel = decode_kernel(only_kernel(std::string(TILESIM_TEST_CUBINS) + "/waits.cubin")).value();
  LaunchParameters launch;

  explicit Waiting(const std::string& flags) {
    launch.grid = {3, 1, 1};
    launch.block = {64, 1, 1};
    launch.arguments = parse_arguments("ptr:4KiB,ptr:4KiB," + flags).value();
  }
};

/// A file of 32-bit words.
struct WordFile {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("tilesim-words-" + std::to_string(getpid()));
  explicit WordFile(const std::vector<std::uint32_t>& words) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(4 * words.size()));
  }
  ~WordFile() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("CTAs that wait for later ones compute, side by side") {
  const Waiting test("ptr:64");
  auto memory = DeviceMemory::allocate(test.launch.arguments);
  REQUIRE(memory.has_value());
  std::vector<float> a(192);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i);
  }
  std::memcpy(memory->bytes(0).data(), a.data(), 4 * a.size());
  REQUIRE(run_functional(test.kernel, test.launch, *memory).has_value());
  std::vector<float> c(192);
  std::memcpy(c.data(), memory->bytes(1).data(), 4 * c.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    wrong += c[i] == a[i] + a[i + 64] + a[i + 128] && c[i + 64] == a[i + 64] + a[i + 128] && c[i + 128] == a[i + 128]
                 ? 0
                 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("memory begins with the contents of the file that mem: names") {
  const WordFile file({0, 1, 0});  // the flag that CTA 0 waits for
  const std::vector<std::uint64_t> first{0};
  const Waiting given("mem:" + file.path.string());
  auto memory = DeviceMemory::allocate(given.launch.arguments);
  REQUIRE(memory.has_value());
  CHECK(run_functional(given.kernel, given.launch, *memory, first).has_value());
  const Waiting zeros("ptr:12");
  auto empty = DeviceMemory::allocate(zeros.launch.arguments);
  REQUIRE(empty.has_value());
  const auto waits = run_functional(zeros.kernel, zeros.launch, *empty, first);
  REQUIRE_FALSE(waits.has_value());
  CHECK(waits.error().message == "1 CTA waits for memory that none of them changes.");
}

TEST_CASE("a warp that reads the same for ever ends with an error that says so") {
  const Waiting test("ptr:64");
  const auto kernel = SassKernel::create(test.kernel, test.launch);
  REQUIRE(kernel.has_value());
  const auto cta = (*kernel)->open(0, nullptr);
  isa::WarpStream& warp = cta->warp(0);
  const isa::Program& program = (*kernel)->program();
  isa::DynamicInstruction executed;
  std::uint64_t trips = 0;
  std::uint64_t noticed = 0;
  while (trips < 2 * WarpEmulator::kMostRepeats && warp.step(executed)) {
    trips += executed.branch_taken && program.instructions[executed.index].control == isa::ControlOp::kBranch ? 1 : 0;
    noticed = noticed == 0 && warp.waits() ? trips : noticed;
  }
  CHECK_FALSE(warp.exited());
  CHECK(noticed == 9);  // eight trips that read what the one before did
  CHECK(trips == WarpEmulator::kMostRepeats + 1);
  CHECK(warp.error().message.find("200000 trips of the loop read the same from memory") != std::string::npos);
  CHECK(warp.error().message.find("warp 0 of CTA 0") != std::string::npos);
}

}  // namespace tilesim::traces
