#include "tools/cli/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <map>

#include "model/nearest_name.h"
#include "tools/cli/numbers.h"

namespace tilesim::cli {

namespace {

namespace po = boost::program_options;

po::options_description describe(const Subcommand& subcommand) {
  po::options_description options;
  const auto add = [&options](const std::string& name, bool takes_value) {
    if (takes_value) {
      options.add_options()(name.c_str(), po::value<std::vector<std::string>>(), "");
    } else {
      options.add_options()(name.c_str(), "");
    }
  };
  for (const Flag& flag : subcommand.flags) {
    // In Boost's spelling a name after a comma is the one with a single dash.
    add((flag.single_dash ? "," : "") + flag.name, !flag.metavar.empty());
    for (const std::string& alias : flag.aliases) {
      add(alias, !flag.metavar.empty());
    }
  }
  return options;
}

/// The flag of which `spelling` (with or without dashes) is the name or an alias.
const Flag* find_flag(const Subcommand& subcommand, std::string spelling) {
  spelling.erase(0, std::min(spelling.find_first_not_of('-'), spelling.size()));
  for (const Flag& flag : subcommand.flags) {
    if (flag.name == spelling || std::count(flag.aliases.begin(), flag.aliases.end(), spelling) != 0) {
      return &flag;
    }
  }
  return nullptr;
}

Error unknown_flag(const Subcommand& subcommand, const std::string& name) {
  std::vector<std::string> known{"--help"};
  for (const Flag& flag : subcommand.flags) {
    known.push_back(spelling(flag));
    for (const std::string& alias : flag.aliases) {
      known.push_back("--" + alias);
    }
  }
  return Error{ErrorKind::kUsage, fmt::format("unknown flag {}{}", in_quotes(name), did_you_mean(name, known)),
               fmt::format("run 'tilesim {} --help' for the flags", subcommand.name), ""};
}

Error to_error(const Subcommand& subcommand, const po::error& error) {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    return unknown_flag(subcommand, unknown->get_option_name());
  }
  const std::string help = fmt::format("see 'tilesim {} --help'", subcommand.name);
  if (const auto* syntax = dynamic_cast<const po::invalid_command_line_syntax*>(&error)) {
    const std::string flag = syntax->get_option_name();
    const bool missing = syntax->kind() == po::invalid_syntax::missing_parameter ||
                         syntax->kind() == po::invalid_syntax::empty_adjacent_parameter;
    const Flag* known = find_flag(subcommand, flag);
    if (missing && known != nullptr) {
      return Error{ErrorKind::kUsage, fmt::format("{} has no value", flag),
                   fmt::format("write {} {}", spelling(*known), known->metavar), ""};
    }
    return Error{ErrorKind::kUsage, fmt::format("{} takes no value", flag), help, ""};
  }
  return Error{ErrorKind::kUsage, error.what(), help, ""};
}

/// Sorts Boost's options into flags by canonical name and positionals.
Result<Invocation> collect(const Subcommand& subcommand, const po::parsed_options& parsed) {
  std::map<std::string, std::vector<std::string>> values;
  std::vector<std::string> positionals;
  for (const auto& option : parsed.options) {
    if (option.position_key >= 0 && option.string_key.empty()) {
      positionals.insert(positionals.end(), option.value.begin(), option.value.end());
      continue;
    }
    const Flag* flag = find_flag(subcommand, option.string_key);
    if (flag == nullptr) {
      return tl::unexpected<Error>(unknown_flag(subcommand, option.string_key));
    }
    std::vector<std::string>& given = values[flag->name];
    if (!given.empty() && !flag->repeatable) {
      return fail(ErrorKind::kUsage, fmt::format("{} is given twice", spelling(*flag)), "give it once");
    }
    given.push_back(option.value.empty() ? "" : option.value.front());
  }
  if (positionals.size() > subcommand.maximum_positionals) {
    return fail(ErrorKind::kUsage,
                fmt::format("unexpected argument {}", in_quotes(positionals[subcommand.maximum_positionals])),
                fmt::format("usage: tilesim {} {}", subcommand.name, subcommand.usage));
  }
  return Invocation(subcommand, std::move(values), std::move(positionals));
}

}  // namespace

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
  const std::string text = suggestion(name, known);
  return text.empty() ? text : "; " + text;
}

Result<Invocation> parse(const Subcommand& subcommand, const std::vector<std::string>& arguments) {
  namespace style = po::command_line_style;
  try {
    const po::options_description options = describe(subcommand);
    const po::parsed_options parsed =
        po::command_line_parser(arguments).options(options).style(style::unix_style & ~style::allow_guessing).run();
    return collect(subcommand, parsed);
  } catch (const po::error& error) {
    return tl::unexpected<Error>(to_error(subcommand, error));
  }
}

}  // namespace tilesim::cli
