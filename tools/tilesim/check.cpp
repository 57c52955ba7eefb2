// tilesim check: legality, occupancy, roofline and waves of a tile configuration, or the occupancy of any kernel.
#include <fmt/format.h>

#include "model/legality.h"
#include "model/occupancy.h"
#include "tools/lib/code_file.h"
#include "tools/lib/tile_check.h"
#include "tools/reports/check_json.h"
#include "tools/reports/check_text.h"
#include "tools/tilesim/application.h"
#include "tools/tilesim/gpu_flags.h"
#include "tools/tilesim/launch_flags.h"
#include "tools/tilesim/tile_flags.h"
#include "traces/sass/listing_reader.h"

namespace tilesim::cli {

namespace {

std::vector<Flag> check_flags() {
  std::vector<Flag> flags = tile_flags();
  const std::string group = "Instead of a tile: any kernel";
  const std::vector<Flag> own{
      {"threads", "N", "threads of a CTA", group, {}, false},
      {"regs", "N", "registers per thread; with a tile a cap, like ptxas' maxrregcount", group, {}, false},
      {"smem",
       "BYTES",
       "shared memory of a CTA, static plus dynamic (default 0); dynamic for a cubin",
       group,
       {},
       false},
      {"cubin", "FILE", "registers, static shared memory and barriers from what 'nvcc -cubin' wrote", group, {}, false},
      {"kernel", "NAME", "of the cubin: mangled or demangled name, or a part that fits one kernel", group, {}, false},
      carveout_flag("Kernel")};
  const std::vector<Flag> sheet{{"all", "", "the whole sheet instead of one screen", "Output", {}, false}};
  for (const auto& more : {problem_flags(), own, gpu_flags(), sheet, output_flags()}) {
    flags.insert(flags.end(), more.begin(), more.end());
  }
  return flags;
}

Result<ExitCode> check_tile(const Invocation& invocation, const model::GpuSpec& gpu, const Outputs& outputs) {
  if (invocation.has("smem")) {
    return fail(ErrorKind::kUsage, "--smem does not go with a tile configuration",
                "give --threads, --regs and --smem for the occupancy of any kernel");
  }
  const auto question = tile_question_from(invocation);
  if (!question) {
    return tl::unexpected<Error>(question.error());
  }
  const auto& [config, problem, clock_mhz, carveout_kb] = *question;
  const auto sheet = app::check_tile(config, problem.problem, gpu, clock_mhz, carveout_kb);
  if (!sheet) {
    return tl::unexpected<Error>(sheet.error());
  }
  std::string text = reports::check_text(*sheet, problem.assumed, outputs.palette);
  if (invocation.has("all")) {
    text += reports::check_sheet_text(*sheet, outputs.palette);
  }
  return deliver(outputs, text, reports::check_json(*sheet, gpu, problem.assumed));
}

/// What the cubin says of its kernel. `kernel` gets its name, `input.threads` the most that it was compiled for.
Result<void> read_cubin(const Invocation& invocation, const model::GpuSpec& gpu, std::string& kernel,
                        model::OccupancyInput& input) {
  if (invocation.has("regs")) {
    return fail(ErrorKind::kUsage, "--regs does not go with a cubin, which says how many registers it needs",
                "leave --regs out");
  }
  const auto summary =
      app::load_facts(*invocation.text("cubin"), invocation.text("kernel").value_or(""), app::architecture_of(gpu));
  if (!summary) {
    return tl::unexpected<Error>(summary.error());
  }
  if (auto same = app::check_architecture(gpu, summary->architecture); !same) {
    return same;
  }
  kernel = traces::demangle(summary->name);
  const app::CubinFacts& facts = summary->facts;
  input.registers = facts.registers;
  input.shared_bytes += facts.static_shared;
  input.barriers = facts.barriers;
  if (input.threads == 0 && facts.maximum_threads == 0) {
    return fail(ErrorKind::kUsage, "--threads is missing: the cubin does not say how large a block may be",
                "pass the threads of a CTA, for example --threads 256");
  }
  if (facts.maximum_threads != 0 && input.threads > facts.maximum_threads) {
    return fail(ErrorKind::kUsage,
                fmt::format("--threads {} is more than the {} that the kernel was compiled for", input.threads,
                            facts.maximum_threads),
                fmt::format("use at most {}", facts.maximum_threads));
  }
  input.threads = input.threads != 0 ? input.threads : facts.maximum_threads;
  return {};
}

Result<void> read_registers(const Invocation& invocation, model::OccupancyInput& input) {
  const auto registers = invocation.integer("regs", 0, model::kMaxRegistersPerThread);
  if (!registers) {
    return tl::unexpected<Error>(registers.error());
  }
  if (input.threads == 0 || !*registers) {
    return fail(ErrorKind::kUsage, fmt::format("--{} is missing", input.threads != 0 ? "regs" : "threads"),
                "for example --threads 256 --regs 100 --smem 16384, or --cubin FILE, or a tile: --tile 128x128x8");
  }
  input.registers = **registers;
  return {};
}

Result<model::OccupancyInput> occupancy_input(const Invocation& invocation, const model::GpuSpec& gpu,
                                              std::string& kernel) {
  model::OccupancyInput input;
  const auto threads = invocation.integer("threads", 1, model::kMaxThreadsPerCta);
  const auto shared = invocation.integer("smem", 0, kMaxSharedBytes);
  for (const auto* value : {&threads, &shared}) {
    if (!*value) {
      return tl::unexpected<Error>(value->error());
    }
  }
  if (const auto done = read_carveout(invocation, input.carveout_kb); !done) {
    return tl::unexpected<Error>(done.error());
  }
  input.threads = threads->value_or(0);
  input.shared_bytes = shared->value_or(0);
  const auto done =
      invocation.has("cubin") ? read_cubin(invocation, gpu, kernel, input) : read_registers(invocation, input);
  if (!done) {
    return tl::unexpected<Error>(done.error());
  }
  if (input.threads % kWarpThreads != 0) {
    return fail(ErrorKind::kUsage, fmt::format("--threads {} is not a multiple of {}", input.threads, kWarpThreads),
                fmt::format("use {}", (input.threads / kWarpThreads + 1) * kWarpThreads));
  }
  return input;
}

Result<ExitCode> check_occupancy(const Invocation& invocation, const model::GpuSpec& gpu, const Outputs& outputs) {
  for (const char* flag : {"m", "n", "k", "split-k", "batch", "dtype", "layout", "clock", "all"}) {
    if (invocation.has(flag)) {
      return fail(ErrorKind::kUsage, fmt::format("--{} needs a tile configuration", flag),
                  "give --tile instead of --threads or --cubin, or leave the flag out");
    }
  }
  std::string kernel;
  const auto input = occupancy_input(invocation, gpu, kernel);
  if (!input) {
    return tl::unexpected<Error>(input.error());
  }
  const auto cc = model::find_compute_capability(static_cast<int>(gpu.device.compute_capability_major),
                                                 static_cast<int>(gpu.device.compute_capability_minor));
  if (!cc) {
    return tl::unexpected<Error>(cc.error());
  }
  const auto occupancy = model::occupancy(*cc, *input);
  if (!occupancy) {
    return tl::unexpected<Error>(occupancy.error());
  }
  if (occupancy->ctas < 1) {
    return fail(ErrorKind::kUsage, fmt::format("no CTA fits an SM of {}: {}", gpu.id, occupancy->cannot_launch),
                "use fewer threads, fewer registers or less shared memory");
  }
  return deliver(outputs, reports::occupancy_text(*occupancy, *input, kernel, gpu.name, outputs.palette),
                 reports::occupancy_json(*occupancy, *input, kernel, gpu));
}

Result<ExitCode> answer(const Invocation& invocation, const Setting& setting) {
  if (invocation.has("kernel") && !invocation.has("cubin")) {
    return fail(ErrorKind::kUsage, "--kernel needs --cubin", "pass the file that holds the kernel");
  }
  if (!invocation.has("threads") && !invocation.has("cubin")) {
    return check_tile(invocation, setting.gpu, setting.outputs);
  }
  if (has_tile(invocation)) {
    const bool cubin = invocation.has("cubin");
    return fail(ErrorKind::kUsage,
                cubin ? "--cubin does not go with a tile configuration, which is another kernel"
                      : "--threads does not go with a tile configuration, which has its own thread count",
                "give either a tile, or --threads, --regs and --smem, or --cubin");
  }
  return check_occupancy(invocation, setting.gpu, setting.outputs);
}

Result<ExitCode> run(const Invocation& invocation) {
  return with_setting(invocation, [&invocation](const Setting& setting) { return answer(invocation, setting); });
}

}  // namespace

Subcommand check_subcommand() {
  Subcommand s;
  s.name = "check";
  s.summary = "legality, occupancy, roofline and waves of a tile configuration; milliseconds";
  s.usage = "--tile BMxBNxBK [FLAGS] | --threads N --regs N --smem BYTES | --cubin FILE [--threads N]";
  s.description =
      "Everything about a tiled GEMM that needs no simulation. An illegal configuration ends with exit code 2.";
  s.examples = {"tilesim check --m 4096 --n 4096 --k 4096 --tile 128x128x8 --thread-tile 8x8 --stages 2",
                "tilesim check --threads 256 --regs 100 --smem 16384 --gpu article-card",
                "tilesim check --cubin traces/calibration/ptxas/simt_64x64x16_8x4_s2_nn_v4.cubin"};
  s.flags = check_flags();
  s.run = run;
  return s;
}

}  // namespace tilesim::cli
