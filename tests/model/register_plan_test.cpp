// Registers and resident CTAs that a kernel is built for.
#include "model/register_plan.h"

#include <tuple>

#include "model/legality.h"
#include "tests/model/tile_fixtures.h"
#include "tests/support/catch.h"

namespace tilesim::model {
namespace {

std::string refused_by(const TileConfig& config) {
  const auto legality = check_legality(config, Problem{4096, 4096, 4096}, gpu_of(9, 0));
  REQUIRE(legality.has_value());
  REQUIRE_FALSE(legality->legal());
  return legality->findings.front().rule;
}

TEST_CASE("A kernel is planned for the CTAs that its need of registers leaves room for") {
  // traces/calibration/h200: the recorded SGEMMs have 119, 128, 143, 69 and 30 registers.
  const auto tile = [](std::int64_t extent, std::int64_t bk, std::int64_t thread_tile, std::int64_t stages) {
    TileConfig config;
    config.bm = config.bn = extent;
    config.bk = bk;
    config.tm = config.tn = thread_tile;
    config.stages = stages;
    return config;
  };
  CHECK(planned_ctas(tile(128, 8, 8, 1)) == 2);
  CHECK(planned_ctas(tile(128, 8, 8, 2)) == 2);
  CHECK(planned_ctas(tile(128, 16, 8, 2)) == 1);
  CHECK(planned_ctas(tile(64, 16, 4, 2)) == 3);
  CHECK(planned_ctas(tile(32, 32, 2, 1)) == 8);
  TileConfig asked = tile(64, 16, 4, 2);
  asked.min_ctas = 5;
  CHECK(planned_ctas(asked) == 5);
  CHECK(registers_per_thread(asked) == 48);
  CHECK_FALSE(spill_of(asked).spills());  // 48 suffice: ptxas spills nothing either
  TileConfig capped = tile(128, 8, 8, 2);
  for (const auto& [cap, least, most] :
       {std::tuple{112, 0, 0}, std::tuple{96, 8, 14}, std::tuple{80, 40, 60}, std::tuple{64, 110, 160}}) {
    capped.register_cap = cap;  // ptxas: 10, 8, 42 and 124 values in local memory
    CHECK(spill_of(capped).registers >= least);
    CHECK(spill_of(capped).registers <= most);
  }
  asked.min_ctas = 9;
  CHECK(refused_by(asked) == "registers");
  asked.min_ctas = 4;
  asked.register_cap = 64;
  CHECK(refused_by(asked) == "registers");
}

}  // namespace
}  // namespace tilesim::model
