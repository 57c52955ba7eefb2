// Lines and sectors of global accesses: public cases (ids C..), edge cases, and an oracle with sets.
#include "model/global_access_rules.h"

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <vector>

#include "tests/support/catch.h"

namespace tilesim::model {
namespace {

using Lanes = std::array<std::uint64_t, 32>;
constexpr std::uint32_t kAll = 0xffffffffU;

Lanes lanes(const std::function<std::int64_t(int)>& address) {
  Lanes result{};
  for (int i = 0; i < 32; ++i) result[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(address(i));
  return result;
}

GlobalFootprint footprint(const Lanes& a, int bytes, std::uint32_t mask = kAll) {
  GlobalFootprint out;
  global_footprint(a, mask, bytes, out);
  return out;
}

}  // namespace

TEST_CASE("C01 sectors per request of a naive matrix product", "[model]") {
  // Threads 32 x 16: a warp is one row. a[row*N+k] is one address, b[k*N+col] is 32 consecutive ints.
  const int by_row = footprint(lanes([](int) { return 4 * 1000; }), 4).sector_count;
  const int by_column = footprint(lanes([](int i) { return 4 * (7 * 1024 + i); }), 4).sector_count;
  CHECK(by_row == 1);
  CHECK(by_column == 4);
  CHECK((by_row + by_column) / 2.0 == 2.5);
}

TEST_CASE("C03 twelve bytes per lane as three 4-byte loads", "[model]") {
  std::set<std::pair<std::uint64_t, int>> unique;
  int requests = 0;
  for (const int offset : {0, 4, 8}) {
    const GlobalFootprint f = footprint(lanes([=](int i) { return 12 * i + offset; }), 4);
    CHECK(f.sector_count == 12);
    CHECK(f.line_count == 3);
    requests += f.sector_count;
    for (int line = 0; line < f.line_count; ++line) {
      const LineAccess& access = f.lines[static_cast<std::size_t>(line)];
      for (int sector = 0; sector < 4; ++sector) {
        if ((access.sector_mask >> sector & 1U) != 0) unique.emplace(access.line, sector);
      }
    }
  }
  CHECK(requests == 36);
  CHECK(unique.size() == 12);  // 384 bytes
}

TEST_CASE("C09 A tile loads from a row-major matrix with a pitch of 4096 floats", "[model]") {
  const auto tile = [](int bk, int width) {
    const int lanes_per_row = bk / width;
    return footprint(lanes([=](int i) { return 4LL * (i / lanes_per_row * 4096LL + i % lanes_per_row * width); }),
                     4 * width);
  };
  const GlobalFootprint scalar = tile(8, 1);
  CHECK(scalar.sector_count == 4);
  CHECK(scalar.line_count == 4);
  const GlobalFootprint vector = tile(8, 4);
  CHECK(vector.sector_count == 16);
  CHECK(vector.line_count == 16);
  const GlobalFootprint deeper = tile(16, 4);
  CHECK(deeper.sector_count == 16);
  CHECK(deeper.line_count == 8);
  // All bytes of all touched sectors are used.
  CHECK(32 * scalar.sector_count == 32 * 4);
  CHECK(32 * vector.sector_count == 32 * 16);
  CHECK(32 * deeper.sector_count == 32 * 16);
}

TEST_CASE("Coalesced accesses of each width", "[model]") {
  for (const int bytes : {4, 8, 16}) {
    const GlobalFootprint f = footprint(lanes([=](int i) { return bytes * i; }), bytes);
    CHECK(f.line_count == bytes / 4);
    CHECK(f.sector_count == bytes);
  }
}

TEST_CASE("Lines come in order of first touch by lane", "[model]") {
  const GlobalFootprint f = footprint(lanes([](int i) { return i % 2 == 0 ? 5 * 128 : 2 * 128 + 32; }), 4);
  REQUIRE(f.line_count == 2);
  CHECK(f.lines[0].line == 5);
  CHECK(f.lines[0].sector_mask == 1U);
  CHECK(f.lines[1].line == 2);
  CHECK(f.lines[1].sector_mask == 2U);
}

TEST_CASE("Masks, unaligned accesses and the ends of the address space", "[model]") {
  const Lanes spread = lanes([](int i) { return 256LL * i + 120; });
  CHECK(footprint(spread, 4, 0).line_count == 0);
  CHECK(footprint(spread, 4, 0).sector_count == 0);
  CHECK(footprint(spread, 4, 0x80000001U).line_count == 2);
  const GlobalFootprint across = footprint(spread, 16);
  CHECK(across.line_count == 64);
  CHECK(across.sector_count == 64);
  const GlobalFootprint top = footprint(lanes([](int) { return -16; }), 16);
  CHECK(top.line_count == 1);
  CHECK(top.lines[0].sector_mask == 8U);
}

TEST_CASE("A footprint equals a set of sectors", "[model][property]") {
  REQUIRE(rc::check("lines, sectors and order agree with a naive count", [] {
    const int bytes = *rc::gen::element(1, 2, 4, 8, 16);
    const int range = *rc::gen::element(64, 1024, 1 << 20);
    const auto offsets = *rc::gen::container<std::vector<int>>(32, rc::gen::inRange(0, range));
    const auto mask = *rc::gen::arbitrary<std::uint32_t>();
    const Lanes a = lanes([&](int i) { return offsets[static_cast<std::size_t>(i)]; });
    std::vector<std::uint64_t> order;
    std::set<std::uint64_t> sectors;
    for (int i = 0; i < 32; ++i) {
      if ((mask >> i & 1U) == 0) continue;
      for (int byte = 0; byte < bytes; ++byte) {
        const std::uint64_t address = a[static_cast<std::size_t>(i)] + static_cast<std::uint64_t>(byte);
        sectors.insert(address / 32);
        if (std::find(order.begin(), order.end(), address / 128) == order.end()) order.push_back(address / 128);
      }
    }
    const GlobalFootprint f = footprint(a, bytes, mask);
    RC_ASSERT(f.sector_count == static_cast<int>(sectors.size()));
    RC_ASSERT(f.line_count == static_cast<int>(order.size()));
    for (std::size_t line = 0; line < order.size(); ++line) {
      RC_ASSERT(f.lines[line].line == order[line]);
      for (unsigned sector = 0; sector < 4; ++sector) {
        RC_ASSERT((f.lines[line].sector_mask >> sector & 1U) == sectors.count(4 * order[line] + sector));
      }
    }
  }));
}

}  // namespace tilesim::model

TEST_CASE("LDGSTS.BYPASS: requests and sectors by the form of the copy") {
  struct Form {
    int row_lanes, pitch, swizzle_rows, swizzle_mask;
    int requests, sectors;
  };
  // Sectors: Nsight Compute on an H200. Requests: by the rule; measured cycles per copy are 1.02 to 1.20 of them.
  const Form forms[] = {{32, 512, 1, 0, 4, 16},  // one row
                        {8, 128, 1, 0, 4, 16},   // four rows of 128 bytes
                        {8, 128, 1, 7, 4, 16},   // the same, swizzled
                        {8, 144, 1, 0, 10, 24},  // every other row 16 bytes off
                        {8, 160, 1, 0, 7, 16},   // rows across two rows of shared memory
                        {4, 64, 1, 0, 8, 16},   {4, 64, 2, 3, 8, 16},  {4, 80, 1, 0, 15, 24}, {4, 96, 1, 0, 10, 16},
                        {4, 144, 1, 0, 15, 24}, {2, 32, 1, 0, 16, 16}, {2, 48, 1, 0, 24, 24}};
  for (const Form& form : forms) {
    std::array<std::uint64_t, 32> global{};
    std::array<std::uint32_t, 32> shared{};
    for (int lane = 0; lane < 32; ++lane) {
      const int row = lane / form.row_lanes;
      const int chunk = lane % form.row_lanes;
      global[static_cast<std::size_t>(lane)] = static_cast<std::uint64_t>(1024 * 1024 + row * 2048 + chunk * 16);
      shared[static_cast<std::size_t>(lane)] =
          static_cast<std::uint32_t>(row * form.pitch + (chunk ^ (row / form.swizzle_rows & form.swizzle_mask)) * 16);
    }
    tilesim::model::GlobalFootprint out;
    tilesim::model::bypass_requests(global, shared, ~0U, out);
    CAPTURE(form.row_lanes, form.pitch, form.swizzle_mask);
    CHECK(out.line_count == form.requests);
    CHECK(out.sector_count == form.sectors);
    tilesim::model::bypass_requests(global, shared, 0, out);
    CHECK(out.line_count == 0);
  }
}
