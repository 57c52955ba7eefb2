#include "traces/emulator/convergence.h"

#include "tests/support/catch.h"

namespace tilesim::traces {
namespace {

constexpr std::uint32_t kAll = ~std::uint32_t{0};
constexpr std::uint32_t kLow = 0xffff;
constexpr std::uint32_t kHigh = 0xffff0000;

Convergence warp() {
  Convergence result;
  result.start(kAll);
  return result;
}

}  // namespace

TEST_CASE("lanes wait at their convergence barrier for those that took another way") {
  Convergence lanes = warp();
  lanes.enlist(0, kAll);
  lanes.put_off(kHigh, 50);
  CHECK(lanes.active() == kLow);
  CHECK(lanes.meet(0, 11) == 50U);
  CHECK(lanes.active() == kHigh);
  CHECK(lanes.meet(0, 11) == 11U);
  CHECK(lanes.whole());
}

TEST_CASE("two ways may use the same barrier at once") {
  Convergence lanes = warp();
  lanes.put_off(kHigh, 50);
  lanes.enlist(0, kLow);
  lanes.put_off(0xff, 20);
  CHECK(lanes.meet(0, 30) == 20U);  // 8-15 wait for 0-7
  lanes.put_off(0xf, 25);
  CHECK(lanes.active() == 0xf0);
  CHECK(lanes.meet(0, 30) == 25U);
  CHECK(lanes.meet(0, 30) == 30U);
  CHECK(lanes.active() == kLow);
}

TEST_CASE("lanes that withdraw or end are not waited for") {
  Convergence lanes = warp();
  lanes.enlist(0, kAll);
  lanes.put_off(kHigh, 50);
  lanes.put_off(0xff, 60);
  CHECK(lanes.members(0) == kAll);
  lanes.withdraw(0, 0xff00);
  CHECK(lanes.end(0xff00, 5) == 60U);
  CHECK(lanes.meet(0, 70) == 50U);
  CHECK(lanes.meet(0, 70) == 70U);
  CHECK(lanes.active() == (kAll & ~0xff00U));
}

TEST_CASE("WARPSYNC waits for its lanes, wherever they wait") {
  Convergence lanes = warp();
  lanes.put_off(kHigh, 50);
  CHECK(lanes.meet_lanes(kAll, 11) == 50U);
  CHECK(lanes.meet_lanes(kAll, 52) == 52U);
  CHECK(lanes.active() == kHigh);
  CHECK(lanes.end(kHigh, 53) == 11U);
  CHECK(lanes.active() == kLow);
}

TEST_CASE("lanes that wait for ever are reported") {
  Convergence lanes = warp();
  lanes.enlist(0, kAll);
  lanes.enlist(1, kAll);
  lanes.put_off(kHigh, 50);
  CHECK(lanes.meet(0, 11) == 50U);
  CHECK_FALSE(lanes.meet(1, 51).has_value());
}

TEST_CASE("a way that keeps jumping back makes room for the others") {
  Convergence lanes = warp();
  lanes.put_off(kHigh, 50);
  Convergence::Index next = 5;
  unsigned jumps = 0;
  while (next == 5) {
    next = lanes.jump_back(5);
    ++jumps;
  }
  CHECK(next == 50);
  CHECK(jumps == Convergence::kPatience);
  CHECK(lanes.active() == kHigh);
  CHECK(lanes.end(kHigh, 51) == 5U);
}

}  // namespace tilesim::traces
