// Kernels built, run and measured on this machine's GPU by kernels/runner/record, then compared.
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "tools/lib/compiled_tile.h"
#include "tools/lib/machine.h"
#include "tools/lib/recorded_set.h"
#include "tools/lib/run_program.h"
#include "tools/lib/scratch_folder.h"
#include "tools/tilesim/validate.h"
#include "traces/recorded/recording.h"

namespace tilesim::cli {

namespace {

constexpr int kExitUsage = 2;
constexpr int kExitAbsent = 4;
constexpr std::int64_t kSeconds = 300;

/// All that is missing at once, so that one installation is enough.
Result<void> check_machine(const std::filesystem::path& script) {
  std::error_code ignored;
  std::string missing;
  std::string remedy;
  const auto need = [&](bool there, const std::string& what, const std::string& how) {
    if (!there) {
      missing += (missing.empty() ? "" : ", ") + what;
      remedy += (remedy.empty() ? "" : "; ") + how;
    }
  };
  need(app::has_gpu(), "an NVIDIA GPU with its driver", "run this on a machine with an H200");
  need(app::has_nvcc(), "nvcc", "install the CUDA Toolkit and set NVCC, CUDA_HOME or PATH");
  need(app::find_program("ncu").has_value(), "ncu", "install Nsight Compute and put it into PATH");
  need(app::find_program("python3").has_value(), "python3", "apt install python3");
  need(app::find_program("zstd").has_value(), "zstd", "apt install zstd");
  need(std::filesystem::exists(script, ignored), fmt::format("the runner ({})", script.string()),
       "set TILESIM_KERNELS to the folder kernels/ of a source tree");
  if (missing.empty()) {
    return {};
  }
  return fail(ErrorKind::kAbsent, fmt::format("--live needs what is not here: {}", missing),
              remedy + "; without a GPU, 'tilesim validate --replay' compares with the recorded set");
}

/// What the runner ended with, in its own words; its last line says why.
Error said_by_record(const app::ProgramResult& done) {
  std::string said = done.output.substr(0, done.output.find_last_not_of(" \n") + 1);
  const std::string own = "record: ";
  const std::size_t last = said.rfind('\n') + 1;  // npos + 1 is 0
  if (done.exit_code == kExitUsage && said.compare(last, own.size(), own) == 0) {
    return Error{ErrorKind::kUsage,
                 "--live: " + said.substr(last + own.size()),
                 "choose by name with --only, with * and ? as in 'simt_*'; kernels/runner/set.txt says the set",
                 {}};
  }
  return Error{done.exit_code == kExitAbsent ? ErrorKind::kAbsent : ErrorKind::kFailed,
               fmt::format("--live: the runner ended with exit code {}: {}", done.exit_code, said),
               "see what it says; 'record --help' explains its steps",
               {}};
}

Result<void> record(const std::filesystem::path& script, const std::vector<std::string>& arguments) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::vector<std::string> words{"TILESIM=" + self.string(), script.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto done = app::run_program("/usr/bin/env", words);
  if (!done) {
    return tl::unexpected<Error>(done.error());
  }
  if (done->exit_code != 0) {
    return tl::unexpected<Error>(said_by_record(*done));
  }
  return {};
}

/// What is locked in the shipped set stays locked however it is measured.
Result<std::set<std::string>> locked_names() {
  const auto folder = app::shipped_recordings();
  const auto recordings = folder ? traces::read_recordings(*folder) : tl::unexpected<Error>(folder.error());
  if (!recordings) {
    Error error = recordings.error();
    error.message = "--live takes from the shipped recordings which kernels are locked: " + error.message;
    return tl::unexpected<Error>(std::move(error));
  }
  std::set<std::string> names;
  const std::vector<traces::Part> parts = traces::split(*recordings);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == traces::Part::kLocked) {
      names.insert((*recordings)[i].name);
    }
  }
  return names;
}

/// Flags that choose among recordings; what is measured is chosen by name.
Result<void> refuse_choices(const Invocation& invocation) {
  for (const auto& [flag, remedy] :
       {std::pair{"recorded", "leave one of them out"}, std::pair{"family", "choose kernels by name with --only"},
        std::pair{"dtype", "choose kernels by name with --only"},
        std::pair{"part", "choose kernels by name with --only"}}) {
    if (invocation.has(flag)) {
      return fail(ErrorKind::kUsage, fmt::format("--{} does not go with --live", flag), remedy);
    }
  }
  return {};
}

}  // namespace

std::vector<Flag> live_flags() {
  const std::string group = "This machine's GPU";
  return {{"live",
           "",
           "build, run and measure kernels of kernels/runner/set.txt (--only, --shapes), and compare",
           group,
           {},
           false},
          {"limit", "SECONDS", "measure for so long at most (default 300)", group, {}, false}};
}

Result<ExitCode> validate_live(const Invocation& invocation, const Setting& setting) {
  if (const auto done = refuse_choices(invocation); !done) {
    return tl::unexpected<Error>(done.error());
  }
  auto question = recorded_question_from(invocation, setting);
  if (!question) {
    return tl::unexpected<Error>(question.error());
  }
  constexpr std::int64_t kMostSeconds = 86400;
  const auto limit = invocation.integer("limit", 1, kMostSeconds);
  if (!limit) {
    return tl::unexpected<Error>(limit.error());
  }
  auto locked = locked_names();
  if (!locked) {
    return tl::unexpected<Error>(locked.error());
  }
  question->request.locked = std::move(*locked);
  const std::filesystem::path script = app::kernels_folder() / "runner" / "record";
  if (const auto ready = check_machine(script); !ready) {
    return tl::unexpected<Error>(ready.error());
  }
  const auto scratch = app::ScratchFolder::make();
  if (!scratch) {
    return tl::unexpected<Error>(scratch.error());
  }
  const std::filesystem::path to = scratch->path() / "recorded";
  std::vector<std::string> arguments{"--build",   (scratch->path() / "build").string(),
                                     "--to",      to.string(),
                                     "-j",        fmt::format("{}", question->request.effort.threads),
                                     "--limit-s", fmt::format("{}", limit->value_or(kSeconds))};
  for (const auto& [flag, value] :
       {std::pair{"--only", invocation.text("only")}, std::pair{"--shapes", invocation.text("shapes")}}) {
    if (value) {
      arguments.insert(arguments.end(), {flag, *value});
    }
  }
  if (const auto done = record(script, arguments); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return validate_folder(invocation, setting, std::move(*question), to, "measurements of this machine");
}

}  // namespace tilesim::cli
