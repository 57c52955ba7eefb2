// Timing of single units against the H200 microbenchmarks, at the very cycle: legal at t, not at t - 1.
#include "tests/sim/probe.h"

using namespace tilesim;
using namespace tilesim::sim;
using namespace tilesim::sim::testing;
using isa::MemoryOp;
using isa::Pipe;

namespace {

/// Cycles from the issue of instruction `first` to the issue of instruction `second` of warp 0.
Cycle distance(const SyntheticKernel& kernel, std::size_t first, std::size_t second) {
  const std::vector<Cycle> cycles = run(kernel).heard.cycles();
  return cycles.at(second) - cycles.at(first);
}

SyntheticKernel load_then_use(MemoryOp op, int bytes, int registers, SyntheticKernel::AddressOf address) {
  SyntheticKernel kernel;
  kernel.address = std::move(address);
  kernel.add_memory(op, bytes, registers, 0);
  kernel.add(Pipe::kAlu).wait_mask = 1;
  kernel.add_exit();
  return kernel;
}

SyntheticKernel::AddressOf lanes_apart(std::uint64_t bytes) {
  return [bytes](auto, auto, auto, auto, int lane) { return 1024 + static_cast<std::uint64_t>(lane) * bytes; };
}

}  // namespace

TEST_CASE("LDS: issue to dependent issue 23, 26, 32 cycles for 32, 64, 128 bits without conflict") {
  CHECK(distance(load_then_use(MemoryOp::kLoadShared, 4, 1, lanes_apart(4)), 0, 1) == 23);
  CHECK(distance(load_then_use(MemoryOp::kLoadShared, 8, 1, lanes_apart(8)), 0, 1) == 26);
  CHECK(distance(load_then_use(MemoryOp::kLoadShared, 16, 1, lanes_apart(16)), 0, 1) == 32);
}

TEST_CASE("LDS.32 with conflicts of degree 2, 4, 8, 16, 32: 25, 29, 37, 53, 85 cycles") {
  const std::pair<int, Cycle> rows[] = {{2, 25}, {4, 29}, {8, 37}, {16, 53}, {32, 85}};
  for (const auto& [degree, cycles] : rows) {
    CAPTURE(degree);
    CHECK(distance(load_then_use(MemoryOp::kLoadShared, 4, 1, lanes_apart(4 * static_cast<std::uint64_t>(degree))), 0,
                   1) == cycles);
  }
}

TEST_CASE("LDSM: issue to dependent issue 23, 25, 29 cycles for 1, 2, 4 matrices; 4 more per conflict of each") {
  CHECK(distance(load_then_use(MemoryOp::kLoadMatrix, 4, 1, lanes_apart(16)), 0, 1) == 23);
  CHECK(distance(load_then_use(MemoryOp::kLoadMatrix, 8, 1, lanes_apart(16)), 0, 1) == 25);
  CHECK(distance(load_then_use(MemoryOp::kLoadMatrix, 16, 1, lanes_apart(16)), 0, 1) == 29);
  CHECK(distance(load_then_use(MemoryOp::kLoadMatrix, 16, 1, lanes_apart(80)), 0, 1) ==
        29);  // measured without conflict
  CHECK(distance(load_then_use(MemoryOp::kLoadMatrix, 16, 1, lanes_apart(32)), 0, 1) == 37);   // 8 wavefronts
  CHECK(distance(load_then_use(MemoryOp::kLoadMatrix, 16, 1, lanes_apart(128)), 0, 1) == 85);  // 32 wavefronts
}

