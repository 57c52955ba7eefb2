#include "model/waves.h"

#include <set>

#include "tests/model/tile_fixtures.h"

namespace tilesim::model {
namespace {

Waves waves_of(std::int64_t m, std::int64_t n, std::int64_t bm, std::int64_t bn, std::int64_t sms) {
  const auto waves = count_waves(problem_of(m, n, 7168), {bm, bn, 64}, sms, 1);
  REQUIRE(waves);
  return *waves;
}

TEST_CASE("Waves F01: Hopper, 4096 x 2112 with block_n 192, 176 and 64") {
  CHECK(waves_of(4096, 2112, 128, 192, 132).ctas == 352);
  CHECK(waves_of(4096, 2112, 128, 192, 132).waves == Approx(2.67).margin(0.005));
  CHECK(100 * waves_of(4096, 2112, 128, 192, 132).efficiency == Approx(88.9).margin(0.05));
  CHECK(waves_of(4096, 2112, 128, 176, 132).ctas == 384);
  CHECK(waves_of(4096, 2112, 128, 176, 132).waves == Approx(2.91).margin(0.005));
  CHECK(100 * waves_of(4096, 2112, 128, 176, 132).efficiency == Approx(97.0).margin(0.05));
  CHECK(waves_of(4096, 2112, 128, 64, 132).ctas == 1056);
  CHECK(waves_of(4096, 2112, 128, 64, 132).waves == 8.0);
  CHECK(waves_of(4096, 2112, 128, 64, 132).efficiency == 1.0);
}

TEST_CASE("Waves F03: A100, one element past 1792 halves the efficiency") {
  CHECK(waves_of(1792, 1792, 256, 128, 108).ctas == 98);
  CHECK(waves_of(1792, 1792, 256, 128, 108).whole_waves == 1);
  CHECK(100 * waves_of(1792, 1792, 256, 128, 108).efficiency == Approx(90.7).margin(0.05));
  CHECK(waves_of(1793, 1793, 256, 128, 108).ctas == 120);
  CHECK(waves_of(1793, 1793, 256, 128, 108).whole_waves == 2);
  CHECK(100 * waves_of(1793, 1793, 256, 128, 108).efficiency == Approx(55.6).margin(0.05));
}

TEST_CASE("Waves F05: 2048 x 576 on 132 SMs, block_n 72 is best") {
  const std::vector<std::pair<std::int64_t, double>> expected{{32, 72.7}, {56, 66.7}, {64, 54.5},  {72, 97.0},
                                                              {88, 84.8}, {96, 72.7}, {112, 72.7}, {128, 60.6}};
  for (const auto& [block_n, efficiency] : expected) {
    CHECK(100 * waves_of(2048, 576, 128, block_n, 132).efficiency == Approx(efficiency).margin(0.05));
  }
  CHECK(waves_of(2048, 576, 128, 72, 132).ctas == 128);
  CHECK(waves_of(2048, 576, 128, 72, 132).whole_waves == 1);
}

TEST_CASE("Waves F07: tiles of five shapes under 128x128, 128x160 and 256x128") {
  struct Shape {
    std::int64_t m, n, t128, t160, t256;
  };
  for (const Shape& s : {Shape{4096, 24576, 6144, 4928, 3072}, Shape{4096, 32768, 8192, 6560, 4096},
                         Shape{4096, 7168, 1792, 1440, 896}, Shape{4096, 4096, 1024, 832, 512}}) {
    CHECK(waves_of(s.m, s.n, 128, 128, 132).ctas == s.t128);
    CHECK(waves_of(s.m, s.n, 128, 160, 132).ctas == s.t160);
    CHECK(waves_of(s.m, s.n, 256, 128, 132).ctas == s.t256);
  }
}

TEST_CASE("Waves F09: RTX 4090, small problems leave SMs idle") {
  const std::vector<std::pair<std::int64_t, std::int64_t>> expected{{128, 1},   {256, 4},    {512, 16},
                                                                    {1024, 64}, {2048, 256}, {4096, 1024}};
  for (const auto& [n, tiles] : expected) {
    CHECK(waves_of(n, n, 128, 128, 128).ctas == tiles);
  }
  CHECK(waves_of(1024, 1024, 128, 128, 128).working_sms == 64);
}

TEST_CASE("Waves H03: 4096x6144 with 128x128 tiles on 108 SMs") {
  CHECK(waves_of(4096, 6144, 128, 128, 108).ctas == 1536);
  CHECK(waves_of(4096, 6144, 128, 128, 108).waves == Approx(14.2).margin(0.05));
  CHECK(100 * waves_of(4096, 6144, 128, 128, 108).efficiency == Approx(94.8).margin(0.05));
}

TEST_CASE("Waves K09: M = 19,008 is padded to 19,200 by tiles of 256 rows") {
  CHECK(waves_of(19008, 3072, 256, 128, 132).padded_m == 19200);
  CHECK(19200 * 3072 == 58982400);
}

TEST_CASE("Raster E05: unique tile loads of the first 9 of 9x9 CTAs, 9 K-steps") {
  CHECK(unique_tile_loads({RasterKind::kAlongN, 1}, 9, 9, 0, 9).tile_loads(9) == 90);
  CHECK(unique_tile_loads({RasterKind::kGroup, 3}, 9, 9, 0, 9).tile_loads(9) == 54);
}

TEST_CASE("Raster E07: 16 CTAs in column groups of 4 map to (x = i >> 2, y = i & 3)") {
  for (std::int64_t rank = 0; rank < 16; ++rank) {
    CHECK(tile_of_rank({RasterKind::kGroup, 4}, rank, 4, 4) == TilePosition{rank & 3, rank >> 2});
  }
}

TEST_CASE("Raster: every order is a bijection, also with a last group that is not full") {
  for (const Raster& raster : {Raster{RasterKind::kAlongN, 1}, Raster{RasterKind::kAlongM, 1},
                               Raster{RasterKind::kGroup, 4}, Raster{RasterKind::kGroup, 100}}) {
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    for (std::int64_t rank = 0; rank < 7 * 5; ++rank) {
      const TilePosition tile = tile_of_rank(raster, rank, 7, 5);
      CHECK((tile.row >= 0 && tile.row < 7 && tile.column >= 0 && tile.column < 5));
      seen.emplace(tile.row, tile.column);
    }
    CHECK(seen.size() == 35);
  }
}

TEST_CASE("Traffic: groups of rows save DRAM reads, nothing is gained when A and B fit the L2 (E03)") {
  TileConfig config;
  const Problem large = problem_of(8192, 8192, 8192);
  const auto waves = count_waves(large, extents(config), 132, 1);
  REQUIRE(waves);
  const auto along = raster_traffic(large, config, *waves, 30 << 20);
  config.raster = {RasterKind::kGroup, 8};
  const auto grouped = raster_traffic(large, config, *waves, 30 << 20);
  REQUIRE((along && grouped));
  CHECK(grouped->dram_bytes < along->dram_bytes);
  CHECK(grouped->over_compulsory > 1.0);
  const Problem small = problem_of(1024, 1024, 1024);
  const auto few = count_waves(small, extents(config), 132, 1);
  REQUIRE(few);
  CHECK(raster_traffic(small, config, *few, 30 << 20)->over_compulsory == 1.0);
}

TEST_CASE("Waves: bad input is an Error with value and remedy") {
  for (const auto& [tile, sms] : {std::pair<TileExtents, std::int64_t>{{0, 128, 8}, 132},
                                  {{128, -1, 8}, 132},
                                  {{128, 128, 8}, 0},
                                  {{128, 128, 8}, 1 << 20}}) {
    const auto waves = count_waves(problem_of(4096, 4096, 4096), tile, sms, 1);
    REQUIRE_FALSE(waves);
    CHECK_FALSE(waves.error().message.empty());
    CHECK_FALSE(waves.error().remedy.empty());
  }
  const auto grid = count_waves(problem_of(1 << 30, 1 << 30, 1), {1, 1, 1}, 132, 1);
  REQUIRE_FALSE(grid);
  CHECK(grid.error().message.find("grid") != std::string::npos);
}

}  // namespace
}  // namespace tilesim::model
