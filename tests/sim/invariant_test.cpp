// Rules that hold for every run: warp states tile each warp's life, their sum is the resident time, runs repeat
// exactly, and the engine that skips idle cycles does what a stepper that visits every cycle does.
#include <rapidcheck.h>

#include <random>

#include "tests/sim/probe.h"

using namespace tilesim;
using namespace tilesim::sim;
using namespace tilesim::sim::testing;

namespace {

/// A random kernel: pipes, loads and stores of both memories with scoreboards, barriers, a loop.
SyntheticKernel random_kernel(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&random](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  SyntheticKernel kernel;
  kernel.trips = 1 + static_cast<std::uint64_t>(below(3));
  kernel.ctas.x = static_cast<std::uint32_t>(1 + below(6));
  kernel.threads.x = static_cast<std::uint32_t>(32 * (1 + below(8)));
  const std::uint64_t stride = std::uint64_t{4} << below(5);
  kernel.address = [stride](std::uint32_t index, std::uint64_t trip, std::uint64_t cta, int warp, int lane) {
    return (std::uint64_t{1} << 20) + index * 65536 + trip * 4096 + cta * 1024 +
           static_cast<std::uint64_t>(warp) * 128 + static_cast<std::uint64_t>(lane) * stride;
  };
  const isa::Pipe pipes[] = {isa::Pipe::kFma,    isa::Pipe::kFmaHeavy, isa::Pipe::kFmaWide,
                             isa::Pipe::kAlu,    isa::Pipe::kUniform,  isa::Pipe::kFp64,
                             isa::Pipe::kTensor, isa::Pipe::kNone,     isa::Pipe::kHalf};
  const int count = 5 + below(40);
  for (int i = 0; i < count; ++i) {
    const int kind = below(10);
    isa::Instruction* inst = nullptr;
    if (kind < 5) {
      inst = &kernel.add(pipes[below(9)], 1 + below(6));
      for (std::uint8_t slot = 0; slot < 3; ++slot) {
        inst->reads[slot] = {static_cast<std::uint16_t>(below(32)), slot, below(3) == 0};
      }
      inst->read_count = static_cast<std::uint8_t>(below(4));
      inst->yield = below(8) == 0;
    } else if (kind < 7) {
      inst = &kernel.add_memory(below(2) == 0 ? isa::MemoryOp::kLoadShared : isa::MemoryOp::kLoadGlobal, 4,
                                1 + below(2), below(6));
    } else if (kind == 7) {
      inst = &kernel.add_memory(below(2) == 0 ? isa::MemoryOp::kStoreShared : isa::MemoryOp::kStoreGlobal, 4,
                                2 + below(3), 7);
      inst->read_scoreboard = static_cast<std::uint8_t>(below(6));
    } else if (kind == 8) {
      inst = &kernel.add(below(2) == 0 ? isa::Pipe::kS2r : isa::Pipe::kAdu, 2);
      inst->write_scoreboard = static_cast<std::uint8_t>(below(6));
    } else {
      inst = &kernel.add_control(isa::ControlOp::kBarrier, 5);
    }
    inst->wait_mask = static_cast<std::uint8_t>(below(3) == 0 ? random() & 63U : 0U);
  }
  kernel.add_control(isa::ControlOp::kBranch, 5).branch_target = 0;
  kernel.add_exit();
  return kernel;
}

}  // namespace

TEST_CASE("the intervals of each warp tile its life; states sum to resident cycles") {
  const bool holds = rc::check([](unsigned seed) {
    const Run done = run(random_kernel(seed), 1 + static_cast<int>(seed % 2));
    std::uint64_t states = 0;
    std::uint64_t resident = 0;
    for (const SmCounters& sm : done.result.sms) {
      resident += sm.warp_cycles;
      for (const std::uint64_t cycles : sm.state_cycles) {
        states += cycles;
      }
    }
    RC_ASSERT(states == resident);
    for (const auto& [key, life] : done.heard.life) {
      Cycle at = life.first;
      for (const Recorder::Interval& interval : done.heard.states.at(key)) {
        RC_ASSERT(interval.begin == at);
        RC_ASSERT(interval.end > interval.begin);
        at = interval.end;
      }
      RC_ASSERT(at == life.second);
    }
  });
  CHECK(holds);
}