TEST_CASE("LDSM.x4 in a row: 8 cycles each from one warp, 16 from each of four sub-partitions") {
  // Mean over the warps, from the first issue to the issue that waits for all `count`.
  const auto done = [](std::uint32_t warps, int count) {
    SyntheticKernel kernel;
    kernel.threads.x = 32 * warps;
    kernel.address = lanes_apart(16);
    for (int i = 0; i < count; ++i) {
      kernel.add_memory(MemoryOp::kLoadMatrix, 16, 1, 0);
    }
    kernel.add(Pipe::kAlu).wait_mask = 1;
    kernel.add_exit();
    double sum = 0.0;
    const Run finished = run(kernel);
    for (const auto& [key, issues] : finished.heard.issues) {
      sum += static_cast<double>(issues[static_cast<std::size_t>(count)].cycle - issues[0].cycle);
    }
    return sum / warps;
  };
  CHECK(done(1, 10) - done(1, 1) == 72.0);                          // measured: queue_done 109 - 37
  CHECK(done(4, 40) - done(4, 20) == Approx(320.0).epsilon(0.03));  // 672 - 352
}

TEST_CASE("S2R 23, LDC 28 cycles to the dependent issue; a cold constant line costs the spec's extra once") {
  SyntheticKernel s2r;
  s2r.add(Pipe::kS2r).write_scoreboard = 1;
  s2r.add(Pipe::kAlu).wait_mask = 2;
  s2r.add_exit();
  CHECK(distance(s2r, 0, 1) == 23);

  SyntheticKernel ldc;
  ldc.add(Pipe::kAdu, 15).write_scoreboard = 0;
  ldc.add(Pipe::kAdu, 15).write_scoreboard = 1;
  ldc.add(Pipe::kAlu).wait_mask = 1;
  ldc.add(Pipe::kAdu).write_scoreboard = 1;
  ldc.code.instructions[2].wait_mask = 3;
  ldc.add(Pipe::kAlu).wait_mask = 2;
  ldc.add_exit();
  CHECK(distance(ldc, 3, 4) == 28);
  CHECK(distance(ldc, 0, 2) > 28);
}

TEST_CASE("stall counts: the next instruction issues exactly that many cycles later, yield adds one to a stall of 1") {
  for (int stall = 1; stall <= 15; ++stall) {
    SyntheticKernel kernel;
    kernel.add(Pipe::kNone, stall);
    kernel.add(Pipe::kNone);
    kernel.add_exit();
    CAPTURE(stall);
    CHECK(distance(kernel, 0, 1) == stall);
  }
  SyntheticKernel kernel;
  kernel.add(Pipe::kNone, 1).yield = true;
  kernel.add(Pipe::kNone);
  kernel.add_exit();
  CHECK(distance(kernel, 0, 1) == 2);
}

TEST_CASE("a taken branch costs 10 cycles") {
  SyntheticKernel kernel;
  kernel.trips = 3;
  kernel.add(Pipe::kNone);
  kernel.add_control(isa::ControlOp::kBranch, 5).branch_target = 0;
  kernel.add_exit();
  const std::vector<Cycle> cycles = run(kernel).heard.cycles();
  CHECK(cycles.at(4) - cycles.at(3) == 10);
}

TEST_CASE("issue intervals of the pipes, one warp: FFMA 1, IMAD and ALU 2, IMAD.WIDE 4, FP64 2, HMMA 6 or 4") {
  const std::pair<Pipe, Cycle> rows[] = {{Pipe::kFma, 1},     {Pipe::kFmaHeavy, 2}, {Pipe::kAlu, 2},
                                         {Pipe::kFmaWide, 4}, {Pipe::kFp64, 2},     {Pipe::kTensor, 6},
                                         {Pipe::kHalf, 2},    {Pipe::kUniform, 2},  {Pipe::kTensorShort, 4}};
  for (const auto& [pipe, interval] : rows) {
    SyntheticKernel kernel;
    for (int i = 0; i < 20; ++i) {
      kernel.add(pipe);
    }
    kernel.add_exit();
    const std::vector<Cycle> cycles = run(kernel).heard.cycles();
    CAPTURE(static_cast<int>(pipe));
    CHECK(cycles.at(7) - cycles.at(6) == interval);
  }
}

