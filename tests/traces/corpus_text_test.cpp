// The kernels of the corpus through Accel-Sim's text: every instruction that nvcc makes of GEMMs is written and read.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "model/gpu_spec.h"
#include "sim/simulate.h"
#include "tests/support/catch.h"
#include "tests/traces/corpus_launch.h"
#include "traces/emulator/sass_kernel.h"
#include "traces/trace/accelsim_export.h"
#include "traces/trace/accelsim_import.h"
#include "traces/trace/recorder.h"
#include "traces/trace/trace_kernel.h"

namespace tilesim::traces {
namespace {

struct ScratchFolder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tilesim-corpus-text-" + std::to_string(getpid()));
  ScratchFolder() { std::filesystem::create_directories(path); }
  ~ScratchFolder() { std::filesystem::remove_all(path); }
};

/// The first CTA, recorded; all where they wait for each other.
std::shared_ptr<const TraceFile> recorded(const SassKernel& kernel, const std::filesystem::path& path) {
  auto writer = TraceWriter::create(path);
  REQUIRE(writer.has_value());
  std::vector<std::uint64_t> ctas(kernel.ordered() ? static_cast<std::size_t>(kernel.grid().count()) : 1);
  for (std::size_t i = 0; i < ctas.size(); ++i) {
    ctas[i] = i;
  }
  const auto done =
      record_together(kernel, ctas, ctas, *writer, [](std::size_t /*ended*/) -> Result<void> { return {}; });
  INFO((done ? "" : done.error().message));
  REQUIRE(done.has_value());
  LaunchRecord launch;
  launch.kernel = kernel.program().name;
  launch.code = "compiled";
  launch.grid = kernel.grid();
  launch.block = kernel.block();
  launch.registers = 64;
  REQUIRE(writer->finish(kernel.program(), launch).has_value());
  auto trace = TraceFile::open(path);
  REQUIRE(trace.has_value());
  return *trace;
}

}  // namespace

TEST_CASE("kernels of the corpus go through Accel-Sim's text on every architecture, but for arrivals at barriers") {
  const ScratchFolder folder;
  const std::string text = folder.path / "kernel-1.traceg";
  for (const test::CorpusKernel& kernel : test::corpus_kernels()) {
    for (const int architecture : test::kCorpusArchitectures) {
      INFO(kernel.name << " sm_" << architecture);
      const CubinKernel code = corpus_code(kernel, architecture);
      const auto decoded = decode_kernel(code);
      REQUIRE(decoded.has_value());
      const CorpusLaunch launch(kernel, {128, 128, 32, 2, 2}, code.static_shared_bytes);
      const auto streams = SassKernel::create(*decoded, launch.launch());
      REQUIRE(streams.has_value());
      const auto trace = recorded(**streams, folder.path / "kernel.tst");
      auto sink = TextSink::create(text);
      REQUIRE(sink.has_value());
      REQUIRE((*sink)->write(accelsim_header(trace->program(), trace->launch())).has_value());
      REQUIRE(export_cta(TraceKernel(trace), 0, {}, **sink).has_value());
      REQUIRE((*sink)->finish().has_value());
      const auto lines = TextSource::open(text);
      REQUIRE(lines.has_value());
      const auto imported = import_accelsim(**lines, folder.path / "imported.tst");
      const auto& code_of_trace = trace->program().instructions;
      if (std::any_of(code_of_trace.begin(), code_of_trace.end(), [](const auto& in) { return in.barrier_arrives; })) {
        REQUIRE_FALSE(imported.has_value());
        CHECK(imported.error().message.starts_with("BAR.ARV arrives at a barrier of a part of the CTA"));
        continue;
      }
      INFO((imported ? "" : imported.error().message + " " + imported.error().where));
      REQUIRE(imported.has_value());
      const auto again = TraceFile::open(folder.path / "imported.tst");
      REQUIRE(again.has_value());
      CHECK((*again)->ctas()[0].instructions == trace->ctas()[0].instructions);
      // What the machine makes of an instruction hangs on its pipe and access.
      const auto& own = trace->program().instructions;
      const auto& rebuilt = (*again)->program().instructions;
      std::size_t different = 0;
      for (std::size_t i = 0; i < rebuilt.size(); ++i) {
        const bool elsewhere = own[i].control == isa::ControlOp::kNone && own[i].pipe == isa::Pipe::kBranch &&
                               rebuilt[i].control == isa::ControlOp::kBranch;  // calls and jumps by register
        const bool executed = (*again)->program().text[i] != "(not executed)";
        if (executed &&
            (own[i].pipe != rebuilt[i].pipe || own[i].memory != rebuilt[i].memory ||
             own[i].access_bytes != rebuilt[i].access_bytes || (own[i].control != rebuilt[i].control && !elsewhere) ||
             own[i].flops_per_lane != rebuilt[i].flops_per_lane)) {
          ++different;
          UNSCOPED_INFO(trace->program().text[i]
                        << " pipe " << static_cast<int>(own[i].pipe) << " " << static_cast<int>(rebuilt[i].pipe)
                        << " memory " << static_cast<int>(own[i].memory) << " " << static_cast<int>(rebuilt[i].memory));
        }
      }
      CHECK(different == 0);
    }
  }
}

TEST_CASE("a kernel whose registers name its barriers takes as long from its trace") {
  const ScratchFolder folder;
  const auto gpu = model::find_gpu_spec("h200");
  REQUIRE(gpu.has_value());
  for (const test::CorpusKernel& kernel : test::corpus_kernels()) {
    if (kernel.name != "sgemm_named_barriers" && kernel.name != "sgemm_half_barriers") {
      continue;
    }
    INFO(kernel.name);
    const CubinKernel code = corpus_code(kernel);
    const CorpusLaunch launch(kernel, {kernel.name == "sgemm_half_barriers" ? 16 : 32, 32, 320, 1, 1},
                              code.static_shared_bytes);
    const auto streams = SassKernel::create(*decode_kernel(code), launch.launch());
    REQUIRE(streams.has_value());
    const auto trace = recorded(**streams, folder.path / "kernel.tst");
    REQUIRE(trace->launch().grid.count() == 1);
    sim::SimulationOptions options;
    options.l1_bytes = 32 * 1024;
    const auto direct = sim::simulate(*gpu, **streams, options);
    const auto replayed = sim::simulate(*gpu, TraceKernel(trace), options);
    REQUIRE(direct.has_value());
    REQUIRE(replayed.has_value());
    CHECK(direct->elapsed_cycles > 1000);
    CHECK(replayed->elapsed_cycles == direct->elapsed_cycles);
    CHECK(replayed->sms[0].instructions == direct->sms[0].instructions);
  }
}

}  // namespace tilesim::traces
