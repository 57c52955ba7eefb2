// Traces: what is read is what was recorded, loops are kept, damage is noticed.
#include <rapidcheck.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

#include "tests/support/catch.h"
#include "tests/traces/cubin_gemm.h"
#include "tests/traces/test_kernels.h"
#include "traces/emulator/main_loop.h"
#include "traces/generator/tile_kernel.h"
#include "traces/trace/recorder.h"
#include "traces/trace/trace_kernel.h"

namespace tilesim::traces {
namespace {

/// A file that goes away with the test.
struct ScratchFile {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("tilesim-trace-" + std::to_string(getpid()));
  ~ScratchFile() { std::filesystem::remove(path); }
};

LaunchRecord record_for(const isa::KernelStream& kernel) {
  LaunchRecord launch;
  launch.kernel = "test";
  launch.code = "compiled";
  launch.grid = kernel.grid();
  launch.block = kernel.block();
  launch.registers = 32;
  return launch;
}

std::uint64_t record(const isa::KernelStream& kernel, const std::vector<std::uint64_t>& ctas,
                     const std::filesystem::path& path) {
  auto writer = TraceWriter::create(path);
  REQUIRE(writer.has_value());
  for (const std::uint64_t cta : ctas) {
    const auto done = record_cta(kernel, cta, cta, *writer);
    INFO((done ? "" : done.error().message));
    REQUIRE(done.has_value());
  }
  REQUIRE(writer->finish(kernel.program(), record_for(kernel)).has_value());
  return writer->bytes();
}

std::shared_ptr<const TraceFile> open(const std::filesystem::path& path) {
  auto trace = TraceFile::open(path);
  INFO((trace ? "" : trace.error().message));
  REQUIRE(trace.has_value());
  return *trace;
}

/// True if both did the same; addresses count for active lanes of memory instructions.
bool same(const isa::DynamicInstruction& a, const isa::DynamicInstruction& b, const isa::Program& program) {
  if (a.index != b.index || a.active_mask != b.active_mask || a.branch_taken != b.branch_taken) {
    return false;
  }
  for (std::size_t lane = 0; lane < isa::kWarpSize; ++lane) {
    if (program.instructions[a.index].memory != isa::MemoryOp::kNone && (a.active_mask >> lane & 1U) != 0 &&
        a.addresses[lane] != b.addresses[lane]) {
      return false;
    }
  }
  return true;
}

using Stepper = std::function<bool(isa::WarpStream&, isa::DynamicInstruction&)>;

/// Instructions until the first that differs, over all warps of a CTA; all of them if none does.
std::uint64_t agreeing(isa::CtaStream& expected, isa::CtaStream& got, const isa::Program& program,
                       const Stepper& step) {
  REQUIRE(expected.warp_count() == got.warp_count());
  std::uint64_t count = 0;
  isa::DynamicInstruction a;
  isa::DynamicInstruction b;
  for (int w = 0; w < expected.warp_count(); ++w) {
    while (!expected.warp(w).exited() || !got.warp(w).exited()) {
      if (expected.warp(w).exited() != got.warp(w).exited() || !step(expected.warp(w), a) || !step(got.warp(w), b) ||
          !same(a, b, program) ||
          (!expected.warp(w).exited() && expected.warp(w).next_index() != got.warp(w).next_index())) {
        FAIL("warp " << w << " differs after " << count << " instructions, at instruction " << a.index << " and "
                     << b.index << "; " << got.warp(w).error().message);
      }
      ++count;
    }
    CHECK(got.warp(w).executed() == expected.warp(w).executed());
  }
  return count;
}

const Stepper kStep = [](isa::WarpStream& warp, isa::DynamicInstruction& out) { return warp.step(out); };

Stepper to_global(const isa::Program& program) {
  return [&program](isa::WarpStream& warp, isa::DynamicInstruction& out) {
    out = {};
    const bool fine = warp.step_to_global(program, out);
    out.index = out.active_mask == 0 ? 0 : out.index;
    out.branch_taken = false;
    return fine;
  };
}

/// Random code of a warp: straight stretches, branches back and forth, accesses that advance or jump about.
struct RandomWarp {
  isa::Program program;
  std::vector<isa::DynamicInstruction> executed;
};

RandomWarp random_warp(std::mt19937& generator) {
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(generator()) % limit; };
  RandomWarp warp;
  warp.program.name = "random";
  const std::uint32_t size = 3 + below(40);
  warp.program.instructions.resize(size);
  warp.program.text.resize(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    isa::Instruction& inst = warp.program.instructions[i];
    const std::uint32_t kind = below(8);
    if (kind < 2) {
      inst.memory = kind == 0 ? isa::MemoryOp::kLoadShared : isa::MemoryOp::kLoadGlobal;
      inst.access_bytes = 4;
    } else if (kind == 2 && i > 0) {
      inst.control = isa::ControlOp::kBranch;
      inst.branch_target = below(size);
    }
  }
  std::vector<std::uint64_t> address(size, 1U << 20);
  std::vector<std::uint32_t> trips(size);
  std::uint32_t at = 0;
  while (at < size && warp.executed.size() < 4000) {
    const isa::Instruction& inst = warp.program.instructions[at];
    isa::DynamicInstruction one;
    one.index = at;
    one.active_mask = below(50) == 0 ? static_cast<std::uint32_t>(generator()) : ~0U;
    if (inst.memory != isa::MemoryOp::kNone) {
      address[at] += at % 3 == 0 ? 128 : below(4) == 0 ? below(1000) : 64;
      for (std::uint64_t lane = 0; lane < isa::kWarpSize; ++lane) {
        one.addresses[lane] = address[at] + lane * (at % 2 == 0 ? 4 : 16);
      }
    }
    one.branch_taken = inst.control == isa::ControlOp::kBranch && ++trips[at] % (2 + at % 20) != 0;
    warp.executed.push_back(one);
    at = one.branch_taken ? inst.branch_target : at + 1;
  }
  return warp;
}

}  // namespace

