// A subcommand as data. Parsing, help and "did you mean" are all made from these records.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/result.h"

namespace tilesim::cli {

class Invocation;

/// Exit codes of the command (see the README). kInterrupted is what a shell sees after Ctrl-C.
enum class ExitCode : int {
  kFine = 0,
  kFailed = 1,
  kUsage = 2,
  kGateFailed = 3,
  kAbsent = 4,
  kInterrupted = 130,
};

/// One flag. A flag without a metavar is a switch; all others take one value.
struct Flag {
  std::string name;     ///< without dashes
  std::string metavar;  ///< "N", "FILE"; empty for a switch
  std::string help;
  std::string group;                 ///< heading in the help text
  std::vector<std::string> aliases;  ///< other spellings
  bool repeatable = false;
  bool single_dash = false;  ///< "-j" instead of "--j"
};

/// The flag as users write it: "--stages", "-j".
[[nodiscard]] inline std::string spelling(const Flag& flag) { return (flag.single_dash ? "-" : "--") + flag.name; }

struct Subcommand {
  std::string name;                   ///< two words for one of a group, as "trace kernels"
  std::string summary;                ///< one line, for the list
  std::string usage;                  ///< after "tilesim NAME"
  std::string description;            ///< a few lines for the help text
  std::vector<std::string> examples;  ///< whole command lines
  std::vector<Flag> flags;
  std::size_t maximum_positionals = 0;
  bool needs_positional = false;  ///< without any argument the short help is printed
  bool works_bare = false;        ///< runs without any argument although it takes no positional
  /// Runs the command; what it returns becomes the exit code. Errors are printed by the caller.
  Result<ExitCode> (*run)(const Invocation& invocation) = nullptr;
};

}  // namespace tilesim::cli
