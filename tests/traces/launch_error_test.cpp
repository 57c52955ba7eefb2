#include "tests/support/catch.h"
#include "tests/traces/small_kernel.h"
#include "tests/traces/test_kernels.h"
#include "traces/emulator/functional.h"
#include "traces/emulator/main_loop.h"
#include "traces/emulator/sass_kernel.h"
#include "traces/sass/assembler.h"

namespace tilesim::traces {
namespace {

const TestKernel& test() { return sgemm_kernels()[0]; }

LaunchParameters good_launch() { return launch_for(test(), {128, 128, 128}); }

void set_arguments(LaunchParameters& launch, const std::string& text) {
  auto arguments = parse_arguments(text);
  REQUIRE(arguments.has_value());
  launch.arguments = std::move(*arguments);
}

Error creation_failure(DecodedKernel kernel, LaunchParameters launch) {
  const auto created = SassKernel::create(std::move(kernel), std::move(launch));
  REQUIRE_FALSE(created.has_value());
  CHECK(created.error().kind == ErrorKind::kUsage);
  CHECK_FALSE(created.error().remedy.empty());
  return created.error();
}

// Runs all CTAs until one of them fails.
Error stream_failure(DecodedKernel decoded, LaunchParameters launch) {
  const auto kernel = SassKernel::create(std::move(decoded), std::move(launch));
  REQUIRE(kernel.has_value());
  isa::DynamicInstruction instruction;
  for (std::uint64_t id = 0; id < (*kernel)->grid().count(); ++id) {
    const auto cta = (*kernel)->open(id, nullptr);
    for (int w = 0; w < cta->warp_count(); ++w) {
      while (!cta->warp(w).exited()) {
        if (!cta->warp(w).step(instruction)) {
          CHECK(cta->warp(w).error().kind == ErrorKind::kUsage);
          CHECK_FALSE(cta->warp(w).error().remedy.empty());
          return cta->warp(w).error();
        }
      }
    }
  }
  FAIL("no CTA failed");
  return {};
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

DecodedKernel kernel() { return load_kernel(test().name + ".sass"); }

}  // namespace

TEST_CASE("fewer argument bytes than the code reads") {
  LaunchParameters launch = good_launch();
  set_arguments(launch, "i32:128,i32:128,i32:128,ptr:64KiB,ptr:64KiB");
  const Error error = creation_failure(kernel(), launch);
  CHECK(mentions(error.message, "reads parameter bytes 32 to 39, but the arguments end after 32 bytes"));
  CHECK(mentions(error.message, "c[0x0][0x230]"));
  CHECK(mentions(error.where, ".sass:"));
  set_arguments(launch, "");
  CHECK(mentions(creation_failure(kernel(), launch).message, "the arguments end after 0 bytes"));
}

TEST_CASE("more arguments than the code reads are fine") {
  LaunchParameters launch = good_launch();
  set_arguments(launch, "i32:128,i32:128,i32:128,ptr:64KiB,ptr:64KiB,ptr:64KiB,f32:1,ptr:1");
  CHECK(SassKernel::create(kernel(), launch).has_value());
}

TEST_CASE("an access outside its allocation names instruction, lane and argument") {
  LaunchParameters launch = good_launch();
  set_arguments(launch, "i32:128,i32:128,i32:128,ptr:65535,ptr:64KiB,ptr:64KiB");
  Error error = stream_failure(kernel(), launch);
  CHECK(mentions(error.message, "LDG.E.128.CONSTANT"));
  CHECK(mentions(
      error.message,
      "accesses 16 bytes at 0x7f000000fff0, outside every allocation (byte 65520 of argument 4, which has 65535)"));
  CHECK(mentions(error.message, "lane 31"));
  CHECK(mentions(error.where, "sgemm_32_32_32_2_2_s1_p0.sass:"));

  launch = good_launch();
  set_arguments(launch, "i32:128,i32:128,i32:128,ptr:64KiB,ptr:64KiB,ptr:32KiB");
  error = stream_failure(kernel(), launch);
  CHECK(mentions(error.message, "STG.E"));
  CHECK(mentions(error.message, "argument 6"));
}

TEST_CASE("a grid larger than the problem reads outside") {
  LaunchParameters launch = good_launch();
  launch.grid.y = 5;
  CHECK(mentions(stream_failure(kernel(), launch).message, "outside every allocation"));
}

TEST_CASE("an access outside shared memory names its byte") {
  LaunchParameters launch = good_launch();
  launch.shared_bytes = 4096;
  const Error error = stream_failure(kernel(), launch);
  CHECK(mentions(error.message, "of the CTA's shared memory, which has 4096"));
  CHECK(mentions(error.message, "STS"));
}

TEST_CASE("no pointers at all") {
  LaunchParameters launch = good_launch();
  set_arguments(launch, "i32:128,i32:128,i32:128,i64:64,i64:64,i64:64");
  CHECK(mentions(stream_failure(kernel(), launch).message, "outside every allocation"));
}

TEST_CASE("illegal launches are refused") {
  LaunchParameters launch = good_launch();
  launch.grid.x = 0;
  CHECK(mentions(creation_failure(kernel(), launch).message, "Grid x is 0"));
  launch = good_launch();
  launch.grid.z = 70000;
  CHECK(mentions(creation_failure(kernel(), launch).message, "Grid z is 70000"));
  launch = good_launch();
  launch.block = {512, 4, 1};
  CHECK(mentions(creation_failure(kernel(), launch).message, "2048 threads"));
  launch = good_launch();
  launch.shared_bytes = 1 << 20;
  CHECK(mentions(creation_failure(kernel(), launch).message, "1048576 bytes of shared memory"));
}

TEST_CASE("a zero or negative problem size ends without a hang") {
  for (const char* k : {"0", "-1"}) {
    LaunchParameters launch = good_launch();
    set_arguments(launch, std::string("i32:128,i32:128,i32:") + k + ",ptr:64KiB,ptr:64KiB,ptr:64KiB");
    const auto created = SassKernel::create(kernel(), launch);
    REQUIRE(created.has_value());
    const auto loop = find_main_loop(**created);
    REQUIRE(loop.has_value());
    CHECK_FALSE(loop->has_value());
  }
}

TEST_CASE("a loaded value that decides an address is loaded from memory, which begins with zeros") {
  const DecodedKernel code = small::kernel(
      {small::move_immediate(0, 0x410), small::load_shared(1, 0), small::load_shared(2, 1), small::exit()});
  CHECK(mentions(stream_failure(code, small::launch(32, 1024)).message,
                 "'LDS R2, [R1]' (warp 0 of CTA 0, 0, 0): lane 0 accesses 4 bytes at byte -1024"));
}

TEST_CASE("a load that decides what is executed must stay in the allocation of its pointer; stores may leave it") {
  // A pointer to A plus the distance to B: only A is held, since A's pointer is where the address comes from.
  const auto code = [](const std::string& access) {
    const auto assembled = assemble(
        ".kernel small\n"
        "[B------:R-:W0:-:S04] LDC.64 R2, c[0x0][0x210]\n"
        "[B------:R-:W1:-:S04] LDC R4, c[0x0][0x220]\n"
        "[B------:R-:W-:-:S04] ULDC.64 UR4, c[0x0][0x208]\n"
        "[B01----:R-:W2:-:S04] LDG.E R8, desc[UR4][R2.64]\n"
        "[B------:R-:W-:-:S04] IADD3 R6, P0, R2, R4, RZ\n"
        "[B------:R-:W-:-:S04] IMAD.X R7, RZ, RZ, R3, P0\n" +
            access +
            "[B--2---:R-:W-:-:S13] ISETP.NE.AND P1, PT, R8, RZ, PT\n"
            "[B------:R-:W-:-:S05] @P1 EXIT\n"
            "[B------:R-:W-:-:S05] EXIT\n",
        "small.txt");
    INFO((assembled ? "" : assembled.error().message + " " + assembled.error().where));
    REQUIRE(assembled.has_value());
    return small::kernel(assembled->front().code);
  };
  LaunchParameters launch = small::launch(32, 0);
  set_arguments(launch, "ptr:4KiB,ptr:4KiB,i32:0");
  const auto& allocations = launch.arguments.allocations;
  REQUIRE(allocations.size() == 2);
  set_arguments(launch, "ptr:4KiB,ptr:4KiB,i32:" + std::to_string(allocations[1].address - allocations[0].address));
  CHECK(mentions(stream_failure(code("[B------:R-:W2:-:S04] LDG.E R8, desc[UR4][R6.64]\n"), launch).message,
                 "a load that decides what is executed leaves the allocation of its pointer"));
  const auto stores = SassKernel::create(code("[B------:R-:W-:-:S04] STG.E desc[UR4][R6.64], R4\n"), launch);
  REQUIRE(stores.has_value());
  const auto executed = run_streams(**stores);
  INFO((executed ? "" : executed.error().message));
  REQUIRE(executed.has_value());
  CHECK(*executed == 10);
}

TEST_CASE("a loaded value under one guard and an address under the same guard do not mix") {
  // R1 is loaded, then, where P0 holds, overwritten and used as an address.
  const DecodedKernel code =
      small::kernel({small::read_thread_index(0), small::is_at_least(0, 0, 5), small::move_immediate(2, 0x400),
                     small::load_shared(1, 2), small::guarded(small::move_immediate(1, 0x440), 0, false),
                     small::guarded(small::load_shared(3, 1), 0, false), small::exit()});
  const auto demands_memory = [](const DecodedKernel& kernel) {
    const auto created = SassKernel::create(kernel, small::launch(32, 1024));
    REQUIRE(created.has_value());
    return (*created)->micro_program().demanded.any();
  };
  CHECK_FALSE(demands_memory(code));
  const DecodedKernel mixed =
      small::kernel({small::read_thread_index(0), small::is_at_least(0, 0, 5), small::move_immediate(2, 0x400),
                     small::load_shared(1, 2), small::guarded(small::move_immediate(1, 0x440), 0, true),
                     small::guarded(small::load_shared(3, 1), 0, false), small::exit()});
  CHECK(demands_memory(mixed));
}

TEST_CASE("what only a part of a warp may not do is refused by name") {
  const DecodedKernel barrier =
      small::kernel({small::read_thread_index(0), small::is_at_least(0, 0, 5),
                     small::guarded(small::branch(1), 0, false), small::synchronise(), small::exit()});
  CHECK(mentions(stream_failure(barrier, small::launch(32, 0)).message, "a barrier that only a part of the warp"));
}

TEST_CASE("a branch on which all lanes of a partial warp agree is uniform") {
  const DecodedKernel code = small::kernel({small::read_thread_index(0), small::is_at_least(0, 0, 5),
                                            small::guarded(small::branch(1), 0, false), small::nop(), small::exit()});
  const auto kernel = SassKernel::create(code, small::launch(5, 0));
  REQUIRE(kernel.has_value());
  const auto cta = (*kernel)->open(0, nullptr);
  isa::DynamicInstruction instruction;
  int steps = 0;
  while (!cta->warp(0).exited()) {
    REQUIRE(cta->warp(0).step(instruction));
    CHECK((instruction.active_mask == 0x1f || instruction.index == 2));
    ++steps;
  }
  CHECK(steps == 5);
}

TEST_CASE("a misaligned access is refused") {
  const DecodedKernel code = small::kernel({small::move_immediate(0, 0x402), small::load_shared(1, 0), small::exit()});
  CHECK(mentions(stream_failure(code, small::launch(32, 64)).message, "which is not a multiple of 4"));
}

TEST_CASE("an endless self-branch and running off the end are errors, not hangs") {
  CHECK(mentions(stream_failure(small::kernel({small::branch(-1), small::nop()}), small::launch(32, 0)).message,
                 "branches to itself"));
  CHECK(mentions(stream_failure(small::kernel({small::nop(), small::nop()}), small::launch(32, 0)).message,
                 "past the end of the code"));
  const DecodedKernel padded = small::kernel({small::exit(), small::branch(-1), small::nop()});
  const auto kernel = SassKernel::create(padded, small::launch(32, 0));
  REQUIRE(kernel.has_value());
  const auto cta = (*kernel)->open(0, nullptr);
  isa::DynamicInstruction instruction;
  REQUIRE(cta->warp(0).step(instruction));
  CHECK(cta->warp(0).exited());
}

TEST_CASE("an endless loop is found out by the main loop search") {
  const DecodedKernel code =
      small::kernel({small::move_immediate(0, 1), small::add_immediate(0, 0, 1), small::branch(-2), small::exit()});
  auto kernel = SassKernel::create(code, small::launch(32, 0));
  REQUIRE(kernel.has_value());
  // Nothing in this loop is needed, so it runs at the speed of its branch; the bound ends it.
  const auto loop = find_main_loop(**kernel, 1000000);
  REQUIRE_FALSE(loop.has_value());
  CHECK(mentions(loop.error().message, "more than 1000000 instructions"));
}

}  // namespace tilesim::traces
