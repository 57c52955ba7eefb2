// Command lines to invocations, by Boost.Program_options without its guessing of abbreviations.
#pragma once

#include <string>
#include <vector>

#include "model/result.h"
#include "tools/cli/invocation.h"
#include "tools/cli/subcommand.h"

namespace tilesim::cli {

/// Parses what follows the subcommand's name. Errors (kUsage): an unknown flag with the nearest one, a flag given
/// twice, a missing value, a value for a switch, too many positionals.
[[nodiscard]] Result<Invocation> parse(const Subcommand& subcommand, const std::vector<std::string>& arguments);

/// "; did you mean 'X'?" if a known name is near enough to be a slip, else nothing.
[[nodiscard]] std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

}  // namespace tilesim::cli
