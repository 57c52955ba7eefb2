#include <algorithm>
#include <set>
#include <thread>

#include "tests/support/catch.h"
#include "tests/traces/test_kernels.h"
#include "traces/emulator/main_loop.h"
#include "traces/emulator/sass_kernel.h"

namespace tilesim::traces {
namespace {

constexpr Shape cube(int size) { return {size, size, size}; }

std::uint64_t count_instructions(isa::CtaStream& cta) {
  std::uint64_t count = 0;
  isa::DynamicInstruction instruction;
  for (int w = 0; w < cta.warp_count(); ++w) {
    while (!cta.warp(w).exited()) {
      if (!cta.warp(w).step(instruction)) {  // an assertion for each of 20 million steps would take most of the time
        FAIL(cta.warp(w).error().message);
      }
      ++count;
    }
  }
  return count;
}

struct Access {
  std::uint32_t index;
  std::uint32_t mask;
  std::vector<std::uint64_t> addresses;
  friend bool operator==(const Access&, const Access&) = default;
};

Access access_of(const isa::DynamicInstruction& instruction) {
  return {instruction.index, instruction.active_mask,
          std::vector<std::uint64_t>(instruction.addresses.begin(), instruction.addresses.end())};
}

}  // namespace

TEST_CASE("instruction counts equal the recorded ones exactly") {
  for (const auto* kernels : {&sgemm_kernels(), &hgemm_kernels()}) {
    for (const TestKernel& test : *kernels) {
      for (const int size : {1024, 4096}) {
        const auto kernel = open_kernel(test, cube(size));
        const std::uint64_t ctas = kernel->grid().count();
        auto cta = kernel->open(0, nullptr);
        const std::uint64_t first = count_instructions(*cta);
        cta = kernel->open(ctas - 1, std::move(cta));
        INFO(test.name << " at " << size);
        CHECK(count_instructions(*cta) == first);
        CHECK(static_cast<double>(first * ctas) == recorded(test, size, "smsp__inst_executed.sum"));
      }
    }
  }
}

TEST_CASE("the main loop is found with its trips") {
  const auto loop_of = [](const TestKernel& test, int size) {
    const auto loop = find_main_loop(*open_kernel(test, cube(size)));
    REQUIRE(loop.has_value());
    REQUIRE(loop->has_value());
    return **loop;
  };
  for (const TestKernel& test : sgemm_kernels()) {
    const MainLoop loop = loop_of(test, 1024);
    const bool double_buffered = test.name.find("_s2_") != std::string::npos;
    INFO(test.name);
    CHECK(loop.trips == static_cast<std::uint64_t>(1024 / test.bk - (double_buffered ? 1 : 0)));
    CHECK(loop.taken == loop.trips - 1);
    CHECK(loop.body > 100);
    CHECK(loop.target + loop.body == loop.branch + 1);
  }
}

TEST_CASE("a kernel without a taken loop has no main loop") {
  const TestKernel& test = sgemm_kernels().front();
  const auto loop = find_main_loop(*open_kernel(test, {32, 32, 32}));
  REQUIRE(loop.has_value());
  CHECK_FALSE(loop->has_value());
}

TEST_CASE("the global accesses of a CTA are its rows of A, its columns of B and its tile of C") {
  const TestKernel& test = sgemm_kernels()[1];  // 64 x 64 x 16
  const Shape shape{128, 192, 48};
  const auto kernel = open_kernel(test, shape);
  const auto& allocations = kernel->launch().arguments.allocations;
  const auto cta = kernel->open(4, nullptr);  // column 1, row 1
  std::set<std::uint64_t> seen[3];
  isa::DynamicInstruction instruction;
  for (int w = 0; w < cta->warp_count(); ++w) {
    while (!cta->warp(w).exited()) {
      REQUIRE(cta->warp(w).step(instruction));
      const isa::Instruction& in = kernel->program().instructions[instruction.index];
      if (!isa::is_global(in.memory)) {
        continue;
      }
      for (const std::uint64_t address : instruction.addresses) {
        const auto allocation = std::find_if(allocations.rbegin(), allocations.rend(),
                                             [&](const Allocation& a) { return address >= a.address; });
        for (unsigned byte = 0; byte < in.access_bytes; byte += 4) {
          seen[allocations.rend() - allocation - 1].insert((address - allocation->address + byte) / 4);
        }
      }
    }
  }
  std::set<std::uint64_t> expected[3];
  for (std::uint64_t i = 64; i < 128; ++i) {
    for (std::uint64_t k = 0; k < 48; ++k) {
      expected[0].insert(i * 48 + k);
      expected[1].insert(k * 192 + i);
    }
    for (std::uint64_t j = 64; j < 128; ++j) {
      expected[2].insert(i * 192 + j);
    }
  }
  CHECK(seen[0] == expected[0]);
  CHECK(seen[1] == expected[1]);
  CHECK(seen[2] == expected[2]);
}

TEST_CASE("shared addresses start at the reserved kilobyte and are reported raw") {
  const auto kernel = open_kernel(sgemm_kernels()[2], cube(128));
  const auto cta = kernel->open(0, nullptr);
  std::uint64_t lowest = ~std::uint64_t{0};
  std::uint64_t highest = 0;
  isa::DynamicInstruction instruction;
  for (int w = 0; w < cta->warp_count(); ++w) {
    while (!cta->warp(w).exited()) {
      REQUIRE(cta->warp(w).step(instruction));
      const isa::Instruction& in = kernel->program().instructions[instruction.index];
      if (in.memory == isa::MemoryOp::kLoadShared && instruction.active_mask != 0) {
        lowest = std::min(lowest, *std::min_element(instruction.addresses.begin(), instruction.addresses.end()));
        highest = std::max(
            highest, *std::max_element(instruction.addresses.begin(), instruction.addresses.end()) + in.access_bytes);
      }
    }
  }
  CHECK(lowest == abi_of(90).shared_base);
  CHECK(highest == abi_of(90).shared_base + 8192);
}

TEST_CASE("stepping to global accesses gives the same accesses as stepping through") {
  for (const TestKernel& test : sgemm_kernels()) {
    const auto kernel = open_kernel(test, {256, 128, 64});
    const auto whole = kernel->open(1, nullptr);
    const auto quick = kernel->open(1, nullptr);
    isa::DynamicInstruction instruction;
    isa::DynamicInstruction global;
    isa::WarpStream& slow = whole->warp(3);
    isa::WarpStream& fast = quick->warp(3);
    std::uint64_t steps = 0;
    while (!slow.exited()) {
      ++steps;
      REQUIRE(slow.step(instruction));
      if (isa::is_global(kernel->program().instructions[instruction.index].memory) && instruction.active_mask != 0) {
        REQUIRE(fast.step_to_global(kernel->program(), global));
        REQUIRE(access_of(global) == access_of(instruction));
      }
    }
    REQUIRE(fast.step_to_global(kernel->program(), global));
    CHECK(global.active_mask == 0);
    CHECK(fast.exited());
    CHECK(slow.executed() == steps);
    CHECK(fast.executed() == steps);
  }
}

TEST_CASE("CTAs can be opened from several threads, and storage can be used again") {
  const auto kernel = open_kernel(sgemm_kernels()[0], cube(256));
  std::vector<std::uint64_t> counts(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    threads.emplace_back([&, t] {
      std::unique_ptr<isa::CtaStream> cta;
      isa::DynamicInstruction instruction;
      for (std::uint64_t id = t; id < kernel->grid().count(); id += counts.size()) {
        cta = kernel->open(id, std::move(cta));
        for (int w = 0; w < cta->warp_count(); ++w) {
          while (!cta->warp(w).exited() && cta->warp(w).step(instruction)) {
            ++counts[t];
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(
      std::all_of(counts.begin(), counts.end(), [&](std::uint64_t count) { return count == counts[0] && count > 0; }));
}

}  // namespace tilesim::traces