TEST_CASE("each warp issues its instructions in order, one per cycle and sub-partition") {
  const bool holds = rc::check([](unsigned seed) {
    const SyntheticKernel kernel = random_kernel(seed);
    const Run done = run(kernel);
    const std::uint64_t per_warp = kernel.trips * (kernel.code.instructions.size() - 1) + 1;
    for (const auto& [key, issues] : done.heard.issues) {
      RC_ASSERT(issues.size() == per_warp);
      for (std::size_t i = 1; i < issues.size(); ++i) {
        RC_ASSERT(issues[i].cycle > issues[i - 1].cycle);
      }
    }
  });
  CHECK(holds);
}

TEST_CASE("the engine that skips idle cycles agrees with one that visits every cycle: same events, same cycles") {
  const bool holds = rc::check([](unsigned seed) {
    const SyntheticKernel kernel = random_kernel(seed);
    const Run fast = run(kernel, 2);
    const Run slow = run(kernel, 2, true);
    RC_ASSERT(fast.heard.issues == slow.heard.issues);
    RC_ASSERT(fast.heard.states == slow.heard.states);
    RC_ASSERT(fast.heard.life == slow.heard.life);
    RC_ASSERT(fast.result.elapsed_cycles == slow.result.elapsed_cycles);
    for (std::size_t sm = 0; sm < slow.result.sms.size(); ++sm) {
      RC_ASSERT(fast.result.sms[sm].state_cycles == slow.result.sms[sm].state_cycles);
    }
  });
  CHECK(holds);
}

TEST_CASE("the same input gives the same result, with and without a listener") {
  const SyntheticKernel kernel = random_kernel(7);
  const Run a = run(kernel);
  const Run b = run(kernel);
  CHECK(a.heard.issues == b.heard.issues);
  CHECK(a.result.elapsed_cycles == b.result.elapsed_cycles);
}

TEST_CASE("the two engines agree on a machine whose units answer in the same cycle") {
  auto gpu = model::find_gpu_spec("h200");
  REQUIRE(gpu.has_value());
  for (const char* key : {"barrier.base_cycles", "barrier.cycles_per_warp", "barrier.register_cycles",
                          "barrier.release_cycles", "barrier.release_skew_cycles", "cta.launch_cycles",
                          "cta.second_cta_cycles", "icache.cold_latency", "pipe.constant_miss_latency"}) {
    REQUIRE(model::override_gpu_spec(*gpu, key, "0").has_value());
  }
  const bool holds = rc::check([&gpu](unsigned seed) {
    const SyntheticKernel kernel = random_kernel(seed);
    SimulationOptions options;
    options.ctas_per_sm = 2;
    options.l1_bytes = 128 * 1024;
    const auto fast = simulate(*gpu, kernel, options);
    options.every_cycle = true;
    const auto slow = simulate(*gpu, kernel, options);
    RC_ASSERT(fast.has_value());
    RC_ASSERT(slow.has_value());
    RC_ASSERT(*fast == *slow);
  });
  CHECK(holds);
}

TEST_CASE("any number of host threads gives the same result to the last counter") {
  const auto gpu = model::find_gpu_spec("h200");
  REQUIRE(gpu.has_value());
  const bool holds = rc::check([&gpu](unsigned seed) {
    SyntheticKernel kernel = random_kernel(seed);
    kernel.ctas.x = 133 + seed % 70;  // two CTAs on some SMs
    SimulationOptions options;
    options.l1_bytes = 128 * 1024;
    const auto alone = simulate(*gpu, kernel, options);
    RC_ASSERT(alone.has_value());
    for (const int threads : {2, 3, 7}) {
      options.threads = threads;
      const auto together = simulate(*gpu, kernel, options);
      RC_ASSERT(together.has_value());
      RC_ASSERT(*together == *alone);
    }
  });
  CHECK(holds);
}
