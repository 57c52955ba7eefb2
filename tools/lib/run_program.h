// Runs another program and waits for it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace tilesim::app {

struct ProgramResult {
  int exit_code = 0;   ///< 128 + signal if a signal ended it
  std::string output;  ///< standard output and standard error
};

/// `program` is a path. `on_line`, if any, is called with each whole line of its output as it comes. Errors (kFailed):
/// it cannot be started; a signal came that an InterruptGuard held.
[[nodiscard]] Result<ProgramResult> run_program(const std::string& program, const std::vector<std::string>& arguments,
                                                const std::function<void(std::string_view)>& on_line = {});

/// True for a file that may be run; a folder is no program.
[[nodiscard]] bool is_program(const std::filesystem::path& path);

/// Path of a program: `name` itself where it has a slash, else the first of that name in PATH. None if it is not there.
[[nodiscard]] std::optional<std::string> find_program(const std::string& name);

/// The same for a program of the CUDA Toolkit, but for $CUDA_HOME/bin, which comes before PATH.
[[nodiscard]] std::optional<std::string> find_cuda_program(const std::string& name);

}  // namespace tilesim::app
