// What the kernels of the corpus compute, for every architecture, on shapes that divide their tiles and on shapes that
// do not.
#include <fmt/format.h>

#include <iostream>
#include <map>

#include "tests/support/catch.h"
#include "tests/traces/corpus_launch.h"
#include "traces/emulator/functional.h"

namespace tilesim::traces {
namespace {

struct Outcome {
  bool decoded = false;
  bool emulated = false;  // timing mode executes as many instructions as functional mode
  bool checked = false;   // C is the product
  std::string problem;
};

Outcome failed(Outcome outcome, const Error& error) {
  outcome.problem = error.message + " " + error.where;
  return outcome;
}

void run(const DecodedKernel& decoded, const CorpusLaunch& launch, const test::CorpusShape& shape, Outcome& outcome) {
  auto memory = DeviceMemory::allocate(launch.launch().arguments);
  REQUIRE(memory.has_value());
  const auto executed = run_functional(decoded, launch.launch(), *memory);
  if (!executed) {
    outcome = failed({true, false, false, {}}, executed.error());
    return;
  }
  if (const std::size_t wrong = launch.wrong_elements(*memory); wrong != 0) {
    outcome.checked = false;
    outcome.problem = fmt::format("{} wrong elements at {} x {} x {}", wrong, shape.m, shape.n, shape.k);
  }
  const auto kernel = SassKernel::create(decoded, launch.launch());
  const auto timed = kernel ? run_streams(**kernel) : tl::unexpected<Error>(kernel.error());
  if (!timed || *timed != *executed) {
    outcome.emulated = false;
    outcome.problem = timed ? fmt::format("timing mode executes {} instructions, functional mode {}", *timed, *executed)
                            : timed.error().message + " " + timed.error().where;
  }
}

// A multiple of `step` that is at least `size`.
int up(int size, int step) { return (size + step - 1) / step * step; }

Outcome outcome_of(const test::CorpusKernel& kernel, int architecture) {
  const CubinKernel code = corpus_code(kernel, architecture);
  const auto decoded = decode_kernel(code);
  if (!decoded) {
    return failed({}, decoded.error());
  }
  Outcome outcome{true, true, true, {}};
  const auto [m, n, k] = kernel.multiple;
  const test::CorpusShape shapes[] = {{128, 128, 64, 3, 3}, {up(61, m), up(75, n), up(37, k), 3, 3}};
  for (const test::CorpusShape& shape : shapes) {
    const CorpusLaunch launch(kernel, shape, code.static_shared_bytes);
    CHECK(launch.launch().arguments.block.size() == code.parameter_bytes);
    run(*decoded, launch, shape, outcome);
  }
  return outcome;
}

}  // namespace

TEST_CASE("every kernel of the corpus decodes, is emulated and computes its product on every architecture") {
  std::cout << fmt::format("{:24}", "kernel");
  for (const int architecture : test::kCorpusArchitectures) {
    std::cout << fmt::format(" sm_{:<2} decoded emulated checked", architecture);
  }
  const auto mark = [](bool good) { return good ? "yes" : "NO"; };
  for (const test::CorpusKernel& kernel : test::corpus_kernels()) {
    std::cout << fmt::format("\n{:24}", kernel.name);
    for (const int architecture : test::kCorpusArchitectures) {
      const Outcome outcome = outcome_of(kernel, architecture);
      std::cout << fmt::format("       {:7} {:8} {:7}", mark(outcome.decoded), mark(outcome.emulated),
                               mark(outcome.checked))
                << std::flush;
      INFO(kernel.name << " sm_" << architecture << ": " << outcome.problem);
      CHECK((outcome.decoded && outcome.emulated && outcome.checked));
    }
  }
  std::cout << '\n';
}

}  // namespace tilesim::traces