TEST_CASE("mixes: FFMA + ALU 2 cycles, 2 FFMA + ALU 3, 2 FFMA + IMAD 4, 3 FFMA + IMAD 4 per group") {
  const std::tuple<int, Pipe, double> rows[] = {{1, Pipe::kAlu, 2.0},
                                                {2, Pipe::kAlu, 3.0},
                                                {2, Pipe::kFmaHeavy, 4.0},
                                                {3, Pipe::kFmaHeavy, 4.0},
                                                {1, Pipe::kFmaHeavy, 2.0}};
  for (const auto& [ffma, other, cycles_per_group] : rows) {
    SyntheticKernel kernel;
    constexpr int kGroups = 12;
    for (int g = 0; g < kGroups; ++g) {
      for (int i = 0; i < ffma; ++i) {
        kernel.add(Pipe::kFma);
      }
      kernel.add(other);
    }
    kernel.add_exit();
    const std::vector<Cycle> cycles = run(kernel).heard.cycles();
    const std::size_t group = static_cast<std::size_t>(ffma) + 1;
    const double measured = static_cast<double>(cycles.at(10 * group) - cycles.at(4 * group)) / 6.0;
    CAPTURE(ffma, static_cast<int>(other));
    CHECK(measured == Approx(cycles_per_group).margin(0.34));
  }
}

TEST_CASE("HMMA and n fillers: NOP max(6, n + 1), IADD3 2n + 1, FFMA without register reads n + 3") {
  const auto period = [](Pipe filler, int n) {
    SyntheticKernel kernel;
    constexpr int kGroups = 12;
    for (int g = 0; g < kGroups; ++g) {
      kernel.add(Pipe::kTensor);
      for (int i = 0; i < n; ++i) {
        kernel.add(filler);
      }
    }
    kernel.add_exit();
    const std::vector<Cycle> cycles = run(kernel).heard.cycles();
    const std::size_t group = static_cast<std::size_t>(n) + 1;
    return static_cast<double>(cycles.at(10 * group) - cycles.at(4 * group)) / 6.0;
  };
  for (const int n : {0, 3, 5, 6, 8, 16}) {
    CAPTURE(n);
    CHECK(period(Pipe::kNone, n) == std::max(6, n + 1));
    CHECK(period(Pipe::kAlu, n) == std::max(6, 2 * n + 1));  // measured 7.5 at n = 3
  }
  for (const int n : {6, 8, 12, 16}) {
    CAPTURE(n);
    CHECK(period(Pipe::kFma, n) == n + 3);
  }
}

TEST_CASE("HMMA and n FFMA that each read one bank: n + 7 cycles, since the HMMA reads each bank five times") {
  for (const int n : {6, 8, 12, 16}) {
    SyntheticKernel kernel;
    constexpr int kGroups = 12;
    for (int g = 0; g < kGroups; ++g) {
      isa::Instruction& hmma = kernel.add(Pipe::kTensor);
      hmma.reads = {isa::RegisterRead{8, 0, false}, isa::RegisterRead{12, 1, false}, isa::RegisterRead{16, 2, false}};
      hmma.read_count = 3;
      for (int i = 0; i < n; ++i) {
        isa::Instruction& ffma = kernel.add(Pipe::kFma);
        ffma.reads[0] = {4, 0, false};
        ffma.read_count = 1;
      }
    }
    kernel.add_exit();
    const std::vector<Cycle> cycles = run(kernel).heard.cycles();
    const std::size_t group = static_cast<std::size_t>(n) + 1;
    CAPTURE(n);
    CHECK(cycles.at(10 * group) - cycles.at(4 * group) == 6 * (n + 7));
  }
}

