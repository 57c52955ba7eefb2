// tilesim calibrate: a GPU spec from microbenchmarks, run here or recorded.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "tools/cli/numbers.h"
#include "tools/lib/calibration.h"
#include "tools/lib/compiled_tile.h"
#include "tools/lib/interrupt.h"
#include "tools/lib/machine.h"
#include "tools/lib/run_program.h"
#include "tools/lib/scratch_folder.h"
#include "tools/reports/calibrate_report.h"
#include "tools/tilesim/application.h"
#include "tools/tilesim/gpu_flags.h"

namespace tilesim::cli {

namespace {

constexpr int kExitAbsent = 4;

/// What the runs left: their rows, and what the programs said about rows that are missing.
struct Measured {
  std::vector<app::MeasuredRun> runs;
  std::vector<std::string> notes;
  bool failed = false;  ///< a program failed; what the others measured is there
};

Result<Measured> recorded_runs(const Invocation& invocation) {
  for (const char* flag : {"build", "keep", "rounds", "runs"}) {
    if (invocation.has(flag)) {
      return fail(ErrorKind::kUsage, fmt::format("--{} does not go with --rows", flag),
                  "with --rows nothing is built and nothing runs: leave one of them out");
    }
  }
  Measured measured;
  for (const std::string& file : invocation.all("rows")) {
    auto run = app::read_measured_rows(file);
    if (!run) {
      return tl::unexpected<Error>(run.error());
    }
    measured.runs.push_back(std::move(*run));
  }
  return measured;
}

/// The script assembles machine code with this program.
Result<app::ProgramResult> run_script(const std::filesystem::path& script, const std::vector<std::string>& arguments) {
  std::error_code error;
  std::vector<std::string> words{"TILESIM=" + std::filesystem::read_symlink("/proc/self/exe", error).string(),
                                 script.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // What takes a minute or more says how far it is.
  auto done = app::run_program("/usr/bin/env", words,
                               [](std::string_view line) { fmt::print(stderr, "calibrate: {}\n", line); });
  if (done && done->exit_code == kExitAbsent) {
    const std::string why = done->output.substr(0, done->output.find_last_not_of('\n') + 1);
    return fail(ErrorKind::kAbsent, fmt::format("calibrate cannot measure here: {}", why),
                "measure on a machine that has it ('kernels/microbench/run.sh build DIR' makes the programs where nvcc "
                "is, --build DIR takes them there), or use recorded rows: --rows FILE");
  }
  return done;
}

/// Builds what is missing or older than its source; without nvcc what is there is taken.
Result<void> build(const std::filesystem::path& script, const std::filesystem::path& folder, bool kept) {
  if (app::has_nvcc()) {
    const auto done = run_script(script, {"build", folder.string()});
    if (!done) {
      return tl::unexpected<Error>(done.error());
    }
    if (done->exit_code != 0) {
      return fail(ErrorKind::kFailed, fmt::format("the microbenchmarks do not compile: {}", done->output),
                  "CUDA 13.0 compiles them; check the nvcc that NVCC, CUDA_HOME or PATH names");
    }
    return {};
  }
  std::error_code ignored;
  if (!kept || !std::filesystem::exists(folder, ignored)) {
    return fail(ErrorKind::kAbsent, "calibrate needs nvcc, which is not there, or programs that were built before",
                "install the CUDA Toolkit and set NVCC, CUDA_HOME or PATH; or take the folder of "
                "'kernels/microbench/run.sh build DIR' along and pass --build DIR; or use recorded rows: --rows FILE");
  }
  return {};
}

/// Lines of the script's output that tell of missing rows.
void add_notes(const std::string& output, std::vector<std::string>& notes) {
  std::size_t begin = 0;
  while (begin < output.size()) {
    const std::size_t end = std::min(output.find('\n', begin), output.size());
    const std::string line = output.substr(begin, end - begin);
    const bool tells = line.starts_with("left out") || line.starts_with("failed");
    if (tells && std::find(notes.begin(), notes.end(), line) == notes.end()) {
      notes.push_back(line);
    }
    begin = end + 1;
  }
}

Result<Measured> measure_here(const Invocation& invocation) {
  constexpr std::int64_t kMostRuns = 10;
  constexpr std::int64_t kMostRounds = 99;
  constexpr std::int64_t kRounds = 5;
  const auto count = invocation.integer("runs", 1, kMostRuns);
  if (!count) {
    return tl::unexpected<Error>(count.error());
  }
  const auto rounds = invocation.integer("rounds", 1, kMostRounds);
  if (!rounds) {
    return tl::unexpected<Error>(rounds.error());
  }
  const app::InterruptGuard guard;  // goes after the folder
  const std::filesystem::path script = app::kernels_folder() / "microbench" / "run.sh";
  // Compiling takes minutes: not without a GPU to measure on.
  const auto gpu = run_script(script, {"gpu"});
  if (!gpu) {
    return tl::unexpected<Error>(gpu.error());
  }
  if (gpu->exit_code != 0) {
    return fail(ErrorKind::kFailed, fmt::format("{} does not run: {}", script.string(), gpu->output),
                "check that bash is in PATH and that TILESIM_KERNELS names the folder kernels/ of a source tree");
  }
  const auto scratch = app::ScratchFolder::make();
  if (!scratch) {
    return tl::unexpected<Error>(scratch.error());
  }
  const auto built = invocation.text("build");
  const auto keep = invocation.text("keep");
  const std::filesystem::path programs = built ? std::filesystem::path(*built) : scratch->path() / "build";
  const std::filesystem::path results = keep ? std::filesystem::path(*keep) : scratch->path() / "rows";
  if (const auto done = build(script, programs, built.has_value()); !done) {
    return tl::unexpected<Error>(done.error());
  }
  Measured measured;
  for (std::int64_t i = 1; i <= count->value_or(1); ++i) {
    const std::filesystem::path folder = results / fmt::format("run{}", i);
    const auto done = run_script(
        script, {"measure", programs.string(), folder.string(), fmt::format("{}", rounds->value_or(kRounds))});
    if (!done) {
      return tl::unexpected<Error>(done.error());
    }
    add_notes(done->output, measured.notes);
    measured.failed = measured.failed || done->exit_code != 0;
    auto run = app::read_measured_rows(folder / "rows.csv");
    if (!run) {
      return fail(ErrorKind::kFailed, fmt::format("no rows were measured: {}", done->output), run.error().message);
    }
    run->file = fmt::format("run {}", i);
    measured.runs.push_back(std::move(*run));
  }
  return measured;
}

/// What contradicts itself within a file.
void add_contradictions(const std::vector<app::MeasuredRun>& runs, std::vector<std::string>& notes) {
  constexpr std::size_t kTold = 5;
  for (const app::MeasuredRun& run : runs) {
    const std::size_t told = std::min(run.contradictions.size(), kTold);
    notes.insert(notes.end(), run.contradictions.begin(), run.contradictions.begin() + static_cast<long>(told));
    if (told < run.contradictions.size()) {
      notes.push_back(
          fmt::format("{}: {} more rows contradict each other", run.file, run.contradictions.size() - told));
    }
  }
}

/// What was measured against rows of before, file by file.
Result<std::vector<reports::BesideRows>> beside(const Invocation& invocation,
                                                const std::vector<app::MeasuredRun>& runs) {
  std::vector<reports::BesideRows> all;
  const app::MeasuredRun measured = app::combined(runs, "measured");
  for (const std::string& file : invocation.all("beside")) {
    const auto before = app::read_measured_rows(file);
    if (!before) {
      return tl::unexpected<Error>(before.error());
    }
    auto agreement = app::agreement_of({*before, measured});
    if (!agreement) {
      return tl::unexpected<Error>(agreement.error());
    }
    all.push_back({file, before->rows.size(), std::move(*agreement)});
  }
  return all;
}

/// Ids go into file names and --gpu.
Result<std::string> id_from(const Invocation& invocation) {
  std::string id = invocation.text("id").value_or("measured");
  const bool fine = !id.empty() && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
  if (!fine) {
    return fail(ErrorKind::kUsage, fmt::format("--id {} is no name of a GPU", in_quotes(id)),
                "use letters, digits, '-', '_' and '.', for example my-h200");
  }
  return id;
}

struct Files {
  std::optional<Output> csv;
  std::optional<Output> spec;
};

Result<Files> files_from(const Invocation& invocation, const Outputs& outputs) {
  auto csv = output_for(invocation, "csv");
  if (!csv) {
    return tl::unexpected<Error>(csv.error());
  }
  auto spec = output_for(invocation, "out");
  if (!spec) {
    return tl::unexpected<Error>(spec.error());
  }
  if (const auto one = check_standard({&outputs.json, &*csv, &*spec}); !one) {
    return tl::unexpected<Error>(one.error());
  }
  return Files{std::move(*csv), std::move(*spec)};
}

Result<void> write(const std::optional<Output>& output, const std::string& text) {
  return output ? output->write(text) : Result<void>{};
}

Result<ExitCode> answer(const Invocation& invocation, const Setting& setting) {
  const auto id = id_from(invocation);
  if (!id) {
    return tl::unexpected<Error>(id.error());
  }
  const auto files = files_from(invocation, setting.outputs);
  if (!files) {
    return tl::unexpected<Error>(files.error());
  }
  const auto table = app::read_calibration_table(app::kernels_folder() / "microbench");
  if (!table) {
    return tl::unexpected<Error>(table.error());
  }
  auto measured = invocation.has("rows") ? recorded_runs(invocation) : measure_here(invocation);
  if (!measured) {
    return tl::unexpected<Error>(measured.error());
  }
  auto calibration = app::calibrate(setting.gpu, *table, measured->runs, *id);
  if (!calibration) {
    return tl::unexpected<Error>(calibration.error());
  }
  if (calibration->rows_used == 0) {
    return fail(ErrorKind::kUsage, fmt::format("none of {} rows makes a number of a spec", calibration->rows),
                "give rows of kernels/microbench; spec_rows.csv there says which make which numbers",
                measured->runs.front().file);
  }
  auto compared = beside(invocation, measured->runs);
  if (!compared) {
    return tl::unexpected<Error>(compared.error());
  }
  add_contradictions(measured->runs, measured->notes);
  reports::CalibrationReport report{setting.gpu, std::move(*calibration),   std::nullopt, std::move(*compared),
                                    {},          std::move(measured->notes)};
  const bool whole =
      !measured->failed && std::none_of(report.calibration.numbers.begin(), report.calibration.numbers.end(),
                                        [](const app::CalibratedNumber& n) { return n.unfit; });
  for (const app::MeasuredRun& run : measured->runs) {
    report.runs.push_back(run.file);
  }
  if (measured->runs.size() > 1) {
    auto agreement = app::agreement_of(measured->runs);
    if (!agreement) {
      return tl::unexpected<Error>(agreement.error());
    }
    report.agreement = std::move(*agreement);
  }
  if (const auto done = write(files->spec, model::gpu_spec_text(report.calibration.spec)); !done) {
    return tl::unexpected<Error>(done.error());
  }
  if (const auto done = write(files->csv, files->csv ? reports::calibrate_csv(report) : ""); !done) {
    return tl::unexpected<Error>(done.error());
  }
  const bool taken = (files->csv && files->csv->is_standard()) || (files->spec && files->spec->is_standard());
  const auto delivered = deliver(
      setting.outputs, taken ? "" : reports::calibrate_text(report, invocation.has("all"), setting.outputs.palette),
      setting.outputs.json ? reports::calibrate_json(report) : "");
  return delivered && !whole ? Result<ExitCode>{ExitCode::kFailed} : delivered;
}

Result<ExitCode> run(const Invocation& invocation) {
  return with_setting(invocation, [&invocation](const Setting& setting) { return answer(invocation, setting); });
}

std::vector<Flag> calibrate_flags() {
  const std::string measuring = "Measuring";
  std::vector<Flag> flags{
      {"rows", "FILE", "rows measured before, in place of measuring; once per run", measuring, {}, true},
      {"build", "DIR", "where the programs are, or are built to and stay", measuring, {}, false},
      {"keep", "DIR", "keep the rows of each run here", measuring, {}, false},
      {"rounds", "N", "how often a run goes through all programs (default 5)", measuring, {}, false},
      {"runs", "N", "how often to measure (default 1)", measuring, {}, false},
      {"beside", "FILE", "rows of before, to compare with only; may be given again", measuring, {}, true},
      {"out", "FILE", "write the spec; '-' is stdout, instead of the text", "Output", {}, false},
      {"id", "NAME", "id of the spec (default measured)", "Output", {}, false},
      {"all", "", "every number that was kept and why, every row in which runs differ", "Output", {}, false},
      {"csv", "FILE", "one line per number of the spec; '-' is stdout", "Output", {}, false}};
  for (const Flag& flag : gpu_flags()) {
    if (flag.name == "gpu") {
      flags.push_back({flag.name, flag.metavar, "spec to compare with and to fill up from (default h200)", flag.group,
                       flag.aliases, flag.repeatable});
    }
  }
  const auto more = output_flags();
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

}  // namespace

Subcommand calibrate_subcommand() {
  Subcommand s;
  s.name = "calibrate";
  s.summary = "measure this machine's GPU and fill a spec, or fill one from recorded rows";
  s.usage = "[--out SPEC.toml] [--id NAME] [--rows FILE]... [FLAGS]";
  s.description =
      "Builds the microbenchmarks of kernels/microbench with nvcc, runs them (five rounds, about two minutes of GPU\n"
      "time), and fills a spec: every number that rows make gets value, source and spread, all others stay as they "
      "are.\n"
      "Prints measured beside shipped numbers. Several runs also say how far they agree. --rows does all of it "
      "without\n"
      "a GPU. A number that the spec cannot hold is kept as it was and told; the exit code is then 1, as where a "
      "program\n"
      "failed.";
  s.examples = {"tilesim calibrate --runs 2 --build mb --keep rows --out my-h200.toml --id my-h200",
                "tilesim calibrate --rows rows/run1/rows.csv --rows rows/run2/rows.csv --all",
                "tilesim calibrate --rows rows/run1/rows.csv --beside traces/calibration/h200/microbenchmarks.csv"};
  s.flags = calibrate_flags();
  s.works_bare = true;
  s.run = run;
  return s;
}

}  // namespace tilesim::cli
