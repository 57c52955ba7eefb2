#include "model/legality.h"

#include <rapidcheck.h>

#include <algorithm>
#include <limits>

#include "model/occupancy.h"
#include "model/register_plan.h"
#include "tests/model/tile_fixtures.h"

namespace tilesim::model {
namespace {

const Problem kSquare = problem_of(4096, 4096, 4096);

Legality check(const TileConfig& config, const Problem& problem, const GpuSpec& gpu) {
  auto legality = check_legality(config, problem, gpu);
  REQUIRE(legality);
  return *std::move(legality);
}

// Every illegal finding says what and what to do; a legal neighbour is offered.
void check_refused(const TileConfig& config, const Problem& problem, const GpuSpec& gpu, const std::string& rule) {
  const Legality legality = check(config, problem, gpu);
  CHECK_FALSE(legality.legal());
  CHECK(std::any_of(legality.findings.begin(), legality.findings.end(),
                    [&](const Finding& finding) { return finding.rule == rule; }));
  for (const Finding& finding : legality.findings) {
    CHECK_FALSE(finding.message.empty());
    CHECK_FALSE(finding.remedy.empty());
  }
  REQUIRE(legality.nearest);
  CHECK(check(*legality.nearest, problem, gpu).legal());
}

TEST_CASE("Legality: the worked example's tile is legal and its own nearest choice") {
  const Legality legality = check(TileConfig{}, kSquare, shipped_gpu("article-card"));
  CHECK(legality.legal());
  CHECK(legality.findings.empty());
  CHECK(legality.nearest == TileConfig{});
}

TEST_CASE("Legality: warp tiles of SIMT kernels hold 32 thread tiles and divide the CTA's tile") {
  const GpuSpec gpu = shipped_gpu("h200");
  TileConfig config;
  config.wm = 32;
  config.wn = 64;
  CHECK(check(config, kSquare, gpu).legal());
  config.wn = 32;
  const Legality legality = check(config, kSquare, gpu);
  REQUIRE(legality.findings.size() == 1);
  CHECK(legality.findings[0].message == "A warp tile of 32x32 holds 16 thread tiles of 8x8; a warp has 32 lanes.");
  check_refused(config, kSquare, gpu, "shape");
  CHECK(legality.nearest->bm == 128);
  CHECK(legality.nearest->tm == 8);
  config.wm = 256;
  config.wn = 8;
  check_refused(config, kSquare, gpu, "shape");  // BM is no multiple
  config.wm = 0;
  check_refused(config, kSquare, gpu, "range");
}

TEST_CASE("Legality: direct loads have no buffers, vectors, padding or swizzle") {
  const GpuSpec gpu = shipped_gpu("h200");
  TileConfig config;
  config.bm = config.bn = 32;
  config.tm = config.tn = 1;
  config.vec = 1;
  config.copy = CopyPath::kDirect;
  CHECK(check(config, problem_of(4095, 4097, 257), gpu).legal());
  struct Wrong {
    std::int64_t TileConfig::*field;
    std::int64_t value;
    const char* rule;
    const char* what;
  };
  for (const Wrong& wrong :
       {Wrong{&TileConfig::stages, 2, "stages", "no buffers"}, Wrong{&TileConfig::vec, 4, "copy", "element by element"},
        Wrong{&TileConfig::pad_b, 4, "padding", "--pad-b 4"}, Wrong{&TileConfig::swizzle, 2, "swizzle", "2 bits"}}) {
    TileConfig other = config;
    other.*wrong.field = wrong.value;
    check_refused(other, kSquare, gpu, wrong.rule);
    CHECK(check(other, kSquare, gpu).findings[0].message.find(wrong.what) != std::string::npos);
  }
  TileConfig unrolled = config;
  unrolled.bk = 256;
  CHECK(check(unrolled, kSquare, gpu).legal());
  unrolled.bk = 257;
  check_refused(unrolled, kSquare, gpu, "unroll");
  unrolled.bm = unrolled.bn = 128;
  unrolled.tm = unrolled.tn = 8;
  unrolled.bk = 102;  // of 64 products and 16 loads: 8,160
  CHECK(check(unrolled, kSquare, gpu).legal());
  unrolled.bk = 103;
  check_refused(unrolled, kSquare, gpu, "unroll");
  TileConfig tensor = mma_tile(128, 128, 32, 64, 32, 1);
  tensor.copy = CopyPath::kDirect;
  check_refused(tensor, problem_of(4096, 4096, 4096, DataType::kF16), gpu, "copy");
}

TEST_CASE("Legality A13: fp16 128x256x64 needs 196,608 B with 4 stages; A100 takes 3, H100 takes 4") {
  const Problem problem = problem_of(4096, 4096, 4096, DataType::kF16);
  TileConfig config = mma_tile(128, 256, 64, 64, 128, 4);
  CHECK(threads_per_cta(config) == 128);
  const Legality a100 = check(config, problem, gpu_of(8, 0));
  CHECK(a100.shared.needed == 196608);
  CHECK(a100.shared.available == 166912);
  CHECK(a100.shared.largest_stages == 3);
  check_refused(config, problem, gpu_of(8, 0), "shared-memory");
  REQUIRE(a100.nearest);
  CHECK(a100.nearest->stages == 3);
  CHECK(a100.nearest->bm == 128);
  CHECK(check(config, problem, gpu_of(9, 0)).shared.available == 232448);
  CHECK(check(config, problem, gpu_of(9, 0)).legal());
  config.stages = 3;
  CHECK(shared_bytes(config) == 147456);
  CHECK(check(config, problem, gpu_of(8, 0)).legal());
}

TEST_CASE("Legality A15: 102,400 B is 1,024 too many on compute capability 12.0 and 12.1") {
  TileConfig config;
  config.bk = 100;  // (128 + 128) * 100 * 4 B
  for (const int minor : {0, 1}) {
    const Legality legality = check(config, kSquare, gpu_of(12, minor));
    CHECK(legality.shared.needed == 102400);
    CHECK(legality.shared.available == 101376);
    CHECK(std::any_of(legality.findings.begin(), legality.findings.end(), [](const Finding& finding) {
      return finding.rule == "shared-memory" && finding.message.find(": 1024 bytes too many") != std::string::npos;
    }));
  }
}

TEST_CASE("Legality A17: 128x128x32 with warp tiles of 32x32 is 512 threads of at most 128 registers") {
  const TileConfig small = mma_tile(128, 128, 32, 32, 32, 2);
  CHECK(threads_per_cta(small) == 512);
  CHECK(register_limit(small) == 128);
  CHECK(threads_per_cta(mma_tile(128, 128, 32, 64, 32, 2)) == 256);
}

TEST_CASE("Legality A19, I05: 256x208 on two consumer warpgroups spills at 232 registers, not at 240") {
  const WarpgroupBudget tight = warpgroup_budget(256, 208, 2, 40, 232);
  CHECK(tight.accumulators == 208);
  CHECK(tight.total == 64512);
  CHECK(tight.launches);
  CHECK_FALSE(tight.enough);
  const WarpgroupBudget roomy = warpgroup_budget(256, 208, 2, 24, 240);
  CHECK(roomy.total == 64512);
  CHECK(roomy.enough);
  CHECK(roomy.most == 240);
  CHECK(roomy.demand == 240);
  CHECK(warpgroup_budget(128, 208, 1, 24, 240).accumulators == 208);
}

TEST_CASE("Legality I03: 192x192 on one warpgroup does not fit registers, on three it does") {
  CHECK(warpgroup_budget(192, 192, 1, 24, 240).accumulators == 288);
  CHECK_FALSE(warpgroup_budget(192, 192, 1, 24, 255).enough);
  CHECK(warpgroup_budget(192, 192, 3, 24, 160).accumulators == 96);
  const TileConfig config = mma_tile(192, 192, 32, 96, 96, 2);  // the same as 4 warps
  CHECK(accumulators_per_thread(config) == 288);
  const Legality legality = check(config, problem_of(4096, 4096, 4096, DataType::kF16), gpu_of(9, 0));
  REQUIRE(legality.findings.size() == 1);
  CHECK(legality.findings[0].severity == Severity::kWarning);
  CHECK(legality.findings[0].rule == "registers");
  CHECK(spill_of(config).spills());
}

TEST_CASE("Legality A23: fp32 128x128x128 does not fit an RTX 3090, 64x64x128 does") {
  TileConfig config;
  config.bk = 128;
  const Legality legality = check(config, kSquare, gpu_of(8, 6, 82));
  CHECK(legality.shared.needed == 131072);
  CHECK(legality.shared.available == 101376);
  check_refused(config, kSquare, gpu_of(8, 6, 82), "shared-memory");
  config.bm = config.bn = 64;
  CHECK(shared_bytes(config) == 65536);
  CHECK(check(config, kSquare, gpu_of(8, 6, 82)).legal());
}

// CTAs per SM with this much shared memory and few registers.
Occupancy shared_occupancy(int major, int minor, std::int64_t shared_bytes) {
  const auto cc = find_compute_capability(major, minor);
  REQUIRE(cc);
  OccupancyInput input;
  input.threads = 128;
  input.registers = 32;
  input.shared_bytes = shared_bytes;
  const auto result = occupancy(*cc, input);
  REQUIRE(result);
  return *result;
}

TEST_CASE("Legality A13, A21, A23: one CTA per SM, limited by shared memory") {
  for (const Occupancy& result : {shared_occupancy(8, 0, 147456), shared_occupancy(12, 0, 81920),
                                  shared_occupancy(12, 0, 88064), shared_occupancy(8, 6, 65536)}) {
    CHECK(result.ctas == 1);
    CHECK(result.limiters == std::vector<std::string>{"shared memory"});
  }
}

TEST_CASE("Legality I01: 1,024 threads leave 64 registers, 32 threads leave 255") {
  CHECK(register_share(1024, 1) == 64);
  CHECK(register_share(32, 1) == 255);
  // 64 warps share the file of four parts: 4,096 registers of 32 lanes each, 16 warps: 32 registers a thread.
  CHECK(register_share(256, 8) == 32);
  CHECK(register_share(256, 3) == 80);
}

TEST_CASE("Devices L09: 8 tensor cores per SM on 7.0 and 7.5, 4 from 8.0 on") {
  for (const auto& [major, minor] : {std::pair{7, 0}, std::pair{7, 5}}) {
    CHECK(find_compute_capability(major, minor)->tensor_cores_per_sm == 8);
  }
  for (const auto& [major, minor] : {std::pair{8, 0}, std::pair{8, 6}, std::pair{8, 9}, std::pair{9, 0}}) {
    CHECK(find_compute_capability(major, minor)->tensor_cores_per_sm == 4);
  }
}

TEST_CASE("Devices L11: Hopper holds 64 warps, so 64 registers are 50 percent; 8.6, 8.9 and 12.0 hold 48") {
  const auto hopper = find_compute_capability(9, 0);
  REQUIRE(hopper);
  CHECK(hopper->warps_per_sm == 64);
  OccupancyInput input;
  input.threads = 256;
  input.registers = 64;
  CHECK(occupancy(*hopper, input)->fraction == 0.5);
  for (const auto& [major, minor] : {std::pair{8, 6}, std::pair{8, 9}, std::pair{12, 0}}) {
    CHECK(find_compute_capability(major, minor)->warps_per_sm == 48);
  }
}

TEST_CASE("Legality K01: only leading dimensions need alignment; M = 1471 is fine") {
  TileConfig config = mma_tile(128, 128, 32, 64, 32, 3);
  config.layout = Layout::kNN;
  CHECK(check(config, problem_of(1471, 256, 512, DataType::kF16), gpu_of(8, 0)).legal());
  config.layout = Layout::kTN;  // now M leads A
  check_refused(config, problem_of(1471, 256, 512, DataType::kF16), gpu_of(8, 0), "alignment");
}

TEST_CASE("Legality K03: cp.async.cg moves 16 bytes, ca 4, 8 or 16; 2 bytes cannot") {
  CHECK(async_copy_forms(16).cg);
  for (const std::int64_t bytes : {4, 8, 16}) CHECK(async_copy_forms(bytes).ca);
  CHECK_FALSE(async_copy_forms(8).cg);
  CHECK_FALSE(async_copy_forms(2).any());
  TileConfig config = mma_tile(128, 128, 32, 64, 32, 3);
  config.vec = 1;
  check_refused(config, problem_of(4096, 4096, 4096, DataType::kF16), gpu_of(9, 0), "cp.async");
  config.vec = 8;
  check_refused(config, problem_of(4096, 4096, 4096, DataType::kF16), gpu_of(7, 5), "cp.async");
}

TEST_CASE("Legality K05: a vocabulary of 33,708 has 8-byte rows, 33,712 has 16-byte rows") {
  CHECK(33708 % 8 == 4);
  CHECK(row_alignment(33708, 2) == 8);
  CHECK(row_alignment(33712, 2) == 16);
  TileConfig config = mma_tile(128, 128, 32, 64, 32, 3);
  config.layout = Layout::kNN;
  check_refused(config, problem_of(1024, 33708, 1024, DataType::kF16), gpu_of(8, 0), "alignment");
  CHECK(check(config, problem_of(1024, 33712, 1024, DataType::kF16), gpu_of(8, 0)).legal());
}

TEST_CASE("Legality: each rule refuses with a remedy and a legal neighbour") {
  const GpuSpec gpu = shipped_gpu("h200");
  const auto refused = [&](auto change, const std::string& rule) {
    TileConfig config;
    change(config);
    INFO(describe(config));
    check_refused(config, kSquare, gpu, rule);
  };
  refused([](TileConfig& c) { c.bm = 0; }, "range");
  refused([](TileConfig& c) { c.tn = -8; }, "range");
  refused([](TileConfig& c) { c.bk = std::numeric_limits<std::int64_t>::max(); }, "range");
  refused([](TileConfig& c) { c.vec = 3; }, "range");
  refused([](TileConfig& c) { c.swizzle = 4; }, "range");
  refused([](TileConfig& c) { c.tm = 7; }, "shape");
  refused([](TileConfig& c) { c.tm = c.tn = 2; }, "threads");  // 4,096 threads
  refused(
      [](TileConfig& c) {
        c.bm = c.bn = 24;
        c.tm = c.tn = 4;
      },
      "threads");
  refused(
      [](TileConfig& c) {
        c.bk = 4;
        c.vec = 4;
        c.tm = c.tn = 4;
      },
      "copy");
  refused([](TileConfig& c) { c.pad_b = 2; }, "padding");
  refused(
      [](TileConfig& c) {
        c.swizzle = 3;
        c.pad_a = 4;
      },
      "swizzle");
  refused([](TileConfig& c) { c.stages = 3; }, "stages");
  refused([](TileConfig& c) { c.dtype = DataType::kF16; }, "dtype");
  refused([](TileConfig& c) { c.bk = 1024; }, "shared-memory");
}

TEST_CASE("Legality A01: known registers that do not launch name the largest CTA") {
  TileConfig config;
  config.bm = 256;
  config.bk = 16;
  config.registers = 162;
  const Legality legality = check(config, kSquare, gpu_of(8, 9, 128));
  REQUIRE_FALSE(legality.legal());
  CHECK(legality.findings[0].message.find("86016") != std::string::npos);
  CHECK(legality.findings[0].remedy.find("384 threads") != std::string::npos);
}

TEST_CASE("Legality: a bad problem is reported beside the tile's problems, without a nearest tile") {
  TileConfig config;
  config.tm = 7;
  const Legality legality = check(config, problem_of(0, 128, 128), shipped_gpu("h200"));
  REQUIRE(legality.findings.size() == 2);
  CHECK(legality.findings[0].rule == "problem");
  CHECK_FALSE(legality.nearest);
  CHECK(to_error(legality).message.find("M = 0 is zero.") != std::string::npos);
}

TEST_CASE("Legality: gridDim.y and gridDim.z end at 65535") {
  const GpuSpec gpu = shipped_gpu("h200");
  Problem problem = kSquare;
  problem.m = 65535 * 128;
  CHECK(check(TileConfig{}, problem, gpu).legal());
  ++problem.m;
  const Legality tall = check(TileConfig{}, problem, gpu);
  REQUIRE(tall.findings.size() == 1);
  CHECK(tall.findings[0].message == "M = 8388481 makes 65536 tiles of 128 rows; gridDim.y ends at 65535.");
  CHECK(tall.findings[0].remedy == "Use --bm 129 or more, or split M into several launches.");
  problem = kSquare;
  problem.split_k = 4;
  problem.batch = 16383;
  CHECK(check(TileConfig{}, problem, gpu).legal());
  ++problem.batch;
  CHECK_FALSE(check(TileConfig{}, problem, gpu).legal());
}

TEST_CASE("Legality: parts of K are stored each, so beta C has no place in them") {
  const GpuSpec gpu = shipped_gpu("h200");
  Problem problem = kSquare;
  problem.beta = 1.0;
  CHECK(check(TileConfig{}, problem, gpu).legal());
  problem.split_k = 2;
  const Legality parts = check(TileConfig{}, problem, gpu);
  REQUIRE(parts.findings.size() == 1);
  CHECK(parts.findings[0].rule == "split-k");
  problem.beta = 0.0;
  CHECK(check(TileConfig{}, problem, gpu).legal());
}

TEST_CASE("Legality A07, A09: compute capabilities 3.5, 5.0 and 5.2 are unsupported") {
  for (const auto& [major, minor] : {std::pair{3, 5}, std::pair{5, 0}, std::pair{5, 2}}) {
    const auto legality = check_legality(TileConfig{}, kSquare, gpu_of(major, minor));
    REQUIRE_FALSE(legality);
    CHECK(legality.error().message.find("unsupported") != std::string::npos);
  }
}

// These kernels are also what the allowance for addresses was fitted on: a regression test, not a validation. SIMT:
// tests/traces/generator_corpus_test.cpp.
TEST_CASE("Register estimate of mma kernels: within 20 percent of ptxas on the calibration kernels it was fitted on") {
  const auto mma = [](const TileConfig& config) { return static_cast<double>(estimate_registers(config).total()); };
  CHECK(mma(mma_tile(128, 128, 32, 64, 32, 3)) == Approx(102).epsilon(0.2));
  CHECK(mma(mma_tile(128, 256, 32, 64, 64, 3)) == Approx(209).epsilon(0.2));
  CHECK(mma(mma_tile(64, 64, 32, 32, 32, 3)) == Approx(72).epsilon(0.2));
}

TEST_CASE("Names: unknown ones suggest the nearest") {
  CHECK(parse_family("mma") == Family::kMma);
  CHECK(parse_data_type("bf17").error().remedy.find("'bf16'") != std::string::npos);
  CHECK(parse_raster("group:8")->group == 8);
  for (const auto* bad : {"group:", "group:0", "group:-1", "group:99999999999", "group:8x", "x", ""}) {
    CHECK_FALSE(parse_raster(bad));
  }
}

TEST_CASE("Property: the nearest legal choice is legal, and nothing crashes on any input") {
  const GpuSpec gpu = gpu_of(9, 0);
  const bool holds = rc::check([&] {
    const auto extent = [] {
      return *rc::gen::oneOf(rc::gen::element<std::int64_t>(1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
                             rc::gen::inRange<std::int64_t>(-3, 300), rc::gen::arbitrary<std::int64_t>());
    };
    TileConfig config;
    config.family = *rc::gen::element(Family::kSimt, Family::kMma);
    config.dtype = *rc::gen::element(DataType::kF32, DataType::kTf32, DataType::kF16, DataType::kBf16);
    config.layout = *rc::gen::element(Layout::kNN, Layout::kNT, Layout::kTN, Layout::kTT);
    config.copy = *rc::gen::element(CopyPath::kRegister, CopyPath::kAsync, CopyPath::kDirect);
    for (auto member : {&TileConfig::bm, &TileConfig::bn, &TileConfig::bk, &TileConfig::tm, &TileConfig::tn,
                        &TileConfig::wm, &TileConfig::wn, &TileConfig::stages, &TileConfig::vec}) {
      config.*member = extent();
    }
    config.pad_a = *rc::gen::inRange<std::int64_t>(-1, 40);
    config.swizzle = *rc::gen::inRange<std::int64_t>(-1, 5);
    const Problem problem =
        problem_of(*rc::gen::inRange<std::int64_t>(1, 5000), *rc::gen::inRange<std::int64_t>(1, 5000),
                   *rc::gen::inRange<std::int64_t>(1, 5000), config.dtype);
    const auto legality = check_legality(config, problem, gpu);
    RC_ASSERT(legality.has_value());
    RC_ASSERT(legality->nearest.has_value());
    RC_ASSERT(check_legality(*legality->nearest, problem, gpu)->legal());
    if (legality->legal()) RC_ASSERT(*legality->nearest == config);
  });
  CHECK(holds);
}

}  // namespace
}  // namespace tilesim::model
