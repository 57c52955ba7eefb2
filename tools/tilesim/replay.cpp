// tilesim replay: simulate an nvcc-built kernel from its code and a launch, or from a trace.
#include "tools/lib/replay.h"

#include <fmt/format.h>

#include "tools/reports/kernel_text.h"
#include "tools/reports/replay_json.h"
#include "tools/tilesim/application.h"
#include "tools/tilesim/gpu_flags.h"
#include "tools/tilesim/launch_flags.h"
#include "tools/tilesim/replay_flags.h"

namespace tilesim::cli {

namespace {

const std::string kGroup = "Kernel and launch";

Flag registers_flag() {
  return {"regs", "N", "registers per thread; listing only (default: highest in the code + 3)", kGroup, {}, false};
}

std::vector<Flag> replay_flags() {
  std::vector<Flag> flags = code_flags(kGroup);
  const std::vector<Flag> own{
      registers_flag(),
      carveout_flag(kGroup),
      {"trace", "FILE", "from 'trace record', or Accel-Sim's .traceg: brings kernel and launch", "Instead", {}, false}};
  for (const auto& others : {own, simulation_flags(), gpu_flags(), output_flags()}) {
    flags.insert(flags.end(), others.begin(), others.end());
  }
  return flags;
}

Result<app::ReplayRequest> trace_request_from(const Invocation& invocation) {
  std::vector<Flag> brought = code_flags(kGroup);
  brought.push_back(registers_flag());
  if (const auto done = refuse(invocation, brought, "does not go with --trace, which brings kernel and launch",
                               "leave one of them out", {"arch-mismatch"});
      !done) {
    return tl::unexpected<Error>(done.error());
  }
  const auto other = other_architecture_from(invocation);
  if (!other) {
    return tl::unexpected<Error>(other.error());
  }
  app::ReplayRequest request;
  request.other_architecture = *other;
  request.file = *invocation.text("trace");
  request.format = app::CodeFormat::kTrace;
  if (const auto done = read_carveout(invocation, request.carveout_kb); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return request;
}

Result<app::ReplayRequest> request_from(const Invocation& invocation) {
  auto request = invocation.has("trace") ? trace_request_from(invocation) : code_request_from(invocation);
  if (!request) {
    return request;
  }
  request->detailed = invocation.has("detailed");
  if (const auto done = read_host_threads(invocation, request->threads); !done) {
    return tl::unexpected<Error>(done.error());
  }
  const auto clock = clock_from(invocation);
  if (!clock) {
    return tl::unexpected<Error>(clock.error());
  }
  request->clock_mhz = *clock;
  return request;
}

Result<ExitCode> answer(const Invocation& invocation, const Setting& setting) {
  const auto request = request_from(invocation);
  if (!request) {
    return tl::unexpected<Error>(request.error());
  }
  const auto result = app::replay(setting.gpu, *request);
  if (!result) {
    return tl::unexpected<Error>(result.error());
  }
  return deliver(setting.outputs, reports::kernel_text(*result, setting.outputs.palette),
                 reports::replay_json(*result));
}

Result<ExitCode> run(const Invocation& invocation) {
  return with_setting(invocation, [&invocation](const Setting& setting) { return answer(invocation, setting); });
}

}  // namespace

Subcommand replay_subcommand() {
  Subcommand s;
  s.name = "replay";
  s.summary = "simulate an nvcc-built kernel from its cubin or SASS listing and a launch";
  s.usage =
      "--cubin FILE | --sass FILE --grid X,Y --block X --smem BYTES --args LIST [FLAGS]\n       tilesim replay --trace "
      "FILE [FLAGS]";
  s.description =
      "Executes the kernel's machine code as far as addresses, branches and predicates need it, on a model of the "
      "GPU,\n"
      "and says how long it takes, why warps wait, and what the memories see.";
  s.examples = {
      "tilesim replay --sass traces/calibration/h200/sgemm_128_128_8_8_8_s2_p4.sass --grid 8,8 --block 256 \\\n"
      "      --smem 16640 --args i32:1024,i32:1024,i32:1024,ptr:4MiB,ptr:4MiB,ptr:4MiB",
      "tilesim replay --cubin traces/calibration/ptxas/simt_64x64x16_8x4_s2_nn_v4.cubin --grid 16,16 --block 128 \\\n"
      "      --args i32:1024,i32:1024,i32:1024,ptr:4MiB,ptr:4MiB,ptr:4MiB --json -"};
  s.flags = replay_flags();
  s.run = run;
  return s;
}

}  // namespace tilesim::cli
