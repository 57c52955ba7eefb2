// tilesim trace record: write down what a launch executes.
#include "tools/tilesim/trace_record.h"

#include <fmt/format.h>

#include <cstdio>

#include "tools/lib/prepared_kernel.h"
#include "tools/reports/trace_text.h"
#include "tools/tilesim/application.h"
#include "tools/tilesim/code_or_tile.h"
#include "tools/tilesim/launch_flags.h"
#include "tools/tilesim/replay_flags.h"
#include "tools/tilesim/tile_flags.h"

namespace tilesim::cli {

namespace {

std::vector<Flag> record_flags() {
  std::vector<Flag> flags{{"out", "FILE", "where the trace goes (.tst)", "Trace", {}, false}, ctas_flag("the grid")};
  const std::string group = "Kernel and launch";
  for (const auto& more :
       {code_flags(group), code_or_tile_flags(group), tile_flags(), problem_flags(), gpu_flags(), output_flags()}) {
    flags.insert(flags.end(), more.begin(), more.end());
  }
  return flags;
}

Result<app::PreparedKernel> tile_from_flags(const Invocation& invocation, const model::GpuSpec& gpu) {
  const auto question = tile_question_from(invocation);
  if (!question) {
    return tl::unexpected<Error>(question.error());
  }
  return app::prepare_tile(gpu, run_request_of(*question, invocation));
}

Result<app::PreparedKernel> kernel_from_flags(const Invocation& invocation, const model::GpuSpec& gpu) {
  if (!invocation.has("sass") && !invocation.has("cubin") && !has_tile(invocation)) {
    return fail(ErrorKind::kUsage, "nothing to record is given",
                "give --cubin or --sass with a launch, or a tile: --tile 128x128x8");
  }
  const auto code = asks_for_code(invocation);
  if (!code) {
    return tl::unexpected<Error>(code.error());
  }
  if (!*code) {
    return tile_from_flags(invocation, gpu);
  }
  const auto request = code_request_from(invocation);
  return request ? app::prepare_replay(gpu, *request) : tl::unexpected<Error>(request.error());
}

Result<ExitCode> answer(const Invocation& invocation, const Setting& setting) {
  const auto out = invocation.text("out");
  if (!out || out->empty()) {
    return fail(ErrorKind::kUsage, "--out is missing", "say where the trace goes: --out kernel.tst");
  }
  if (*out == "-") {
    return fail(ErrorKind::kUsage, "--out '-': a trace is no text and does not go to stdout",
                "name a file: --out kernel.tst");
  }
  const auto prepared = kernel_from_flags(invocation, setting.gpu);
  if (!prepared) {
    return tl::unexpected<Error>(prepared.error());
  }
  const auto ctas = app::parse_ctas(invocation.text("ctas").value_or(""), prepared->source->grid().count());
  if (!ctas) {
    return tl::unexpected<Error>(ctas.error());
  }
  const auto recording = app::record_trace(*prepared->source, app::record_of(*prepared), *ctas, *out, announce_size);
  if (!recording) {
    return tl::unexpected<Error>(recording.error());
  }
  return deliver_recordings(setting.outputs, "trace record", {*recording});
}

Result<ExitCode> run(const Invocation& invocation) {
  return with_setting(invocation, [&invocation](const Setting& setting) { return answer(invocation, setting); });
}

}  // namespace

Result<void> announce_size(const app::RecordingEstimate& estimate) {
  constexpr std::uint64_t kLarge = 1000000000;
  constexpr double kLongSeconds = 2.0;
  if (estimate.bytes > kLarge || estimate.seconds > kLongSeconds) {
    std::fputs(reports::size_line(estimate, estimate.bytes > kLarge).c_str(), stderr);
  }
  return {};
}

Flag ctas_flag(const std::string& of) {
  return {"ctas", "LIST", fmt::format("CTAs of {}, x fastest, as 0-15,100 (default: all)", of), "Trace", {}, false};
}

Result<ExitCode> deliver_recordings(const Outputs& outputs, const std::string& command,
                                    const std::vector<app::Recording>& recordings) {
  return deliver(outputs, reports::recordings_text(recordings), reports::recordings_json(command, recordings));
}

Subcommand trace_record_subcommand() {
  Subcommand s;
  s.name = "trace record";
  s.summary = "write what a launch executes to a trace file, for 'replay --trace'";
  s.usage =
      "--out FILE --cubin FILE | --sass FILE --grid X,Y --block X --args LIST [FLAGS]\n"
      "       tilesim trace record --out FILE --tile BMxBNxBK [--m M --n N --k K] [FLAGS]";
  s.description =
      "Every trip of every loop of the chosen CTAs is recorded, without timing; loops are kept as loops, so a trace "
      "is\n"
      "small where the code is regular. A replay of the trace is the replay of the kernel, cycle by cycle.";
  s.examples = {
      "tilesim trace record --out sgemm.tst --cubin traces/calibration/ptxas/simt_64x64x16_8x4_s2_nn_v4.cubin \\\n"
      "      --grid 16,16 --block 128 --args i32:1024,i32:1024,i32:1024,ptr:4MiB,ptr:4MiB,ptr:4MiB",
      "tilesim trace record --out tile.tst --tile 128x128x8 --thread-tile 8x8 --m 4096 --n 4096 --k 4096 --ctas 0-263"};
  s.flags = record_flags();
  s.run = run;
  return s;
}

}  // namespace tilesim::cli