TEST_CASE("register banks: three operands in two banks 2 cycles, in one bank 3, a reused one 1 per FFMA") {
  const auto rate = [](std::array<std::uint16_t, 3> registers, bool reuse) {
    SyntheticKernel kernel;
    for (int i = 0; i < 24; ++i) {
      isa::Instruction& inst = kernel.add(Pipe::kFma);
      for (std::uint8_t slot = 0; slot < 3; ++slot) {
        inst.reads[slot] = {registers[slot], slot, reuse && slot == 0};
      }
      inst.read_count = 3;
    }
    kernel.add_exit();
    const std::vector<Cycle> cycles = run(kernel).heard.cycles();
    return static_cast<double>(cycles.at(20) - cycles.at(8)) / 12.0;
  };
  CHECK(rate({2, 4, 5}, false) == 2.0);
  CHECK(rate({2, 4, 6}, false) == 3.0);
  CHECK(rate({2, 4, 5}, true) == 1.0);
  CHECK(rate({2, 4, 6}, true) == 2.0);
  CHECK(rate({2, 2, 5}, false) == 1.0);  // the same register in two slots is read once
}

TEST_CASE("MIO queue: 32-bit LDS issue 1 per cycle for the first 12, then at the transfer rate of 2 cycles") {
  SyntheticKernel kernel;
  kernel.address = lanes_apart(4);
  for (int i = 0; i < 32; ++i) {
    kernel.add_memory(MemoryOp::kLoadShared, 4, 1, 0);
  }
  kernel.add_exit();
  const std::vector<Cycle> cycles = run(kernel).heard.cycles();
  CHECK(cycles.at(11) - cycles.at(0) == 11);                  // measured: 12 requests in 12 cycles
  CHECK(cycles.at(31) - cycles.at(19) == 24);                 // measured: K = 20 to 32 takes 24 cycles
  CHECK(std::abs((cycles.at(31) - cycles.at(0)) - 50) <= 2);  // measured: 57 - 7
}

TEST_CASE("MIO queue: hard stop at 30 requests of one sub-partition when each takes 64 cycles") {
  SyntheticKernel kernel;
  kernel.address = lanes_apart(128);
  for (int i = 0; i < 40; ++i) {
    kernel.add_memory(MemoryOp::kLoadShared, 4, 1, 0);
  }
  kernel.add_exit();
  const std::vector<Cycle> cycles = run(kernel).heard.cycles();
  CHECK(std::abs((cycles.at(27) - cycles.at(0)) - 42) <= 2);    // measured 42
  CHECK(std::abs((cycles.at(29) - cycles.at(0)) - 46) <= 2);    // the 30th still at the transfer rate
  CHECK(std::abs((cycles.at(31) - cycles.at(0)) - 149) <= 16);  // measured 149: the 31st had to wait
  CHECK(cycles.at(39) - cycles.at(31) == 8 * 64);               // measured 512
}

TEST_CASE("MIO queue: hard stop at 15 requests each when four sub-partitions start together") {
  SyntheticKernel kernel;
  kernel.threads.x = 128;
  kernel.address = lanes_apart(128);
  for (int i = 0; i < 40; ++i) {
    kernel.add_memory(MemoryOp::kLoadShared, 4, 1, 0);
  }
  kernel.add_exit();
  const Run done = run(kernel);
  int before_the_stop = 0;
  for (const auto& [key, issues] : done.heard.issues) {
    const Cycle first = issues[0].cycle;
    before_the_stop += static_cast<int>(std::count_if(issues.begin(), issues.begin() + 40,
                                                      [first](const auto& issue) { return issue.cycle - first < 50; }));
    CHECK(issues[39].cycle - issues[31].cycle == 8 * 128);  // measured 1,024
  }
  CHECK(before_the_stop == 60);  // measured 15 each: K = 14 at 24, K = 16 at 149
}

