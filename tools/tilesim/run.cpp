// tilesim run: simulate a tile configuration before there is code.
#include "tools/lib/run.h"

#include "tools/reports/run_json.h"
#include "tools/reports/run_text.h"
#include "tools/tilesim/application.h"
#include "tools/tilesim/gpu_flags.h"
#include "tools/tilesim/launch_flags.h"
#include "tools/tilesim/tile_flags.h"

namespace tilesim::cli {

namespace {

std::vector<Flag> run_flags() {
  std::vector<Flag> flags = tile_flags();
  const std::vector<Flag> own{
      {"regs", "N", "cap of registers per thread, like ptxas' maxrregcount", "Kernel", {}, false},
      carveout_flag("Kernel"),
      {"compile", "", "nvcc's code of kernels/ instead of generated code; needs nvcc", "Kernel", {}, false}};
  const std::vector<Flag> all{
      {"all", "", "the whole sheet, every part of the gap and all advice", "Output", {}, false}};
  for (const auto& more : {own, problem_flags(), simulation_flags(), gpu_flags(), all, output_flags()}) {
    flags.insert(flags.end(), more.begin(), more.end());
  }
  return flags;
}

Result<ExitCode> answer(const Invocation& invocation, const Setting& setting) {
  const auto question = tile_question_from(invocation);
  if (!question) {
    return tl::unexpected<Error>(question.error());
  }
  app::RunRequest request = run_request_of(*question, invocation);
  request.detailed = invocation.has("detailed");
  if (const auto done = read_host_threads(invocation, request.threads); !done) {
    return tl::unexpected<Error>(done.error());
  }
  const auto result = app::run_tile(setting.gpu, request);
  if (!result) {
    return tl::unexpected<Error>(result.error());
  }
  const bool assumed = question->problem.assumed;
  std::string text = reports::run_text(*result, assumed, setting.outputs.palette);
  if (invocation.has("all")) {
    text += reports::run_sheet_text(*result, setting.outputs.palette);
  }
  return deliver(setting.outputs, text, reports::run_json(*result, assumed));
}

Result<ExitCode> run(const Invocation& invocation) {
  return with_setting(invocation, [&invocation](const Setting& setting) { return answer(invocation, setting); });
}

}  // namespace

Subcommand run_subcommand() {
  Subcommand s;
  s.name = "run";
  s.summary = "simulate a tile configuration before there is code";
  s.usage = "[--tile BMxBNxBK] [--thread-tile TMxTN] [--stages N] [--m M --n N --k K] [FLAGS]";
  s.description =
      "Checks that the configuration is legal, generates the code that nvcc would be expected to make of it, "
      "simulates\n"
      "that on a model of the GPU, and says how long it takes, where the time goes and what to try.";
  s.examples = {"tilesim run --tile 128x128x8 --thread-tile 8x8 --stages 2 --m 4096 --n 4096 --k 4096",
                "tilesim run --tile 64x64x16 --thread-tile 4x4 --stages 2 --pad-a 4 --all --json result.json"};
  s.flags = run_flags();
  s.run = run;
  return s;
}

}  // namespace tilesim::cli
