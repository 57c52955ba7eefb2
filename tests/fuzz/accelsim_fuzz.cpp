// libFuzzer entry: Accel-Sim text traces from bytes to a trace of ours, its first CTA, and back to text and from there.
// Nothing may crash, hang or report an error without a message; what was imported is good.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "tests/fuzz/run_kernel.h"
#include "traces/trace/accelsim_export.h"
#include "traces/trace/accelsim_import.h"
#include "traces/trace/trace_kernel.h"

using namespace tilesim;
using namespace tilesim::traces;

namespace {

constexpr std::uint64_t kMostInstructions = 20000;

std::string scratch(const char* suffix) {
  return (std::filesystem::temp_directory_path() / ("tilesim-fuzz-" + std::to_string(getpid()) + suffix)).string();
}

/// The trace at `path`, read whole.
std::shared_ptr<const TraceFile> good_trace(const std::string& path) {
  auto trace = TraceFile::open(path);
  std::filesystem::remove(path);
  if (!trace) {
    fuzz::refused("an imported trace does not open", trace.error());
  }
  if (const auto verified = (*trace)->verify(); !verified) {
    fuzz::refused("an imported trace is not good", verified.error());
  }
  return *trace;
}

void run_first_cta(const isa::KernelStream& kernel) {
  const auto cta = kernel.open(0, nullptr);
  isa::DynamicInstruction executed;
  for (int warp = 0; warp < cta->warp_count(); ++warp) {
    while (!cta->warp(warp).exited()) {
      if (!cta->warp(warp).step(executed)) {
        fuzz::refused("an imported trace does not run", cta->warp(warp).error());
      }
    }
  }
}

/// What is written as text is read again, with as many instructions.
void go_round(const std::shared_ptr<const TraceFile>& trace) {
  static const std::string kText = scratch(".traceg");
  static const std::string kOut = scratch(".again");
  const TraceKernel kernel(trace);
  auto sink = TextSink::create(kText);
  auto done = sink ? (*sink)->write(accelsim_header(trace->program(), trace->launch()))
                   : Result<void>(tl::unexpected<Error>(sink.error()));
  for (std::uint64_t cta = 0; done && cta < trace->ctas().size(); ++cta) {
    done = export_cta(kernel, cta, {}, **sink);
  }
  done = done ? (*sink)->finish() : done;
  if (!done) {
    fuzz::refused("an imported trace is not written as text", done.error());
  }
  const auto lines = TextSource::open(kText);
  const auto again = lines ? import_accelsim(**lines, kOut) : tl::unexpected<Error>(lines.error());
  std::filesystem::remove(kText);
  if (!again) {
    fuzz::refused("what was written as text is not read", again.error());
  }
  if (good_trace(kOut)->instructions() != trace->instructions()) {
    fuzz::refused("instructions are lost in the text", {});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string kOut = scratch("");
  const auto source = TextSource::of({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (const auto imported = import_accelsim(*source, kOut); !imported) {
    fuzz::expect_message(imported.error());
    return 0;
  }
  const auto trace = good_trace(kOut);
  run_first_cta(TraceKernel(trace));
  if (trace->instructions() < kMostInstructions && trace->program().instructions.size() < kMostInstructions) {
    go_round(trace);
  }
  return 0;
}
