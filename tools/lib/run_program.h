// Runs another program and waits for it.
#pragma once

#include <string>
#include <vector>

#include "model/result.h"

namespace tilesim::app {

struct ProgramResult {
  int exit_code = 0;   ///< 128 + signal if a signal ended it
  std::string output;  ///< standard output and standard error
};

/// `program` is a path. Errors (kFailed): it cannot be started.
[[nodiscard]] Result<ProgramResult> run_program(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace tilesim::app