TEST_CASE("what a reader would refuse is not written", "[trace]") {
  const ScratchFile scratch;
  const auto kernel = open_kernel(sgemm_kernels()[0], {32, 32, 320});
  auto writer = TraceWriter::create(scratch.path);
  REQUIRE(writer.has_value());
  LaunchRecord launch = record_for(*kernel);
  launch.registers = 256;
  const auto done = writer->finish(kernel->program(), launch);
  REQUIRE(!done.has_value());
  CHECK(done.error().kind == ErrorKind::kUsage);
  CHECK(!std::filesystem::exists(scratch.path));
}

TEST_CASE("a trace gives back what nvcc's kernels execute", "[trace]") {
  const ScratchFile scratch;
  for (const TestKernel& test : sgemm_kernels()) {
    INFO(test.name);
    const auto kernel = open_kernel(test, {test.bm * 2, test.bn * 2, test.bk * 40});
    record(*kernel, {0, 1, 2, 3}, scratch.path);
    const auto trace = open(scratch.path);
    CHECK(trace->whole_grid());
    CHECK(trace->verify().has_value());
    TraceKernel replayed(trace);
    CHECK(replayed.program().text == kernel->program().text);
    std::uint64_t instructions = 0;
    for (const std::uint64_t cta : {0, 1, 2, 3}) {
      instructions += agreeing(*kernel->open(cta, nullptr), *replayed.open(cta, nullptr), kernel->program(), kStep);
      agreeing(*kernel->open(cta, nullptr), *replayed.open(cta, nullptr), kernel->program(),
               to_global(kernel->program()));
    }
    CHECK(trace->instructions() == instructions);

    const auto loop = find_main_loop(*kernel);
    REQUIRE(loop.has_value());
    for (const TripSkip skip : {TripSkip{(*loop)->branch, 4, 20}, TripSkip{(*loop)->branch, 1, 1},
                                TripSkip{(*loop)->branch, 9, 1000}, TripSkip{(*loop)->branch, 3, 36}}) {
      REQUIRE(kernel->set_trip_skip(skip).has_value());
      replayed.set_trip_skip(skip);
      agreeing(*kernel->open(2, nullptr), *replayed.open(2, nullptr), kernel->program(), kStep);
      agreeing(*kernel->open(2, nullptr), *replayed.open(2, nullptr), kernel->program(), to_global(kernel->program()));
    }
  }
}

