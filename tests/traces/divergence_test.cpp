// Warps whose lanes take different ways.
#include "tests/support/catch.h"
#include "tests/traces/cubin_gemm.h"
#include "tests/traces/small_kernel.h"

namespace tilesim::traces {
namespace {

struct Executed {
  std::uint32_t index = 0;
  std::uint32_t mask = 0;
  friend bool operator==(const Executed&, const Executed&) = default;
};

std::vector<Executed> run(const DecodedKernel& code) {
  const auto kernel = SassKernel::create(code, small::launch(32, 0));
  REQUIRE(kernel.has_value());
  const auto cta = (*kernel)->open(0, nullptr);
  isa::DynamicInstruction instruction;
  std::vector<Executed> result;
  while (!cta->warp(0).exited()) {
    REQUIRE(cta->warp(0).step(instruction));
    result.push_back({instruction.index, instruction.active_mask});
  }
  return result;
}

constexpr std::uint32_t kAll = ~std::uint32_t{0};
constexpr std::uint32_t kHigh = ~std::uint32_t{0x1f};  // lanes from 5 on
constexpr std::uint32_t kLow = 0x1f;

}  // namespace

TEST_CASE("lanes that branch go their way after those that do not, and meet at BSYNC") {
  const DecodedKernel code = small::kernel({
      small::read_thread_index(0), small::is_at_least(0, 0, 5), small::converge_at(4),
      small::guarded(small::branch(2), 0, false),  // 3
      small::nop(), small::branch(1),              // 4, 5: lanes below 5
      small::nop(),                                // 6: lanes from 5 on
      small::converge(),                           // 7
      small::nop(), small::exit(),                 // 8, 9
  });
  const std::vector<Executed> expected = {{0, kAll}, {1, kAll},  {2, kAll},  {3, kHigh}, {4, kLow}, {5, kLow},
                                          {7, kLow}, {6, kHigh}, {7, kHigh}, {8, kAll},  {9, kAll}};
  CHECK(run(code) == expected);
}

TEST_CASE("lanes that exit early are not waited for") {
  const DecodedKernel code = small::kernel({
      small::read_thread_index(0), small::is_at_least(0, 0, 5), small::converge_at(3),
      small::guarded(small::branch(1), 0, false),  // 3
      small::exit(),                               // 4: lanes below 5
      small::nop(),                                // 5
      small::converge(), small::exit(),            // 6, 7
  });
  const std::vector<Executed> expected = {{0, kAll}, {1, kAll},  {2, kAll},  {3, kHigh},
                                          {4, kLow}, {5, kHigh}, {6, kHigh}, {7, kHigh}};
  CHECK(run(code) == expected);
}

TEST_CASE("lanes leave a loop in different trips and meet behind it") {
  // Lane i goes round while i + trips < 32: lane 31 leaves first.
  const DecodedKernel code = small::kernel({
      small::read_thread_index(0), small::converge_at(4), small::add_immediate(0, 0, 1),  // 2
      small::is_at_least(0, 0, 32),                                                       // 3
      small::guarded(small::branch(-3), 0, true),                                         // 4
      small::converge(), small::nop(), small::exit()                                      // 5, 6, 7
  });
  const std::vector<Executed> executed = run(code);
  std::uint32_t lanes = 0;
  int trips = 0;
  for (const Executed& one : executed) {
    trips += one.index == 2 ? 1 : 0;
    lanes = one.index == 6 ? one.mask : lanes;
  }
  CHECK(trips == 32);
  CHECK(lanes == kAll);
  CHECK(executed.size() == 2 + 32 * 3 + 32 + 2);  // each lane comes to BSYNC on its own
}

TEST_CASE("ragged problems compute their product at every edge") {
  const std::string own = std::string(TILESIM_TEST_CUBINS) + "/sgemm_32x32x8_async_ragged.cubin";
  const std::string corpus = std::string(TILESIM_PTXAS_FOLDER) + "/simt_64x64x32_4x4_s2_nn_v4_ragged.cubin";
  struct Case {
    std::string path;
    Gemm gemm;
  };
  const Case cases[] = {{own, {32, 32, 64, false, false, 37, 45, 21}},
                        {own, {32, 32, 64, false, false, 5, 3, 2}},
                        {corpus, {64, 64, 256, false, false, 69, 76, 20}}};
  for (const Case& one : cases) {
    const CubinKernel kernel = only_kernel(one.path);
    const auto decoded = decode_kernel(kernel);
    REQUIRE(decoded.has_value());
    INFO(one.path << " " << one.gemm.m << " x " << one.gemm.n << " x " << one.gemm.k);
    check_product(*decoded, launch_of(kernel, one.gemm), one.gemm);
  }
}

}  // namespace tilesim::traces
