#include "tools/tilesim/application.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>

#include "tools/cli/colour.h"
#include "tools/cli/help.h"
#include "tools/cli/invocation.h"
#include "tools/cli/numbers.h"
#include "tools/cli/output.h"
#include "tools/cli/parser.h"
#include "tools/cli/version.h"

namespace tilesim::cli {

namespace {

ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return ExitCode::kUsage;
    case ErrorKind::kAbsent:
      return ExitCode::kAbsent;
    case ErrorKind::kFailed:
      break;
  }
  return ExitCode::kFailed;
}

/// True for messages that name their file, which need no place in front.
bool names_place(const Error& error) {
  if (error.where.find_first_of("./") == std::string::npos) {
    return false;  // such as "a"
  }
  constexpr std::string_view kAround = " '\".,:;()";
  for (std::size_t at = 0; (at = error.message.find(error.where, at)) != std::string::npos; ++at) {
    const std::size_t end = at + error.where.size();
    if ((at == 0 || kAround.find(error.message[at - 1]) != std::string_view::npos) &&
        (end == error.message.size() || kAround.find(error.message[end]) != std::string_view::npos)) {
      return true;
    }
  }
  return false;
}

ExitCode report(const Error& error, ColourMode mode = ColourMode::kAuto) {
  const Palette palette(use_colour(mode, colour_environment(STDERR_FILENO)));
  const bool named = error.where.empty() || names_place(error);
  std::string text = fmt::format("{} {}{}{}\n", palette.error("tilesim: error:"), named ? "" : error.where,
                                 named ? "" : ": ", error.message);
  if (!error.remedy.empty()) {
    text += fmt::format("{} {}\n", palette.bold("remedy:"), error.remedy);
  }
  std::fputs(text.c_str(), stderr);
  return exit_code(error.kind);
}

ExitCode print(const std::string& text) {
  const auto written = Output::standard().write(text);
  return written ? ExitCode::kFine : report(written.error());
}

/// A command of two words, as "trace kernels": the first one names a group.
bool in_group(const Subcommand& subcommand, const std::string& group) {
  return subcommand.name.starts_with(group + " ");
}

std::vector<Subcommand> group_of(const std::string& name) {
  std::vector<Subcommand> group;
  for (const Subcommand& subcommand : subcommands()) {
    if (in_group(subcommand, name)) {
      group.push_back(subcommand);
    }
  }
  return group;
}

const Subcommand* find(const std::string& name) {
  const auto all = subcommands();
  const auto found = std::find_if(all.begin(), all.end(), [&name](const Subcommand& s) { return s.name == name; });
  return found == all.end() ? nullptr : &*found;
}

ExitCode unknown_subcommand(const std::string& name) {
  std::vector<std::string> known;
  for (const Subcommand& subcommand : subcommands()) {
    known.push_back(subcommand.name);
  }
  const std::string what = name.starts_with('-') ? "flag" : "command";
  return report(Error{ErrorKind::kUsage,
                      fmt::format("unknown {} {}{}", what, in_quotes(name), did_you_mean(name, known)),
                      fmt::format("the commands are {}; flags follow the command", fmt::join(known, ", ")), ""});
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::find(arguments.begin(), end, "-h") != end || std::find(arguments.begin(), end, "--help") != end;
}

ExitCode unknown_in_group(const std::string& group, const std::string& name) {
  std::vector<std::string> known;
  for (const Subcommand& subcommand : group_of(group)) {
    known.push_back(subcommand.name.substr(group.size() + 1));
  }
  return report(Error{ErrorKind::kUsage,
                      fmt::format("unknown command {}{}", in_quotes(group + " " + name), did_you_mean(name, known)),
                      fmt::format("write 'tilesim {}' and one of {}", group, fmt::join(known, ", ")), ""});
}

/// The commands of a group, when none of them was named.
ExitCode answer_for_group(const std::vector<std::string>& words) {
  const std::string& group = words.front();
  if (words.size() > 1 && !words[1].starts_with('-')) {
    return unknown_in_group(group, words[1]);
  }
  const ExitCode code = print(short_help(group_of(group)));
  return code == ExitCode::kFine && !asks_for_help(words) ? ExitCode::kUsage : code;
}