TEST_CASE("a trace gives back what the generator's kernels execute", "[trace]") {
  const ScratchFile scratch;
  model::TileConfig config;
  config.bm = 64;
  config.bn = 64;
  config.bk = 8;
  config.tm = 8;
  config.tn = 4;
  config.stages = 3;
  config.copy = model::CopyPath::kAsync;
  model::Problem problem;
  problem.m = 100;
  problem.n = 130;
  problem.k = 300;
  const auto kernel = TileKernel::create(config, problem);
  REQUIRE(kernel.has_value());
  record(**kernel, {0, 3, 5}, scratch.path);
  const auto trace = open(scratch.path);
  CHECK_FALSE(trace->whole_grid());
  const TraceKernel replayed(trace);
  CHECK(replayed.grid().x == 3);
  std::unique_ptr<isa::CtaStream> recycled;
  for (const std::uint64_t i : {0, 1, 2}) {
    recycled = replayed.open(i, std::move(recycled));
    CHECK(agreeing(*(*kernel)->open(trace->ctas()[i].id, nullptr), *recycled, (*kernel)->program(), kStep) > 10000);
  }
}

TEST_CASE("CTAs that wait for later ones are recorded side by side, without their waiting", "[trace]") {
  const ScratchFile scratch;
  const CubinKernel cubin = only_kernel(std::string(TILESIM_TEST_CUBINS) + "/waits.cubin");
  const auto decoded = decode_kernel(cubin);
  REQUIRE(decoded.has_value());
  LaunchParameters launch;
  launch.grid = {5, 1, 1};
  launch.block = {64, 1, 1};
  launch.arguments = *parse_arguments("ptr:4KiB,ptr:4KiB,ptr:64");
  const auto record = [&](const std::vector<std::uint64_t>& ctas) -> Result<void> {
    const auto kernel = SassKernel::create(*decoded, launch);
    REQUIRE(kernel.has_value());
    CHECK((*kernel)->ordered());
    auto writer = TraceWriter::create(scratch.path);
    REQUIRE(writer.has_value());
    std::size_t ended = 0;
    const auto done = record_together(**kernel, ctas, ctas, *writer, [&ended](std::size_t n) -> Result<void> {
      CHECK(n == ++ended);
      return {};
    });
    return done ? writer->finish((*kernel)->program(), record_for(**kernel)) : done;
  };
  REQUIRE(record({0, 1, 2, 3, 4}).has_value());
  const auto trace = TraceFile::open(scratch.path);
  REQUIRE(trace.has_value());
  REQUIRE((*trace)->verify().has_value());
  const TraceKernel kernel(*trace);
  for (std::uint64_t cta = 0; cta < 5; ++cta) {
    CHECK((*trace)->ctas()[cta].id == cta);
    const auto stream = kernel.open(cta, nullptr);
    isa::DynamicInstruction executed;
    int polls = 0;
    for (int w = 0; w < 2; ++w) {
      while (!stream->warp(w).exited()) {
        REQUIRE(stream->warp(w).step(executed));
        const bool polling = polls_memory(kernel.program().text[executed.index]);
        polls += polling && executed.active_mask != 0 ? 1 : 0;
        CHECK((!polling || executed.active_mask == 0 || executed.addresses[0] % 64 == 4 * (cta + 1)));
      }
    }
    CHECK(polls == (cta == 4 ? 0 : 2));  // once in vain, once with success
  }
  // The last of three waits for one that does not run.
  const auto endless = record({0, 1, 2});
  REQUIRE_FALSE(endless.has_value());
  CHECK(endless.error().message == "3 CTAs wait for memory that none of them changes.");
  CHECK(endless.error().remedy.find("that all CTAs run that others wait for") != std::string::npos);
}