TEST_CASE("MIO queue: two warps of a sub-partition at a full queue take turns") {
  SyntheticKernel kernel;
  kernel.threads.x = 256;
  kernel.address = [](auto, auto, auto, auto, int lane) { return static_cast<std::uint64_t>(lane) * 16; };
  for (int i = 0; i < 40; ++i) {
    kernel.add_memory(MemoryOp::kLoadShared, 16, 1, 0);
  }
  kernel.add_exit();
  const Run done = run(kernel);
  for (std::uint32_t warp = 0; warp < 8; ++warp) {
    const std::vector<Cycle> cycles = done.heard.cycles(warp);
    CAPTURE(warp);
    CHECK(cycles.at(24) - cycles.at(20) == 4 * 32);  // measured 32 each, in turn
  }
}

TEST_CASE("barriers: back to back over n warps 12 + 2n cycles") {
  for (const int warps : {1, 4, 8, 16, 32}) {
    SyntheticKernel kernel;
    kernel.threads.x = static_cast<std::uint32_t>(32 * warps);
    for (int i = 0; i < 6; ++i) {
      kernel.add_control(isa::ControlOp::kBarrier);
    }
    kernel.add_exit();
    const std::vector<Cycle> cycles = run(kernel).heard.cycles();
    CAPTURE(warps);
    CHECK(std::abs((cycles.at(5) - cycles.at(4)) - (12 + 2 * warps)) <= 1);
  }
}

TEST_CASE("barriers of groups of warps, operands from registers: rounds as measured") {
  struct Row {
    int warps, groups, cycles;
  };
  for (const Row row : {Row{2, 1, 28}, Row{2, 2, 28}, Row{2, 4, 28}, Row{4, 1, 32}, Row{4, 2, 32}, Row{4, 4, 40},
                        Row{8, 1, 40}, Row{8, 2, 40}, Row{8, 4, 72}, Row{16, 1, 56}, Row{16, 2, 68}}) {
    SyntheticKernel kernel;
    kernel.threads.x = static_cast<std::uint32_t>(32 * row.warps * row.groups);
    kernel.address = [row](auto, auto, auto, int warp, int) {
      isa::DynamicInstruction call;
      isa::BarrierCall{static_cast<std::uint32_t>(1 + warp / row.warps), static_cast<std::uint32_t>(row.warps), false}
          .report(call);
      return call.addresses[0];
    };
    constexpr std::size_t kRounds = 8;
    for (std::size_t i = 0; i <= 2 * kRounds; ++i) {
      kernel.add_control(isa::ControlOp::kBarrier).barrier_from_registers = true;
    }
    kernel.add_exit();
    const std::vector<Cycle> cycles = run(kernel).heard.cycles();
    CAPTURE(row.warps, row.groups, row.cycles);
    const auto rounds = static_cast<double>(cycles.at(2 * kRounds) - cycles.at(kRounds)) / kRounds;
    CHECK(std::abs(rounds - row.cycles) <= 1);
  }
}

TEST_CASE("a warp that arrives only goes on; who waits goes on when all have come") {
  SyntheticKernel kernel;
  kernel.threads.x = 64;
  kernel.mask = [](std::uint32_t index, auto, int warp) {  // warp 0 waits, warp 1 arrives 100 cycles later
    const bool mine = warp == 0 ? index == 1 : index == 2;
    return mine ? ~0U : 0U;
  };
  kernel.add(Pipe::kAlu);
  isa::Instruction& wait = kernel.add_control(isa::ControlOp::kBarrier);
  wait.barrier_id = 5;
  wait.barrier_warps = 2;
  wait.stall = 15;
  isa::Instruction& arrive = kernel.add_control(isa::ControlOp::kBarrier);
  arrive.barrier_id = 5;
  arrive.barrier_warps = 2;
  arrive.barrier_arrives = true;
  kernel.add_exit();
  const Run done = run(kernel);
  const std::vector<Cycle> waits = done.heard.cycles(0);
  const std::vector<Cycle> arrives = done.heard.cycles(1);
  CHECK(arrives.at(3) - arrives.at(2) == 1);
  // Arrival, base and skew: 2 + 12 + 0 behind BAR.ARV.
  CHECK(waits.at(2) == arrives.at(2) + 14);
}

