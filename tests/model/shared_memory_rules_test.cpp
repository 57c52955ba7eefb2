// Bank conflicts: patterns measured on the H200, public cases (ids B..), and properties against a naive oracle.
#include "model/shared_memory_rules.h"

#include <rapidcheck.h>

#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace tilesim::model {
namespace {

using Lanes = std::array<std::uint32_t, 32>;
constexpr std::uint32_t kAll = 0xffffffffU;

Lanes lanes(const std::function<int(int)>& address) {
  Lanes result{};
  for (int i = 0; i < 32; ++i) result[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(address(i));
  return result;
}

int load(const Lanes& a, int bytes) { return shared_load_wavefronts(a, kAll, bytes).wavefronts; }
int store(const Lanes& a, int bytes) { return shared_store_wavefronts(a, kAll, bytes).wavefronts; }

// Wavefronts over phases = the "n-way" of a pattern.
int ways(const Wavefronts& w) { return w.wavefronts / w.phases; }

// The rule once more, with sets: most distinct words in a bank, over the lanes of a phase.
int naive_phase(const Lanes& a, std::uint32_t mask, int first, int count, int bytes) {
  std::map<std::uint32_t, std::set<std::uint32_t>> banks;
  std::size_t worst = 0;
  for (int i = first; i < first + count; ++i) {
    if ((mask >> i & 1U) == 0) continue;
    for (int word = 0; word < std::max(1, bytes / 4); ++word) {
      const std::uint32_t index = a[static_cast<std::size_t>(i)] / 4 + static_cast<std::uint32_t>(word);
      banks[index % 32].insert(index);
      worst = std::max(worst, banks[index % 32].size());
    }
  }
  return static_cast<int>(worst);
}

Wavefronts naive(const Lanes& a, std::uint32_t mask, int bytes, bool may_merge) {
  int count = bytes <= 4 ? 32 : 128 / bytes;
  const auto pairs = [&](int distance) {
    for (int i = 0; i < 32; ++i) {
      const int j = i ^ distance;
      const bool both = (mask >> i & 1U) != 0 && (mask >> j & 1U) != 0;
      if (both && a[static_cast<std::size_t>(i)] != a[static_cast<std::size_t>(j)]) return false;
    }
    return true;
  };
  if (may_merge && count < 32 && (pairs(1) || pairs(2))) count *= 2;
  Wavefronts total;
  total.all_phases = mask == 0 ? 0 : 32 / count;
  for (int first = 0; first < 32; first += count) {
    const int wavefronts = naive_phase(a, mask, first, count, bytes);
    total.wavefronts += wavefronts;
    total.phases += wavefronts > 0 ? 1 : 0;
  }
  return total;
}

struct Row {
  int bytes;
  std::string name;
  double load;
  double store;
  Lanes addresses;
};

std::vector<Row> recorded_patterns() {
  std::ifstream file(std::string(TILESIM_MODEL_TEST_DATA) + "/shared_memory_patterns.csv");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || line.starts_with("bytes")) continue;
    std::istringstream text(line);
    Row row{};
    std::string field;
    std::getline(text, field, ',');
    row.bytes = std::stoi(field);
    std::getline(text, row.name, ',');
    std::getline(text, field, ',');
    row.load = std::stod(field);
    std::getline(text, field, ',');
    row.store = std::stod(field);
    for (std::uint32_t& address : row.addresses) text >> address;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("H200 microbenchmarks: every measured LDS and STS pattern", "[model]") {
  const std::vector<Row> rows = recorded_patterns();
  REQUIRE(rows.size() == 426);
  int loads = 0;
  int stores = 0;
  for (const Row& row : rows) {
    INFO(row.name << ", " << row.bytes << " bytes per lane");
    // Cycles per instruction at one wavefront per cycle; the rate is good to 3 %.
    if (row.load >= 0) {
      CHECK(load(row.addresses, row.bytes) == std::lround(row.load));
      ++loads;
    }
    if (row.store >= 0) {
      CHECK(store(row.addresses, row.bytes) == std::lround(row.store));
      ++stores;
    }
  }
  CHECK(loads == 152 + 142 + 132);
  CHECK(stores == 128 + 118 + 108);
}

TEST_CASE("H200 microbenchmarks: GEMM shapes", "[model]") {
  const Lanes same = lanes([](int) { return 0; });
  const Lanes a_operand = lanes([](int i) { return i / 16 * 32; });
  const Lanes b_16 = lanes([](int i) { return i % 16 * 16; });
  const Lanes b_32 = lanes([](int i) { return i % 16 * 32; });
  CHECK(std::array{load(same, 4), load(same, 8), load(same, 16)} == std::array{1, 1, 2});
  CHECK(std::array{store(same, 4), store(same, 8), store(same, 16)} == std::array{1, 2, 4});
  CHECK(std::array{load(a_operand, 4), load(a_operand, 8), load(a_operand, 16)} == std::array{1, 1, 2});
  CHECK(std::array{store(a_operand, 4), store(a_operand, 8), store(a_operand, 16)} == std::array{1, 2, 4});
  CHECK(std::array{load(b_16, 4), load(b_16, 8), load(b_16, 16)} == std::array{2, 4, 4});
  CHECK(std::array{store(b_16, 4), store(b_16, 8), store(b_16, 16)} == std::array{2, 4, 4});
  CHECK(std::array{load(b_32, 4), load(b_32, 8), load(b_32, 16)} == std::array{4, 8, 8});
  CHECK(std::array{store(b_32, 4), store(b_32, 8), store(b_32, 16)} == std::array{4, 8, 8});
}

TEST_CASE("H200 microbenchmarks: strides", "[model]") {
  for (const int degree : {1, 2, 4, 8, 16, 32}) {
    for (const int bytes : {4, 8, 16}) {
      const Lanes a = lanes([&](int i) { return bytes * degree * i; });
      const int expected = std::min(32, degree * bytes / 4);
      CHECK(load(a, bytes) == expected);
      CHECK(store(a, bytes) == expected);
    }
  }
}

TEST_CASE("H200 microbenchmarks: LDSM and STSM layouts", "[model]") {
  // Row stride in bytes -> passes per matrix; the last layout is a bf16 A tile with rows of 40 elements.
  const std::array<std::pair<int, int>, 8> strides = {
      {{16, 1}, {32, 2}, {64, 4}, {80, 1}, {128, 8}, {144, 1}, {256, 8}, {0, 1}}};
  for (const int matrices : {1, 2, 4}) {
    for (const auto& [stride, degree] : strides) {
      const Wavefronts w = matrix_load_wavefronts(lanes([s = stride](int i) { return s * i; }), matrices);
      INFO("x" << matrices << " at stride " << stride);
      CHECK(w == Wavefronts{degree * matrices, matrices, matrices});
    }
    const Lanes tile = lanes([](int i) { return (i % 16 * 40 + i / 16 * 8) * 2; });
    CHECK(matrix_load_wavefronts(tile, matrices).conflicts() == 0);
  }
}

TEST_CASE("B01 column of an fp32 tile, with strides and swizzles", "[model]") {
  const auto column = [](int stride) { return load(lanes([=](int i) { return 4 * i * stride; }), 4); };
  CHECK(column(32) == 32);
  CHECK(column(64) == 32);
  CHECK(column(16) == 16);
  CHECK(column(33) == 1);
  const auto swizzled = [](int bits) {
    return load(lanes([=](int i) { return 4 * (32 * i ^ (i & ((1 << bits) - 1))); }), 4);
  };
  CHECK(swizzled(5) == 1);
  CHECK(swizzled(3) == 4);
  CHECK(swizzled(2) == 8);
}

TEST_CASE("B03 LDSM of a 16x16 half tile with 32-byte rows", "[model]") {
  const Wavefronts a = matrix_load_wavefronts(lanes([](int i) { return i % 16 * 32 + i / 16 * 16; }), 4);
  const Wavefronts b = matrix_load_wavefronts(lanes([](int i) { return i % 16 * 16; }), 2);
  CHECK(a == Wavefronts{8, 4, 4});
  CHECK(b == Wavefronts{2, 2, 2});
  const std::int64_t per_block = 64 * (a.conflicts() + b.conflicts());
  CHECK(per_block == 256);
  const std::int64_t total = 128 * 64 * per_block;
  CHECK(total == 2097152);
  CHECK(static_cast<double>(total) / 92 == Approx(22795.13).margin(0.005));
  const Lanes xored = lanes([](int i) { return i % 16 * 32 + (i / 16 ^ (i % 16 / 4 & 1)) * 16; });
  CHECK(matrix_load_wavefronts(xored, 4).conflicts() == 0);
}

TEST_CASE("B05 LDSM of an A tile by row pitch", "[model]") {
  const auto x4 = [](int pitch) {
    return matrix_load_wavefronts(lanes([=](int i) { return i % 16 * pitch + i / 16 * 16; }), 4).wavefronts;
  };
  CHECK(x4(128) == 32);
  CHECK(x4(144) == 4);
  CHECK(x4(64) == 16);
  CHECK(x4(32) == 8);
  const Lanes xored = lanes([](int i) { return i % 16 * 128 + (i / 16 ^ i % 8) * 16; });
  CHECK(matrix_load_wavefronts(xored, 4).wavefronts == 4);
}

TEST_CASE("B07 transposed store of an A tile with BK=16", "[model]") {
  for (int element = 0; element < 4; ++element) {
    const auto transposed = [&](int pitch) {
      return store(lanes([=](int i) { return 4 * ((i % 4 * 4 + element) * pitch + i / 4); }), 4);
    };
    CHECK(transposed(128) == 4);
    CHECK(transposed(130) == 1);
  }
}

TEST_CASE("B09 STS.128 of rows of pitch 132 and 128 floats", "[model]") {
  const auto rows = [](int pitch) {
    return shared_store_wavefronts(lanes([=](int i) { return 4 * (i % 8 * pitch + i / 8 * 4); }), kAll, 16);
  };
  CHECK(rows(132) == Wavefronts{4, 4, 4});
  CHECK(rows(128) == Wavefronts{32, 4, 4});
  CHECK(ways(rows(128)) == 8);
}

TEST_CASE("B11 contiguous 16 bytes per lane are conflict-free", "[model]") {
  const Lanes a = lanes([](int i) { return 16 * i; });
  CHECK(shared_load_wavefronts(a, kAll, 16) == Wavefronts{4, 4, 4});
  CHECK(shared_store_wavefronts(a, kAll, 16) == Wavefronts{4, 4, 4});
}

TEST_CASE("B13 column of a [32][32] and a [32][33] float tile", "[model]") {
  const auto column = [](int width) { return load(lanes([=](int i) { return 4 * (i * width + 5); }), 4); };
  CHECK(column(32) == 32);
  CHECK(column(33) == 1);
}

TEST_CASE("B15 M-major half atom under Swizzle<3,3,4> is conflict-free", "[model]") {
  // Element m + 128*k; bits 7-9 are XORed into bits 3-5. Lane 8*j+k of ldmatrix.x4.trans reads 8 halves at row k.
  const Lanes a = lanes([](int i) {
    const int element = i / 8 * 8 + 128 * (i % 8);
    return 2 * (element ^ ((element >> 7 & 7) << 3));
  });
  CHECK(matrix_load_wavefronts(a, 4) == Wavefronts{4, 4, 4});
}

namespace {

// An access with a mask as an H200 did it: counters per instruction (Nsight Compute), and cycles of the data pipe with
// 16 warps repeating it.
struct Masked {
  const char* name;
  int bytes;
  std::uint32_t mask;
  int load_wavefronts, load_conflicts, load_cycles;
  int store_wavefronts, store_conflicts, store_cycles;
  int (*address)(int);
};

const Masked kMasked[] = {
    {"contiguous", 16, kAll, 4, 0, 4, 4, 0, 4, [](int i) { return 16 * i; }},
    {"pairs", 16, kAll, 2, 0, 2, 4, 0, 4, [](int i) { return i / 2 * 16; }},
    {"pairs in half 0 only", 16, kAll, 4, 0, 4, 4, 0, 4, [](int i) { return i < 16 ? i / 2 * 16 : 16 * i; }},
    {"pairs in half 1 only", 16, kAll, 4, 0, 4, 4, 0, 4, [](int i) { return i < 16 ? 16 * i : i / 2 * 16; }},
    {"lane^1 in half 0, lane^2 in half 1", 16, kAll, 4, 0, 4, 4, 0, 4,
     [](int i) { return i < 16 ? i / 2 * 16 : 16 * ((i & 1) + i / 4 * 2); }},
    {"one address in half 0", 16, kAll, 4, 0, 4, 4, 0, 4, [](int i) { return i < 16 ? 0 : 16 * i; }},
    {"even lanes, others elsewhere", 16, 0x55555555U, 2, 0, 2, 4, 0, 4,
     [](int i) { return i % 2 != 0 ? 4096 + 16 * i : i / 2 * 16; }},
    {"odd lanes", 16, 0xaaaaaaaaU, 2, 0, 2, 4, 0, 4, [](int i) { return i / 2 * 16; }},
    {"pairs, lane 1 off and elsewhere", 16, ~2U, 2, 0, 2, 4, 0, 4, [](int i) { return i == 1 ? 8192 : i / 2 * 16; }},
    {"lanes 0-15", 16, 0xffffU, 2, 0, 4, 2, 0, 4, [](int i) { return 16 * i; }},
    {"lanes 0-15 in pairs", 16, 0xffffU, 1, 0, 2, 2, 0, 4, [](int i) { return i < 16 ? i / 2 * 16 : 16 * i; }},
    {"lanes 0-7", 16, 0xffU, 1, 0, 4, 1, 0, 4, [](int i) { return 16 * i; }},
    {"quarters 0 and 2", 16, 0x00ff00ffU, 2, 0, 4, 2, 0, 4, [](int i) { return 16 * i; }},
    {"lane 0", 16, 1U, 1, 0, 2, 1, 0, 4, [](int i) { return 16 * i; }},
    {"a lane per quarter, one address", 16, 0x01010101U, 2, 0, 2, 4, 0, 4, [](int) { return 0; }},
    {"lanes 0-7, 2-way", 16, 0xffU, 2, 1, 4, 2, 1, 4, [](int i) { return 32 * i; }},
    {"lanes 0-15, 8-way", 16, 0xffffU, 16, 14, 16, 16, 14, 16, [](int i) { return 128 * i; }},
    {"lanes 24-31", 16, 0xff000000U, 1, 0, 4, 1, 0, 4, [](int i) { return 16 * i; }},
    {"contiguous", 8, kAll, 2, 0, 2, 2, 0, 2, [](int i) { return 8 * i; }},
    {"pairs", 8, kAll, 1, 0, 1, 2, 0, 2, [](int i) { return i / 2 * 8; }},
    {"lane^1 in half 0, lane^2 in half 1", 8, kAll, 2, 0, 2, 2, 0, 2,
     [](int i) { return i < 16 ? i / 2 * 8 : 8 * ((i & 1) + i / 4 * 2); }},
    {"even lanes, others elsewhere", 8, 0x55555555U, 1, 0, 1, 2, 0, 2,
     [](int i) { return i % 2 != 0 ? 4096 + 8 * i : i / 2 * 8; }},
    {"pairs, lane 1 off and elsewhere", 8, ~2U, 1, 0, 1, 2, 0, 2, [](int i) { return i == 1 ? 8192 : i / 2 * 8; }},
    {"lanes 0-15", 8, 0xffffU, 1, 0, 2, 1, 0, 2, [](int i) { return 8 * i; }},
    {"lanes 0 and 16, one address", 8, 0x00010001U, 1, 0, 1, 2, 0, 2, [](int) { return 0; }},
    {"lanes 0-15, 2-way", 8, 0xffffU, 2, 1, 2, 2, 1, 2, [](int i) { return 16 * i; }},
    {"lanes 16-31", 8, 0xffff0000U, 1, 0, 2, 1, 0, 2, [](int i) { return 8 * i; }},
    {"lane 0", 8, 1U, 1, 0, 1, 1, 0, 2, [](int i) { return 8 * i; }},
    {"lanes 0-7", 4, 0xffU, 1, 0, 1, 1, 0, 1, [](int i) { return 4 * i; }},
};

}  // namespace

TEST_CASE("H200 probe: masks and pairs, wavefronts, conflicts and pipe cycles", "[model]") {
  for (const Masked& m : kMasked) {
    INFO(m.name << ", " << m.bytes << " bytes per lane");
    const Wavefronts loaded = shared_load_wavefronts(lanes(m.address), m.mask, m.bytes);
    CHECK(loaded.wavefronts == m.load_wavefronts);
    CHECK(loaded.conflicts() == m.load_conflicts);
    CHECK(loaded.pipe_cycles() == m.load_cycles);
    const Wavefronts stored = shared_store_wavefronts(lanes(m.address), m.mask, m.bytes);
    CHECK(stored.wavefronts == m.store_wavefronts);
    CHECK(stored.conflicts() == m.store_conflicts);
    CHECK(stored.pipe_cycles() == m.store_cycles);
  }
}

TEST_CASE("LDGSTS: lanes in conflict go together, whatever phase they are of", "[model]") {
  const auto copies = [](std::uint32_t pitch_of_4_lanes, int bytes) {
    std::array<std::uint32_t, 32> addresses{};
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      addresses[lane] = lane / 4 * pitch_of_4_lanes + lane % 4 * static_cast<std::uint32_t>(bytes);
    }
    return copy_wavefronts(addresses, ~0U, bytes);
  };
  CHECK(copies(64, 16).count == 4);  // dense
  // Rows of 64 bytes 80 bytes apart: l1tex__t_output_wavefronts of the hgemm calibration kernels is 5 per LDGSTS.
  const CopyWavefronts padded = copies(80, 16);
  CHECK(padded.count == 5);
  CHECK(padded.phases == 4);
  std::uint32_t seen = 0;
  for (int i = 0; i < padded.count; ++i) {
    CHECK((seen & padded.lanes[static_cast<std::size_t>(i)]) == 0);
    seen |= padded.lanes[static_cast<std::size_t>(i)];
  }
  CHECK(seen == ~0U);
  CHECK(std::popcount(padded.lanes[4]) == 4);  // one of each phase
  CHECK(copies(512, 16).count == 8);           // the rows of a phase share their banks

  std::array<std::uint32_t, 32> column{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    column[lane] = lane * 128;
  }
  CHECK(copy_wavefronts(column, ~0U, 16).count == 32);
  CHECK(copy_wavefronts(column, 0, 16).count == 0);
}

TEST_CASE("LDGSTS of words: a line begins per wavefront, four at a time where they are waited for", "[model]") {
  // traces/calibration/h200/copy_words.csv: lanes of a line side by side, those that share a bank neighbours (near) or
  // 32 / degree apart; wavefronts where the data are in the L1.
  struct Row {
    int bytes, lines, degree;
    bool near;
    int together;
  };
  const auto cost = [](const Row& row, std::uint32_t mask) {
    std::array<std::uint32_t, 32> addresses{};
    std::array<std::uint64_t, 32> lines{};
    for (int lane = 0; lane < 32; ++lane) {
      const int apart = 32 / row.degree;
      const int bank = row.near ? lane / row.degree : lane % apart;
      const int turn = row.near ? lane % row.degree : lane / apart;
      addresses[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(bank * row.bytes + turn * 128);
      lines[static_cast<std::size_t>(lane)] = static_cast<std::uint64_t>(lane / (32 / row.lines));
    }
    return word_copy_wavefronts(addresses, lines, mask, row.bytes);
  };
  for (const Row& row :
       {Row{4, 1, 1, true, 1}, {4, 1, 4, true, 4},   {4, 1, 32, true, 32}, {4, 2, 1, true, 2},    {4, 2, 2, true, 3},
        {4, 2, 2, false, 2},   {4, 2, 8, true, 9},   {4, 2, 16, true, 17}, {4, 4, 2, true, 5},    {4, 4, 4, true, 7},
        {4, 4, 4, false, 4},   {4, 4, 8, true, 11},  {4, 4, 8, false, 8},  {4, 4, 16, true, 25},  {4, 8, 1, true, 8},
        {4, 8, 2, true, 9},    {4, 8, 4, true, 11},  {4, 8, 8, true, 23},  {4, 8, 16, true, 29},  {4, 8, 16, false, 16},
        {4, 16, 2, true, 17},  {4, 16, 4, true, 25}, {4, 16, 8, true, 29}, {4, 16, 8, false, 16}, {4, 16, 16, true, 31},
        {4, 32, 1, true, 32},  {4, 32, 8, true, 32}, {8, 1, 4, true, 8},   {8, 1, 4, false, 4},   {8, 2, 2, true, 4},
        {8, 4, 2, true, 6},    {8, 4, 4, true, 10},  {8, 4, 8, true, 18},  {8, 8, 2, true, 10},   {8, 8, 4, true, 14},
        {8, 8, 8, true, 26},   {8, 16, 2, true, 18}, {8, 16, 8, true, 30}, {8, 16, 8, false, 16}}) {
    CAPTURE(row.bytes, row.lines, row.degree, row.near);
    CHECK(cost(row, ~0U).together.wavefronts == row.together);
  }
  // Four lanes of a line 16 bytes apart, four copies for the words of their sectors: three of four wait for the first.
  CHECK(cost({4, 8, 1, true, 0}, ~0U).by_fours.wavefronts == 8);
  CHECK(cost({4, 8, 2, true, 0}, ~0U).by_fours.wavefronts == 10);
  CHECK(cost({4, 8, 4, true, 0}, ~0U).by_fours.wavefronts == 14);
  CHECK(cost({4, 8, 8, true, 0}, ~0U).by_fours.wavefronts == 26);
  CHECK(cost({4, 16, 2, true, 0}, ~0U).by_fours.wavefronts == 20);
  CHECK(cost({4, 16, 4, true, 0}, ~0U).by_fours.wavefronts == 28);
  CHECK(cost({4, 16, 8, true, 0}, ~0U).by_fours.wavefronts == 32);
  CHECK(cost({4, 8, 4, true, 0}, ~0U).together.conflicts() == 10);   // measured 10.1
  CHECK(cost({4, 8, 4, true, 0}, ~0U).by_fours.conflicts() == 12);   // measured 12.0
  CHECK(cost({4, 16, 4, true, 0}, ~0U).by_fours.conflicts() == 24);  // measured 23.9
  CHECK(cost({8, 8, 4, true, 0}, ~0U).together.conflicts() == 12);   // measured 12.0
  CHECK(cost({4, 8, 4, true, 0}, 0xffU).together.wavefronts == 5);   // two lines
  CHECK(cost({4, 8, 4, true, 0}, 0).together.wavefronts == 0);
}

TEST_CASE("An instruction without an active lane costs nothing", "[model]") {
  const Lanes conflict = lanes([](int i) { return 128 * i; });
  CHECK(shared_load_wavefronts(conflict, 0, 4) == Wavefronts{0, 0, 0});
  CHECK(shared_load_wavefronts(conflict, 0, 16).pipe_cycles() == 0);
  CHECK(shared_store_wavefronts(conflict, 0, 16) == Wavefronts{0, 0, 0});
  CHECK(shared_load_wavefronts(conflict, 1U << 31U, 4) == Wavefronts{1, 1, 1});
}

TEST_CASE("Narrow accesses count as 32-bit ones", "[model]") {
  const Lanes bytes = lanes([](int i) { return i; });
  const Lanes halves = lanes([](int i) { return 128 * i + 2; });
  CHECK(load(bytes, 1) == 1);
  CHECK(store(bytes, 1) == 1);
  CHECK(load(halves, 2) == 32);
}

TEST_CASE("Wavefronts equal those of a naive count with sets", "[model][property]") {
  REQUIRE(rc::check("fast and naive count agree", [] {
    const int bytes = *rc::gen::element(4, 8, 16);
    const int distinct = *rc::gen::element(2, 8, 64, 1024);
    const auto units = *rc::gen::container<std::vector<int>>(32, rc::gen::inRange(0, distinct));
    const int share = *rc::gen::element(0, 1, 2);  // lanes i and i^share read the same address
    const auto mask = *rc::gen::arbitrary<std::uint32_t>();
    const Lanes a = lanes([&](int i) { return bytes * units[static_cast<std::size_t>(i & ~share)]; });
    RC_ASSERT(shared_load_wavefronts(a, mask, bytes) == naive(a, mask, bytes, true));
    RC_ASSERT(shared_store_wavefronts(a, mask, bytes) == naive(a, mask, bytes, false));
  }));
}

TEST_CASE("Wavefronts do not change when lanes of a phase swap places, and stay in bounds", "[model][property]") {
  REQUIRE(rc::check("store wavefronts are invariant and bounded", [] {
    const int bytes = *rc::gen::element(4, 8, 16);
    const int phase = 128 / bytes;
    auto units = *rc::gen::container<std::vector<int>>(32, rc::gen::inRange(0, 512));
    const auto before =
        shared_store_wavefronts(lanes([&](int i) { return bytes * units[static_cast<std::size_t>(i)]; }), kAll, bytes);
    const int first = *rc::gen::inRange(0, 32 / phase) * phase;
    const int i = first + *rc::gen::inRange(0, phase);
    const int j = first + *rc::gen::inRange(0, phase);
    std::swap(units[static_cast<std::size_t>(i)], units[static_cast<std::size_t>(j)]);
    const Lanes after = lanes([&](int lane) { return bytes * units[static_cast<std::size_t>(lane)]; });
    RC_ASSERT(shared_store_wavefronts(after, kAll, bytes) == before);
    RC_ASSERT(before.wavefronts >= before.phases);
    RC_ASSERT(before.wavefronts <= 32);
    RC_ASSERT(shared_load_wavefronts(after, kAll, bytes).wavefronts <= before.wavefronts);
  }));
}

}  // namespace tilesim::model
