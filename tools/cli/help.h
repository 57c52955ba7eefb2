// Help texts, made from the subcommand records.
#pragma once

#include <span>
#include <string>

#include "tools/cli/subcommand.h"

namespace tilesim::cli {

/// What a bare `tilesim` prints: usage, subcommands, two examples.
[[nodiscard]] std::string short_help(std::span<const Subcommand> subcommands);

/// `tilesim --help`: the same with exit codes, environment and streams.
[[nodiscard]] std::string long_help(std::span<const Subcommand> subcommands);

/// `tilesim NAME --help`.
[[nodiscard]] std::string subcommand_help(const Subcommand& subcommand);

/// A bare `tilesim NAME` that needs arguments: usage and two examples.
[[nodiscard]] std::string subcommand_short_help(const Subcommand& subcommand);

}  // namespace tilesim::cli