TEST_CASE("a barrier that the exit of the last missing warp completes is released then") {
  SyntheticKernel kernel;
  kernel.threads.x = 64;
  kernel.mask = [](auto, auto, int warp) { return warp == 0 ? ~0U : 0U; };  // warp 1 passes by
  for (int i = 0; i < 8; ++i) {
    kernel.add(Pipe::kAlu, 15);
  }
  kernel.code.instructions.insert(kernel.code.instructions.begin(), kernel.add_control(isa::ControlOp::kBarrier, 15));
  kernel.code.instructions.pop_back();
  kernel.add_exit();
  const Run done = run(kernel);
  // Warp 0 may go on with what needs nothing, but not exit, until 12 cycles after warp 1 has left.
  const Cycle left = done.heard.cycles(1).back();
  CHECK(left - done.heard.cycles(1).front() > 100);
  CHECK(done.heard.cycles(0).back() >= left + 12);
  CHECK(done.heard.cycles(0).back() <= left + 14);
}

TEST_CASE("warps that wait at a barrier for ever are an error, not an end") {
  SyntheticKernel kernel;
  kernel.threads.x = 64;
  kernel.add_control(isa::ControlOp::kBarrier).barrier_warps = 2;
  kernel.mask = [](auto, auto, int warp) { return warp == 0 ? ~0U : 0U; };
  kernel.add_exit();
  const auto result = simulate(*model::find_gpu_spec("h200"), kernel, {});
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message == "The warps of a CTA wait at barriers that never fill.");
}

TEST_CASE("a warp runs on past its barrier until an instruction needs memory") {
  SyntheticKernel kernel;
  kernel.threads.x = 64;
  kernel.address = lanes_apart(4);
  kernel.add_control(isa::ControlOp::kBarrier);
  kernel.add(Pipe::kFma);
  kernel.add_memory(MemoryOp::kLoadShared, 4, 1, 0);
  kernel.add_exit();
  const std::vector<Cycle> cycles = run(kernel).heard.cycles();
  CHECK(cycles.at(1) - cycles.at(0) == 1);
  CHECK(cycles.at(2) - cycles.at(0) >= 12);
}

TEST_CASE("LDG.32, L2 hit, one line: 284 cycles, give or take the slice's distance; a DRAM access about 680") {
  SyntheticKernel kernel;
  kernel.address = [](auto, auto, auto, auto, int lane) {
    return (std::uint64_t{1} << 32) + static_cast<std::uint64_t>(lane) * 4;
  };
  kernel.add_memory(MemoryOp::kLoadGlobal, 4, 2, 0);
  kernel.add(Pipe::kAlu).wait_mask = 1;
  kernel.ctas.x = 133;  // the last CTA follows on an SM whose L1 has the line; the others find it in L2 or on its way
  kernel.add_exit();
  const Run done = run(kernel);
  const std::vector<Cycle> first = done.heard.cycles();
  CHECK(std::abs((first.at(1) - first.at(0)) - 680) <= 120);
  const auto& last = done.heard.issues.rbegin()->second;
  CHECK(last.size() == 3);
}

TEST_CASE("a warp that exits with a load under way keeps its slot until the data are there") {
  SyntheticKernel kernel;
  kernel.ctas.x = 2 * 132;  // each SM runs two in turn in the same slot
  kernel.address = [](auto, auto, std::uint64_t cta, auto, int lane) {
    return (std::uint64_t{1} << 32) + cta * 65536 + static_cast<std::uint64_t>(lane) * 4;
  };
  kernel.add_memory(MemoryOp::kLoadGlobal, 4, 2, 0);
  kernel.add_exit();
  const Run done = run(kernel);
  for (const auto& [key, life] : done.heard.life) {
    CHECK(life.second - life.first > 400);  // a DRAM access
  }
}