TEST_CASE("loops stay loops: a longer main loop takes no more room", "[trace]") {
  const ScratchFile scratch;
  for (const TestKernel& test : sgemm_kernels()) {
    INFO(test.name);
    const auto bytes = [&](int trips) {
      return record(*open_kernel(test, {test.bm, test.bn, test.bk * trips}), {0}, scratch.path);
    };
    // Ten times the trips; some numbers grow by a byte.
    CHECK(static_cast<double>(bytes(1000)) < 1.05 * static_cast<double>(bytes(100)));
  }
}

TEST_CASE("any sequence of instructions comes back as it was", "[trace][property]") {
  const ScratchFile scratch;
  const bool holds = rc::check("recorded and read", [&] {
    std::mt19937 generator(*rc::gen::arbitrary<std::uint32_t>());
    const RandomWarp warp = random_warp(generator);
    auto writer = TraceWriter::create(scratch.path);
    RC_ASSERT(writer.has_value());
    writer->begin_cta(0, 1);
    for (const isa::DynamicInstruction& one : warp.executed) {
      RC_ASSERT(writer->add(0, one, warp.program.instructions[one.index]).has_value());
    }
    RC_ASSERT(writer->end_cta().has_value());
    LaunchRecord launch;
    launch.block = {32, 1, 1};
    launch.registers = 1;
    RC_ASSERT(writer->finish(warp.program, launch).has_value());
    const auto trace = TraceFile::open(scratch.path);
    RC_ASSERT(trace.has_value());
    const auto cta = TraceKernel(*trace).open(0, nullptr);
    isa::DynamicInstruction got;
    for (const isa::DynamicInstruction& one : warp.executed) {
      RC_ASSERT(!cta->warp(0).exited());
      RC_ASSERT(cta->warp(0).step(got));
      RC_ASSERT(same(one, got, warp.program));
    }
    RC_ASSERT(cta->warp(0).exited());
  });
  CHECK(holds);
}

namespace {

std::string read_all(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// The error of opening and reading everything; nothing if all is fine.
std::optional<Error> read_through(const std::filesystem::path& path) {
  const auto trace = TraceFile::open(path);
  if (!trace) {
    return trace.error();
  }
  const auto verified = (*trace)->verify();
  return verified ? std::nullopt : std::optional<Error>(verified.error());
}

}  // namespace

TEST_CASE("a trace that was cut or changed is refused with the offset", "[trace]") {
  const ScratchFile scratch;
  const auto kernel = open_kernel(sgemm_kernels()[0], {32, 32, 320});
  record(*kernel, {0}, scratch.path);
  const std::string whole = read_all(scratch.path);
  REQUIRE_FALSE(read_through(scratch.path).has_value());
  const auto write = [&](const std::string& bytes) { std::ofstream(scratch.path, std::ios::binary) << bytes; };
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 10) {
    write(whole.substr(0, size));
    const auto error = read_through(scratch.path);
    INFO("cut to " << size);
    REQUIRE(error.has_value());
    if (size >= 48) {
      CHECK(error->message.find("at byte " + std::to_string(size)) != std::string::npos);
    }
  }
  for (std::size_t at = 0; at < whole.size(); at += 1 + at / 50) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write(changed);
    INFO("changed at " << at);
    const auto error = read_through(scratch.path);
    REQUIRE(error.has_value());
    CHECK_FALSE(error->remedy.empty());
  }
}

TEST_CASE("a stream that meets damage ends with file and offset", "[trace]") {
  const ScratchFile scratch;
  const auto kernel = open_kernel(sgemm_kernels()[0], {32, 32, 320});
  record(*kernel, {0}, scratch.path);
  std::string bytes = read_all(scratch.path);
  bytes[100] = static_cast<char>(bytes[100] ^ 1);  // in the first block, which begins at 16
  std::ofstream(scratch.path, std::ios::binary) << bytes;
  const auto cta = TraceKernel(open(scratch.path)).open(0, nullptr);
  isa::DynamicInstruction out;
  CHECK_FALSE(cta->warp(0).step(out));
  CHECK(cta->warp(0).error().message == "The trace is damaged at byte 16: the checksum of the block does not fit.");
  CHECK(cta->warp(0).error().where == scratch.path.string());
}

