#include <vector>

#include "tests/support/catch.h"
#include "tests/traces/test_kernels.h"
#include "traces/emulator/main_loop.h"
#include "traces/emulator/sass_kernel.h"

namespace tilesim::traces {
namespace {

struct Executed {
  std::uint32_t index = 0;
  std::uint32_t mask = 0;
  bool taken = false;
  std::vector<std::uint64_t> addresses;
  friend bool operator==(const Executed&, const Executed&) = default;
};

std::vector<Executed> run(const SassKernel& kernel, std::uint64_t cta, int warp) {
  std::vector<Executed> all;
  const auto stream = kernel.open(cta, nullptr);
  isa::DynamicInstruction instruction;
  while (!stream->warp(warp).exited()) {
    REQUIRE(stream->warp(warp).step(instruction));
    Executed one{instruction.index, instruction.active_mask, instruction.branch_taken, {}};
    if (kernel.program().instructions[instruction.index].memory != isa::MemoryOp::kNone &&
        instruction.active_mask != 0) {
      one.addresses.assign(instruction.addresses.begin(), instruction.addresses.end());
    }
    all.push_back(std::move(one));
  }
  return all;
}

// What a warp says that it executed, at the end of a run that goes step by step or from one global access to the next.
std::uint64_t executed(const SassKernel& kernel, std::uint64_t cta, int warp, bool jump) {
  const auto stream = kernel.open(cta, nullptr);
  isa::DynamicInstruction instruction;
  while (!stream->warp(warp).exited()) {
    REQUIRE((jump ? stream->warp(warp).step_to_global(kernel.program(), instruction)
                  : stream->warp(warp).step(instruction)));
  }
  return stream->warp(warp).executed();
}

// The full run without what the skip leaves out: everything between the `after`-th taken execution of the branch and
// the end of `trips` further executions of it.
std::vector<Executed> without(const std::vector<Executed>& all, const TripSkip& skip) {
  std::vector<Executed> rest;
  std::uint64_t taken = 0;
  std::uint64_t skipped = 0;
  bool skipping = false;
  for (const Executed& one : all) {
    if (!skipping) {
      rest.push_back(one);
    }
    if (one.index != skip.branch) {
      continue;
    }
    if (skipping) {
      skipping = ++skipped < skip.trips && one.taken;
    } else if (one.taken && ++taken == skip.after) {
      skipping = skip.trips > 0;
    }
  }
  return rest;
}

}  // namespace

TEST_CASE("skipped trips leave the rest of the stream as in the full run") {
  for (const TestKernel& test : sgemm_kernels()) {
    const Shape shape{test.bm * 2, test.bn * 2, test.bk * 20};
    const auto kernel = open_kernel(test, shape);
    const auto loop = find_main_loop(*kernel);
    REQUIRE(loop.has_value());
    REQUIRE(loop->has_value());
    const std::vector<Executed> full = run(*kernel, 3, 5);
    for (const std::uint64_t trips : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{9}, std::uint64_t{1000}}) {
      const TripSkip skip{(*loop)->branch, 4, trips};
      REQUIRE(kernel->set_trip_skip(skip).has_value());
      const std::vector<Executed> expected = without(full, skip);
      INFO(test.name << " skipping " << trips);
      CHECK(run(*kernel, 3, 5) == expected);
      CHECK((trips == 0) == (expected.size() == full.size()));
      // Trips that are passed over count.
      CHECK(executed(*kernel, 3, 5, false) == full.size());
      CHECK(executed(*kernel, 3, 5, true) == full.size());
    }
    REQUIRE(kernel->set_trip_skip(std::nullopt).has_value());
    CHECK(run(*kernel, 3, 5) == full);
  }
}

TEST_CASE("a trip skip must name a backward branch and keep a trip before it") {
  const auto kernel = open_kernel(sgemm_kernels()[0], {32, 32, 128});
  const auto loop = find_main_loop(*kernel);
  REQUIRE(loop.has_value());
  REQUIRE(loop->has_value());
  CHECK_FALSE(kernel->set_trip_skip(TripSkip{0, 1, 1}).has_value());
  CHECK_FALSE(kernel->set_trip_skip(TripSkip{1000000, 1, 1}).has_value());
  CHECK_FALSE(kernel->set_trip_skip(TripSkip{(*loop)->branch, 0, 1}).has_value());
  CHECK(kernel->set_trip_skip(TripSkip{(*loop)->branch, 1, 1}).has_value());
}

}  // namespace tilesim::traces
