#include "tools/cli/colour.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace tilesim::cli {

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

bool use_colour(ColourMode mode, const ColourEnvironment& environment) {
  if (mode != ColourMode::kAuto) {
    return mode == ColourMode::kAlways;
  }
  if (!environment.no_color.empty()) {
    return false;
  }
  if (!environment.force_color.empty()) {
    return true;
  }
  return environment.terminal && environment.term != "dumb";
}

ColourEnvironment colour_environment(int descriptor) {
  ColourEnvironment environment;
  environment.terminal = isatty(descriptor) == 1;
  environment.no_color = variable("NO_COLOR");
  environment.force_color = variable("CLICOLOR_FORCE");
  if (environment.force_color.empty()) {
    environment.force_color = variable("FORCE_COLOR");
  }
  environment.term = variable("TERM");
  return environment;
}

std::string Palette::wrap(std::string_view code, std::string_view text) const {
  return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

}  // namespace tilesim::cli