TEST_CASE("traces of other versions are refused by their version", "[trace]") {
  const ScratchFile scratch;
  record(*open_kernel(sgemm_kernels()[0], {32, 32, 320}), {0}, scratch.path);
  std::string bytes = read_all(scratch.path);
  for (const auto& [version, remedy] : {std::pair{kTraceVersion + 1, "Use a newer TileSim."},
                                        {kTraceVersion - 1, "Record it anew, or use an older TileSim."}}) {
    bytes[8] = static_cast<char>(version);
    std::ofstream(scratch.path, std::ios::binary) << bytes;
    const auto error = read_through(scratch.path);
    REQUIRE(error.has_value());
    CHECK(error->message.find("version " + std::to_string(version)) != std::string::npos);
    CHECK(error->remedy == remedy);
  }
}

TEST_CASE("an unfinished recording leaves no file", "[trace]") {
  const ScratchFile scratch;
  {
    auto writer = TraceWriter::create(scratch.path);
    REQUIRE(writer.has_value());
    writer->begin_cta(0, 1);
  }
  CHECK_FALSE(std::filesystem::exists(scratch.path));
  CHECK_FALSE(std::filesystem::exists(scratch.path.string() + ".partial"));
  CHECK_FALSE(TraceWriter::create("/no/such/folder/x.tst").has_value());
}

// Addresses at random do not fold: 60 MB of trace that have to pass through a reader with 16 MB to spare. A sanitizer's
// own memory would not fit.
#ifndef __SANITIZE_ADDRESS__
TEST_CASE("a long trace is read in constant memory", "[trace]") {
  const ScratchFile scratch;
  constexpr int kAccesses = 250000;
  constexpr int kWarps = 2;
  isa::Program program;
  program.instructions.resize(2);
  program.text.resize(2);
  program.instructions[0].memory = isa::MemoryOp::kLoadGlobal;
  program.instructions[0].access_bytes = 4;
  program.instructions[1].control = isa::ControlOp::kBranch;
  auto writer = TraceWriter::create(scratch.path);
  REQUIRE(writer.has_value());
  writer->begin_cta(0, kWarps);
  std::mt19937_64 generator(1);
  isa::DynamicInstruction one;
  one.active_mask = ~0U;
  for (int i = 0; i < kAccesses; ++i) {
    for (int w = 0; w < kWarps; ++w) {
      for (std::uint64_t& address : one.addresses) {
        address = generator() & 0xffffffffff;
      }
      one.index = 0;
      one.branch_taken = false;
      REQUIRE(writer->add(w, one, program.instructions[0]).has_value());
      one.index = 1;
      one.branch_taken = true;
      REQUIRE(writer->add(w, one, program.instructions[1]).has_value());
    }
  }
  REQUIRE(writer->end_cta().has_value());
  LaunchRecord launch;
  launch.block = {32 * kWarps, 1, 1};
  launch.registers = 1;
  REQUIRE(writer->finish(program, launch).has_value());
  REQUIRE(writer->bytes() > 60000000);

  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t pages = 0;
    statm >> pages;
    const rlim_t most = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + (16U << 20);
    const rlimit limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    std::uint64_t count = 0;
    const auto trace = TraceFile::open(scratch.path);
    const auto cta = trace ? TraceKernel(*trace).open(0, nullptr) : nullptr;
    for (int w = 0; cta != nullptr && w < kWarps; ++w) {
      while (!cta->warp(w).exited() && cta->warp(w).step(one)) {
        ++count;
      }
    }
    _exit(count == std::uint64_t{2} * kAccesses * kWarps ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
#endif

}  // namespace tilesim::traces