/// No output takes the place of an input or of another output.
Result<void> check_files(const Invocation& invocation) {
  const auto place = [](const std::string& path) {
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
    return error ? std::filesystem::path(path) : whole;
  };
  std::map<std::filesystem::path, std::string> taken;
  for (const std::string& path : invocation.positionals()) {
    taken.emplace(place(path), "the input");
  }
  for (const char* flag : {"rows", "sass", "cubin", "trace", "ncu", "recorded"}) {
    for (const std::string& path : invocation.all(flag)) {
      taken.emplace(place(path), std::string("--") + flag);
    }
  }
  for (const char* flag : {"out", "csv", "html", "json"}) {
    const auto path = invocation.text(flag);
    if (!path || path->empty() || *path == "-") {
      continue;
    }
    const auto [other, is_new] = taken.emplace(place(*path), std::string("--") + flag);
    if (!is_new) {
      return fail(ErrorKind::kUsage,
                  fmt::format("--{} {} would overwrite what {} names", flag, in_quotes(*path), other->second),
                  "give it a file of its own");
    }
  }
  return {};
}

ExitCode execute(const Subcommand& subcommand, const std::vector<std::string>& arguments) {
  const auto invocation = parse(subcommand, arguments);
  if (!invocation) {
    return report(invocation.error());
  }
  if (const auto apart = check_files(*invocation); !apart) {
    return report(apart.error());
  }
  const auto code = subcommand.run(*invocation);
  const std::string colour = invocation->text("color").value_or("auto");
  const ColourMode mode = colour == "never"    ? ColourMode::kNever
                          : colour == "always" ? ColourMode::kAlways
                                               : ColourMode::kAuto;
  return code ? *code : report(code.error(), mode);
}

ExitCode dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    const ExitCode code = print(short_help(subcommands()));
    return code == ExitCode::kFine ? ExitCode::kUsage : code;
  }
  const bool asks = arguments.front() == "help";
  const std::vector<std::string> words(arguments.begin() + (asks && arguments.size() > 1 ? 1 : 0), arguments.end());
  const std::string& first = words.front();
  const bool two_words = words.size() > 1 && find(first + " " + words[1]) != nullptr;
  const Subcommand* subcommand = two_words ? find(first + " " + words[1]) : find(first);
  if (subcommand == nullptr && !group_of(first).empty()) {
    return answer_for_group(words);
  }
  if (asks || asks_for_help(arguments)) {
    return print(subcommand == nullptr ? long_help(subcommands()) : subcommand_help(*subcommand));
  }
  if (first == "--version") {
    const bool json = arguments.size() == 2 && arguments[1] == "--json";
    if (arguments.size() > 1 && !json) {
      return report(Error{ErrorKind::kUsage, fmt::format("unexpected argument {}", in_quotes(arguments[1])),
                          "write 'tilesim --version' or 'tilesim --version --json'", ""});
    }
    return print(json ? version_json() : version_text());
  }
  if (subcommand == nullptr) {
    return unknown_subcommand(first);
  }
  const std::vector<std::string> rest(words.begin() + (two_words ? 2 : 1), words.end());
  if (rest.empty() && !subcommand->works_bare &&
      (subcommand->maximum_positionals == 0 || subcommand->needs_positional)) {
    const ExitCode code = print(subcommand_short_help(*subcommand));
    return code == ExitCode::kFine ? ExitCode::kUsage : code;
  }
  return execute(*subcommand, rest);
}

}  // namespace

std::span<const Subcommand> subcommands() {
  static const std::array all{run_subcommand(),
                              replay_subcommand(),
                              check_subcommand(),
                              trace_kernels_subcommand(),
                              trace_record_subcommand(),
                              trace_info_subcommand(),
                              trace_cat_subcommand(),
                              trace_convert_subcommand(),
                              trace_assemble_subcommand(),
                              trace_disassemble_subcommand(),
                              validate_subcommand(),
                              gpus_subcommand(),
                              calibrate_subcommand()};
  return all;
}

ExitCode run_application(const std::vector<std::string>& arguments) {
  try {
    return dispatch(arguments);
  } catch (const std::bad_alloc&) {
    return report(
        Error{ErrorKind::kFailed, "out of memory", "use a smaller problem or a machine with more memory", ""});
  } catch (const std::exception& error) {
    return report(Error{ErrorKind::kFailed, fmt::format("internal error: {}", error.what()),
                        "report it with the command line", ""});
  }
}

}  // namespace tilesim::cli
