// Speed of the SASS emulator in warp instructions per second of CPU time, on one thread: every step (as a detailed SM
// pulls them), steps to global accesses only (as a request generator does), and trips skipped without timing. Counted
// are all instructions of the warps (items_per_second), and those alone at which the emulator has something to do,
// which are a few in a hundred of a GEMM's (slice_per_second).
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "traces/emulator/main_loop.h"
#include "traces/emulator/sass_kernel.h"
#include "traces/sass/decoder.h"

namespace tilesim::traces {
namespace {

struct Case {
  const char* name;
  std::uint32_t tile_m;
  std::uint32_t tile_n;
  std::uint64_t shared_bytes;
  std::uint32_t threads = 256;
  std::uint64_t element_bytes = 4;  // of A and B
};
constexpr Case kCases[] = {{"sgemm_32_32_32_2_2_s1_p0", 32, 32, 8192},
                           {"sgemm_64_64_16_4_4_s2_p0", 64, 64, 16384},
                           {"sgemm_128_128_8_8_8_s1_p0", 128, 128, 8192},
                           {"sgemm_128_128_8_8_8_s2_p4", 128, 128, 16640},
                           {"sgemm_128_128_16_8_8_s2_p0", 128, 128, 32768},
                           {"hgemm_64_64_32_32_32_s3", 64, 64, 30720, 128, 2},
                           {"hgemm_128_128_32_64_32_s3", 128, 128, 61440, 256, 2},
                           {"hgemm_128_256_32_64_64_s3", 128, 256, 92160, 256, 2}};
constexpr std::uint32_t kSize = 2048;

std::unique_ptr<SassKernel> open_case(const Case& chosen, std::string& problem) {
  const auto listing = read_listing(fmt::format("{}/{}.sass", TILESIM_CALIBRATION_FOLDER, chosen.name));
  auto decoded = listing ? decode_kernel(listing->kernels.front()) : tl::unexpected<Error>(listing.error());
  if (!decoded) {
    problem = decoded.error().message;
    return nullptr;
  }
  LaunchParameters launch;
  launch.grid = {kSize / chosen.tile_n, kSize / chosen.tile_m, 1};
  launch.block = {chosen.threads, 1, 1};
  launch.shared_bytes = chosen.shared_bytes;
  constexpr std::uint64_t kElements = std::uint64_t{kSize} * kSize;
  launch.arguments = parse_arguments(fmt::format("i32:{0},i32:{0},i32:{0},ptr:{1},ptr:{1},ptr:{2}", kSize,
                                                 chosen.element_bytes * kElements, 4 * kElements))
                         .value();
  auto created = SassKernel::create(std::move(*decoded), std::move(launch));
  if (!created) {
    problem = created.error().message;
    return nullptr;
  }
  return std::move(*created);
}

struct Counts {
  std::uint64_t all = 0;
  std::uint64_t slice = 0;  ///< that compute a value, an address or where control goes
};

// Instructions that one CTA executes.
Counts count(const SassKernel& kernel) {
  const auto cta = kernel.open(0, nullptr);
  isa::DynamicInstruction instruction;
  Counts counts;
  for (int w = 0; w < cta->warp_count(); ++w) {
    while (!cta->warp(w).exited() && cta->warp(w).step(instruction)) {
      ++counts.all;
      counts.slice += kernel.micro_program().steps[instruction.index].action != Action::kNothing ? 1 : 0;
    }
  }
  return counts;
}

template <class Prepare, class Run>
void measure(benchmark::State& state, Prepare prepare, Run run) {
  const Case& chosen = kCases[static_cast<std::size_t>(state.range(0))];
  std::string problem;
  const auto kernel = open_case(chosen, problem);
  state.SetLabel(chosen.name);
  if (kernel == nullptr) {
    state.SkipWithError(problem.c_str());
    return;
  }
  const Counts counts = count(*kernel);
  prepare(*kernel);
  std::unique_ptr<isa::CtaStream> cta;
  std::uint64_t id = 0;
  for (auto _ : state) {
    cta = kernel->open(id++ % kernel->grid().count(), std::move(cta));
    for (int w = 0; w < cta->warp_count(); ++w) {
      run(*kernel, *cta, w);
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * counts.all));
  state.counters["slice_per_second"] =
      benchmark::Counter(static_cast<double>(state.iterations() * counts.slice), benchmark::Counter::kIsRate);
}

void step(benchmark::State& state) {
  measure(
      state, [](SassKernel&) {},
      [](const SassKernel&, isa::CtaStream& cta, int w) {
        isa::DynamicInstruction instruction;
        while (!cta.warp(w).exited() && cta.warp(w).step(instruction)) {
          benchmark::DoNotOptimize(instruction.active_mask);
        }
      });
}

void step_to_global(benchmark::State& state) {
  measure(
      state, [](SassKernel&) {},
      [](const SassKernel& kernel, isa::CtaStream& cta, int w) {
        isa::DynamicInstruction instruction;
        while (!cta.warp(w).exited() && cta.warp(w).step_to_global(kernel.program(), instruction)) {
          benchmark::DoNotOptimize(instruction.active_mask);
        }
      });
}

// All but the first and the last trips of the main loop are skipped; counted as if executed.
void skip(benchmark::State& state) {
  measure(
      state,
      [](SassKernel& kernel) {
        const auto loop = find_main_loop(kernel).value().value();
        static_cast<void>(kernel.set_trip_skip(TripSkip{loop.branch, 1, loop.trips - 2}));
      },
      [](const SassKernel&, isa::CtaStream& cta, int w) {
        isa::DynamicInstruction instruction;
        while (!cta.warp(w).exited() && cta.warp(w).step(instruction)) {
          benchmark::DoNotOptimize(instruction.active_mask);
        }
      });
}

BENCHMARK(step)->DenseRange(0, 7);
BENCHMARK(step_to_global)->DenseRange(0, 7);
BENCHMARK(skip)->DenseRange(0, 7);

}  // namespace
}  // namespace tilesim::traces

BENCHMARK_MAIN();
