// libFuzzer entry: Accel-Sim text traces from bytes to a trace of ours, and its first warp. Nothing may crash, hang or
// report an error without a message.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "tests/fuzz/run_kernel.h"
#include "traces/trace/accelsim_import.h"
#include "traces/trace/trace_kernel.h"

using namespace tilesim;
using namespace tilesim::traces;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string kOut =
      (std::filesystem::temp_directory_path() / ("tilesim-fuzz-" + std::to_string(getpid()))).string();
  const auto source = TextSource::of({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (const auto imported = import_accelsim(*source, kOut); !imported) {
    fuzz::expect_message(imported.error());
    return 0;
  }
  // What was imported is a good trace.
  const auto trace = TraceFile::open(kOut);
  std::filesystem::remove(kOut);
  if (!trace || !(*trace)->verify()) {
    std::abort();
  }
  const auto cta = TraceKernel(*trace).open(0, nullptr);
  isa::DynamicInstruction executed;
  for (int warp = 0; warp < cta->warp_count(); ++warp) {
    while (!cta->warp(warp).exited()) {
      if (!cta->warp(warp).step(executed)) {
        std::abort();
      }
    }
  }
  return 0;
}
