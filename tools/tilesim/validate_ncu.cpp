// A profile of Nsight Compute, alone or beside a prediction.
#include <fmt/format.h>

#include "tools/lib/prepared_kernel.h"
#include "tools/reports/profile_report.h"
#include "tools/tilesim/code_or_tile.h"
#include "tools/tilesim/launch_flags.h"
#include "tools/tilesim/replay_flags.h"
#include "tools/tilesim/tile_flags.h"
#include "tools/tilesim/validate.h"
#include "traces/sass/listing_reader.h"

namespace tilesim::cli {

namespace {

const std::string kGroup = "Profile of Nsight Compute";

std::optional<double> value_of(const traces::ProfiledLaunch& launch, const char* name) {
  const auto found = launch.metrics.find(name);
  return found == launch.metrics.end() || !found->second.unit_known ? std::nullopt : std::optional(found->second.value);
}

/// Launch facts that the profile has; numbers that make no sense are left to the flags.
KnownLaunch known_launch(const traces::ProfiledLaunch& launch) {
  KnownLaunch known;
  known.grid = launch.grid;
  known.block = launch.block;
  constexpr double kMost = static_cast<double>(kMaxSharedBytes);
  const auto bytes = [&](const char* name) {
    const double value = value_of(launch, name).value_or(0.0);
    return value > 0.0 && value <= kMost ? traces::printed_size(launch.metrics.at(name)) : std::int64_t{0};
  };
  known.static_shared_bytes = bytes("launch__shared_mem_per_block_static");
  known.dynamic_shared_bytes = bytes("launch__shared_mem_per_block_dynamic");
  constexpr double kMostRegisters = 255.0;
  if (const auto registers = value_of(launch, "launch__registers_per_thread");
      registers && *registers >= 1.0 && *registers <= kMostRegisters) {
    known.registers = static_cast<int>(*registers);
  }
  constexpr std::int64_t kBytesPerKb = 1024;
  if (const std::int64_t carveout = bytes("launch__shared_mem_config_size"); carveout > 0) {
    known.carveout_kb = static_cast<int>(carveout / kBytesPerKb);
  }
  return known;
}

/// Flags that belong to recordings, without those that a profile takes too.
Result<void> refuse_others(const Invocation& invocation) {
  const std::string why = "does not go with --ncu";
  const std::string remedy = "leave one of them out";
  const auto done = refuse(invocation, recorded_flags(), why, remedy, {"family", "dtype", "all", "csv"});
  return done ? refuse(invocation, live_flags(), why, remedy) : done;
}

/// Flags that only a prediction beside the profile would use.
Result<void> refuse_prediction(const Invocation& invocation) {
  const std::string why = "needs code or a tile to predict";
  const std::string remedy = "give --sass, --cubin, --compile or a tile, or leave it out to have the profile listed";
  const auto done = refuse(invocation, profile_flags(), why, remedy, {"ncu"});
  return done ? refuse(invocation, recorded_flags(), why, remedy, {"all"}) : done;
}

Result<app::PreparedKernel> prepare_code(const Invocation& invocation, const model::GpuSpec& gpu,
                                         const traces::ProfiledLaunch& launch) {
  const auto request = code_request_from(invocation, known_launch(launch));
  return request ? app::prepare_replay(gpu, *request) : tl::unexpected<Error>(request.error());
}

Result<app::PreparedKernel> prepare_question(const Invocation& invocation, const model::GpuSpec& gpu,
                                             const traces::ProfiledLaunch& launch) {
  const auto question = tile_question_from(invocation);
  if (!question) {
    return tl::unexpected<Error>(question.error());
  }
  if (question->problem.assumed) {
    return fail(ErrorKind::kUsage, "--m, --n and --k are missing", "give the problem that was profiled");
  }
  app::RunRequest request = run_request_of(*question, invocation);
  request.carveout_kb = request.carveout_kb ? request.carveout_kb : known_launch(launch).carveout_kb;
  return app::prepare_tile(gpu, request);
}

Result<app::KernelResult> predict(const Invocation& invocation, const model::GpuSpec& gpu,
                                  const traces::ProfiledLaunch& launch) {
  const auto code = asks_for_code(invocation, {"kernel"});  // which also chooses the launch
  if (!code) {
    return tl::unexpected<Error>(code.error());
  }
  const auto prepared = *code ? prepare_code(invocation, gpu, launch) : prepare_question(invocation, gpu, launch);
  if (!prepared) {
    return tl::unexpected<Error>(prepared.error());
  }
  const auto clock = clock_from(invocation);
  if (!clock) {
    return tl::unexpected<Error>(clock.error());
  }
  app::Effort effort;
  effort.detailed = invocation.has("detailed");
  if (const auto done = read_host_threads(invocation, effort.threads); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return app::simulate_prepared(gpu, *prepared, *clock ? *clock : traces::clock_mhz(launch), effort);
}

/// --kernel as Nsight Compute spells it: demangled, and without the parameters, where spellings differ.
std::string profiled_name(const Invocation& invocation) {
  std::string kernel = invocation.text("kernel").value_or("");
  if (!kernel.starts_with("_Z")) {
    return kernel;
  }
  const std::string demangled = traces::demangle(kernel);
  return demangled.substr(0, demangled.find('('));
}

/// True if the flags name something to predict.
bool has_kernel(const Invocation& invocation) {
  return invocation.has("sass") || invocation.has("cubin") || invocation.has("compile") || has_tile(invocation);
}

Result<ExitCode> list_profile(const Setting& setting, const traces::NcuProfile& profile, bool all) {
  return deliver(setting.outputs, reports::profile_text(profile, all, setting.outputs.palette),
                 reports::profile_json(profile));
}

}  // namespace

std::vector<Flag> profile_flags() {
  std::vector<Flag> flags{
      {"ncu",
       "FILE",
       "what 'ncu --csv', 'ncu --csv --page raw' or 'ncu' printed: listed, or compared",
       kGroup,
       {},
       false},
      {"launch", "ID", "the launch in the profile, where it holds several (also: --kernel)", kGroup, {}, false}};
  const std::string group = "Prediction for the profile";
  for (const auto& more : {code_flags(group), code_or_tile_flags(group), tile_flags(), problem_flags()}) {
    for (const Flag& flag : more) {
      if (flag.name != "family" && flag.name != "dtype") {  // recorded_flags() has them
        flags.push_back(flag);
      }
    }
  }
  return flags;
}

Result<ExitCode> validate_profile(const Invocation& invocation, const Setting& setting) {
  if (const auto refused = refuse_others(invocation); !refused) {
    return tl::unexpected<Error>(refused.error());
  }
  if (!has_kernel(invocation)) {
    if (const auto refused = refuse_prediction(invocation); !refused) {
      return tl::unexpected<Error>(refused.error());
    }
  }
  const auto files = files_from(invocation, setting.outputs);
  if (!files) {
    return tl::unexpected<Error>(files.error());
  }
  const std::optional<Output>& csv = files->csv;
  const auto profile = traces::read_ncu_profile(*invocation.text("ncu"));
  if (!profile) {
    return tl::unexpected<Error>(profile.error());
  }
  const bool all = invocation.has("all");
  if (!has_kernel(invocation)) {
    return list_profile(setting, *profile, all);
  }
  const auto launch =
      traces::choose_launch(*profile, profiled_name(invocation), invocation.text("launch").value_or(""));
  if (!launch) {
    return tl::unexpected<Error>(launch.error());
  }
  const auto predicted = predict(invocation, setting.gpu, **launch);
  if (!predicted) {
    return tl::unexpected<Error>(predicted.error());
  }
  const app::ProfileComparison comparison = app::compare_with_profile(*predicted, **launch);
  if (csv) {
    if (const auto done = csv->write(reports::comparison_csv(comparison)); !done) {
      return tl::unexpected<Error>(done.error());
    }
  }
  const bool taken = csv && csv->is_standard();
  return deliver(setting.outputs,
                 taken ? "" : reports::comparison_text(*predicted, **launch, comparison, all, setting.outputs.palette),
                 reports::comparison_json(*predicted, **launch, comparison));
}

}  // namespace tilesim::cli
