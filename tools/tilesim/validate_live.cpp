// Kernels built, run and measured on this machine's GPU by kernels/runner/record, then compared.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "tools/lib/compiled_tile.h"
#include "tools/lib/recorded_set.h"
#include "tools/lib/run_program.h"
#include "tools/lib/scratch_folder.h"
#include "tools/tilesim/launch_flags.h"
#include "tools/tilesim/validate.h"
#include "traces/recorded/recording.h"

namespace tilesim::cli {

namespace {

constexpr int kExitAbsent = 4;
constexpr std::int64_t kSeconds = 300;

bool is_program(const std::filesystem::path& path) { return ::access(path.c_str(), X_OK) == 0; }

bool on_path(std::string_view name) {
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (is_program(std::filesystem::path(rest.substr(0, colon)) / name)) {
      return true;
    }
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return false;
}

/// nvcc as the kernels' scripts look for it.
bool has_nvcc() {
  const char* named = std::getenv("NVCC");
  const char* toolkit = std::getenv("CUDA_HOME");
  return (named != nullptr && (is_program(named) || on_path(named))) || on_path("nvcc") ||
         (toolkit != nullptr && is_program(std::filesystem::path(toolkit) / "bin" / "nvcc"));
}

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
  need(std::filesystem::exists("/dev/nvidiactl", ignored), "an NVIDIA GPU with its driver",
       "run this on a machine with an H200");
  need(has_nvcc(), "nvcc", "install the CUDA Toolkit and set NVCC, CUDA_HOME or PATH");
  need(on_path("ncu"), "ncu", "install Nsight Compute and put it into PATH");
  need(on_path("python3"), "python3", "install it");
  need(on_path("zstd"), "zstd", "install it");
  need(std::filesystem::exists(script, ignored), fmt::format("the runner ({})", script.string()),
       "set TILESIM_KERNELS to the folder kernels/ of a source tree");
  if (missing.empty()) {
    return {};
  }
  return fail(ErrorKind::kAbsent, fmt::format("--live needs what is not here: {}", missing),
              remedy + "; without a GPU, 'tilesim validate --replay' compares with the recorded set");
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
    return fail(done->exit_code == kExitAbsent ? ErrorKind::kAbsent : ErrorKind::kFailed,
                fmt::format("{} ended with exit code {}: {}", script.string(), done->exit_code, done->output),
                "see what it says; 'record --help' explains its steps");
  }
  return {};
}

/// What is locked in the shipped set stays locked however it is measured.
std::set<std::string> locked_names() {
  std::set<std::string> names;
  const auto folder = app::shipped_recordings();
  const auto recordings = folder ? traces::read_recordings(*folder) : tl::unexpected<Error>(folder.error());
  if (recordings) {
    const std::vector<traces::Part> parts = traces::split(*recordings);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] == traces::Part::kLocked) {
        names.insert((*recordings)[i].name);
      }
    }
  }
  return names;
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
  if (invocation.has("recorded")) {
    return fail(ErrorKind::kUsage, "--recorded does not go with --live", "leave one of them out");
  }
  constexpr std::int64_t kMostSeconds = 86400;
  const auto limit = invocation.integer("limit", 1, kMostSeconds);
  if (!limit) {
    return tl::unexpected<Error>(limit.error());
  }
  int threads = 1;
  if (const auto done = read_host_threads(invocation, threads); !done) {
    return tl::unexpected<Error>(done.error());
  }
  const std::filesystem::path script = app::kernels_folder() / "runner" / "record";
  if (const auto ready = check_machine(script); !ready) {
    return tl::unexpected<Error>(ready.error());
  }
  const auto scratch = app::ScratchFolder::make();
  if (!scratch) {
    return tl::unexpected<Error>(scratch.error());
  }
  const std::filesystem::path to = scratch->path() / "recorded";
  std::vector<std::string> arguments{
      "--build", (scratch->path() / "build").string(), "--to",      to.string(),
      "-j",      fmt::format("{}", threads),           "--limit-s", fmt::format("{}", limit->value_or(kSeconds))};
  for (const auto& [flag, value] :
       {std::pair{"--only", invocation.text("only")}, std::pair{"--shapes", invocation.text("shapes")}}) {
    if (value) {
      arguments.insert(arguments.end(), {flag, *value});
    }
  }
  if (const auto done = record(script, arguments); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return validate_folder(invocation, setting, to, "measurements of this machine", locked_names());
}

}  // namespace tilesim::cli
