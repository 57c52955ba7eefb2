#include "sim/chip/request_order.h"

#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

#include "tests/support/catch.h"

using namespace tilesim::sim;

TEST_CASE("requests are taken by time, then SM, then the order in which the SM made them") {
  const bool holds = rc::check([](unsigned seed, bool far_apart) {
    std::mt19937 random(seed);
    RequestOrder order(132);
    for (int round = 0; round < 3; ++round) {  // storage is used again
      std::vector<MemoryRequest> requests(random() % 500);
      for (MemoryRequest& request : requests) {
        request.sm = static_cast<std::uint32_t>(random() % 132);
        request.time = static_cast<Cycle>(1000 + random() % (far_apart ? 1'000'000 : 300));
      }
      std::vector<std::uint32_t> expected(requests.size());
      std::iota(expected.begin(), expected.end(), 0U);
      std::sort(expected.begin(), expected.end(), [&requests](std::uint32_t a, std::uint32_t b) {
        return std::tuple(requests[a].time, requests[a].sm, a) < std::tuple(requests[b].time, requests[b].sm, b);
      });
      const auto sorted = order.sort(requests);
      RC_ASSERT(std::equal(sorted.begin(), sorted.end(), expected.begin(), expected.end()));
    }
  });
  CHECK(holds);
}
