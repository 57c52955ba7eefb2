// tilesim trace kernels: what a file with machine code holds.
#include "tools/lib/kernel_list.h"
#include "tools/reports/kernel_list.h"
#include "tools/tilesim/application.h"
#include "tools/tilesim/gpu_flags.h"

namespace tilesim::cli {

namespace {

Result<ExitCode> run_kernels(const Invocation& invocation) {
  const auto outputs = outputs_from(invocation);
  if (!outputs) {
    return tl::unexpected<Error>(outputs.error());
  }
  if (invocation.positionals().empty()) {
    return fail(ErrorKind::kUsage, "no file is given", "write 'tilesim trace kernels FILE'");
  }
  const auto list = app::list_kernels(invocation.positionals().front());
  if (!list) {
    return tl::unexpected<Error>(list.error());
  }
  return deliver(*outputs, reports::kernel_list_text(*list, outputs->palette), reports::kernel_list_json(*list));
}

}  // namespace

Subcommand trace_kernels_subcommand() {
  Subcommand s;
  s.name = "trace kernels";
  s.summary = "kernels of a cubin, object, program or SASS listing";
  s.usage = "FILE [FLAGS]";
  s.description =
      "Lists name, architecture, registers, static shared and local memory, launch bound, parameters and length of\n"
      "every kernel, as far as the file tells.";
  s.examples = {"tilesim trace kernels traces/calibration/ptxas/simt_64x64x16_8x4_s2_nn_v4.cubin",
                "tilesim trace kernels traces/calibration/h200/sgemm_32_32_32_2_2_s1_p0.sass --json -"};
  s.flags = output_flags();
  s.maximum_positionals = 1;
  s.needs_positional = true;
  s.run = run_kernels;
  return s;
}

}  // namespace tilesim::cli
