// The command as a function: arguments in, exit code out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/cli/subcommand.h"

namespace tilesim::cli {

/// All subcommands, in the order of the help text.
[[nodiscard]] std::span<const Subcommand> subcommands();

/// Runs `tilesim` with the arguments after the program's name. Prints errors on stderr.
[[nodiscard]] ExitCode run_application(const std::vector<std::string>& arguments);

// One per file of this folder.
[[nodiscard]] Subcommand calibrate_subcommand();
[[nodiscard]] Subcommand check_subcommand();
[[nodiscard]] Subcommand run_subcommand();
[[nodiscard]] Subcommand replay_subcommand();
[[nodiscard]] Subcommand trace_kernels_subcommand();
[[nodiscard]] Subcommand trace_record_subcommand();
[[nodiscard]] Subcommand trace_info_subcommand();
[[nodiscard]] Subcommand trace_cat_subcommand();
[[nodiscard]] Subcommand trace_convert_subcommand();
[[nodiscard]] Subcommand trace_assemble_subcommand();
[[nodiscard]] Subcommand trace_disassemble_subcommand();
[[nodiscard]] Subcommand validate_subcommand();
[[nodiscard]] Subcommand gpus_subcommand();

}  // namespace tilesim::cli
