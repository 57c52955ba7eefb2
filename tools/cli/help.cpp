#include "tools/cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace tilesim::cli {

namespace {

constexpr std::size_t kFlagColumn = 26;  // where help texts of flags start
constexpr std::size_t kWidth = 110;

std::string examples(const std::vector<std::string>& lines) {
  std::string text = "\nExamples:\n";
  for (const std::string& line : lines) {
    text += "  " + line + "\n";
  }
  return text;
}

/// `text` in lines of at most kWidth, each but the first indented to `column`.
std::string wrap(const std::string& text, std::size_t column) {
  std::istringstream words(text);
  std::string word;
  std::string out;
  std::size_t used = column;
  while (words >> word) {
    if (used > column && used + 1 + word.size() > kWidth) {
      out += "\n" + std::string(column, ' ');
      used = column;
    }
    out += (used > column ? " " : "") + word;
    used += word.size() + (used > column ? 1 : 0);
  }
  return out;
}

std::string flag_line(const Flag& flag) {
  std::string left = fmt::format("  {} {}", spelling(flag), flag.metavar);
  left.resize(std::max(left.size() + (left.size() + 2 > kFlagColumn ? 2 : 0), kFlagColumn), ' ');
  std::string help = flag.help;
  if (!flag.aliases.empty()) {
    help += " (also";
    for (const std::string& alias : flag.aliases) {
      help += " --" + alias;
    }
    help += ")";
  }
  return left + wrap(help, std::max(left.size(), kFlagColumn)) + "\n";
}

}  // namespace

std::string short_help(std::span<const Subcommand> subcommands) {
  std::string text =
      "tilesim - simulates tiled GEMM kernels on NVIDIA GPUs\n\n"
      "Usage: tilesim COMMAND [FLAGS]\n\nCommands:\n";
  std::vector<std::string> lines;
  for (const Subcommand& subcommand : subcommands) {
    text += fmt::format("  {:<19}{}\n", subcommand.name, subcommand.summary);
    if (lines.size() < 2 && !subcommand.examples.empty()) {
      lines.push_back(subcommand.examples.front());
    }
  }
  return text + examples(lines) + "\nRun 'tilesim COMMAND --help' for its flags, 'tilesim --help' for the rest.\n";
}

std::string long_help(std::span<const Subcommand> subcommands) {
  return short_help(subcommands) +
         "\nGeneral:\n"
         "  -h, --help      help for the command, or this text\n"
         "  --version       version, commit, build type, compiler (--version --json: as JSON)\n"
         "\nStreams: results go to stdout, messages to stderr. '-' as an output file is stdout.\n"
         "Colour: --color auto|always|never; auto obeys NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR and TERM=dumb.\n"
         "\nExit codes: 0 fine, 1 failed, 2 wrong use or an illegal configuration, 3 a gate failed,\n"
         "4 something needed is absent, 130 interrupted.\n";
}

std::string subcommand_short_help(const Subcommand& subcommand) {
  std::vector<std::string> lines = subcommand.examples;
  lines.resize(std::min<std::size_t>(lines.size(), 2));
  return fmt::format("tilesim {} - {}\n\nUsage: tilesim {} {}\n{}\nRun 'tilesim {} --help' for the flags.\n",
                     subcommand.name, subcommand.summary, subcommand.name, subcommand.usage, examples(lines),
                     subcommand.name);
}

std::string subcommand_help(const Subcommand& subcommand) {
  std::string text = fmt::format("tilesim {} - {}\n\nUsage: tilesim {} {}\n", subcommand.name, subcommand.summary,
                                 subcommand.name, subcommand.usage);
  if (!subcommand.description.empty()) {
    text += "\n" + subcommand.description + "\n";
  }
  std::vector<std::string> groups;
  for (const Flag& flag : subcommand.flags) {
    if (std::find(groups.begin(), groups.end(), flag.group) == groups.end()) {
      groups.push_back(flag.group);
    }
  }
  for (const std::string& group : groups) {
    text += "\n" + group + ":\n";
    for (const Flag& flag : subcommand.flags) {
      text += flag.group == group ? flag_line(flag) : "";
    }
  }
  return text + examples(subcommand.examples);
}

}  // namespace tilesim::cli
