// Who waits at the named barriers of a CTA (PTX: bar.sync, bar.arrive with and without a number of threads).
#include "traces/emulator/cta_barriers.h"

#include "tests/support/catch.h"

namespace tilesim::traces {
namespace {

std::vector<bool> blocked(const CtaBarriers& barriers, int warps) {
  std::vector<bool> result;
  result.reserve(static_cast<std::size_t>(warps));
  for (int w = 0; w < warps; ++w) {
    result.push_back(barriers.blocks(w));
  }
  return result;
}

using Warps = std::vector<bool>;

}  // namespace

TEST_CASE("a barrier without a number of warps holds warps until all have come") {
  CtaBarriers barriers;
  barriers.start(3);
  barriers.arrive(2, {0, 0, false});
  barriers.arrive(0, {0, 0, false});
  CHECK(blocked(barriers, 3) == Warps{true, false, true});
  barriers.arrive(1, {0, 0, false});
  CHECK(blocked(barriers, 3) == Warps{false, false, false});
  // And the next time again.
  barriers.arrive(1, {0, 0, false});
  CHECK(blocked(barriers, 3) == Warps{false, true, false});
}

TEST_CASE("warps that have exited are not waited for") {
  CtaBarriers barriers;
  barriers.start(3);
  barriers.exit(0);
  barriers.arrive(1, {0, 0, false});
  CHECK(barriers.blocks(1));
  barriers.arrive(2, {0, 0, false});
  CHECK(blocked(barriers, 3) == Warps{false, false, false});
  // The last one that is missing exits instead of coming.
  barriers.arrive(1, {0, 0, false});
  CHECK(barriers.blocks(1));
  barriers.exit(2);
  CHECK_FALSE(barriers.blocks(1));
}

TEST_CASE("a barrier with a number of warps is for that many, whoever they are") {
  CtaBarriers barriers;
  barriers.start(4);
  barriers.arrive(0, {3, 2, false});
  CHECK(blocked(barriers, 4) == Warps{true, false, false, false});
  barriers.arrive(3, {3, 2, false});
  CHECK(blocked(barriers, 4) == Warps{false, false, false, false});
  // Exits do not fill it.
  barriers.arrive(1, {3, 2, false});
  barriers.exit(0);
  barriers.exit(2);
  CHECK(barriers.blocks(1));
}

TEST_CASE("who only arrives does not wait, and counts") {
  CtaBarriers barriers;
  barriers.start(2);
  barriers.arrive(0, {1, 2, true});
  CHECK(blocked(barriers, 2) == Warps{false, false});
  barriers.arrive(1, {1, 2, false});
  CHECK(blocked(barriers, 2) == Warps{false, false});
}

TEST_CASE("barriers of different numbers do not mix") {
  CtaBarriers barriers;
  barriers.start(2);
  barriers.arrive(0, {1, 0, false});
  barriers.arrive(1, {2, 0, false});
  CHECK(blocked(barriers, 2) == Warps{true, true});
}

TEST_CASE("what BAR asks for from registers goes through the addresses of its execution, for any active lanes") {
  isa::Instruction bar;
  bar.barrier_from_registers = true;
  bar.barrier_arrives = true;
  for (const std::uint32_t lanes : {1U, 0x80000000U, ~0U}) {
    isa::DynamicInstruction executed;
    executed.active_mask = lanes;
    isa::BarrierCall{15, 3, true}.report(executed);
    const isa::BarrierCall call = isa::BarrierCall::of(bar, executed);
    CHECK(call.barrier == 15);
    CHECK(call.warps == 3);
    CHECK(call.arrives_only);
    CHECK(call.possible(3));
    CHECK_FALSE(call.possible(2));
  }
  CHECK_FALSE(isa::BarrierCall{16, 1, false}.possible(4));
}

}  // namespace tilesim::traces
