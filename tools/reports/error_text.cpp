#include "tools/reports/error_text.h"

#include <fmt/format.h>

#include <cmath>

namespace tilesim::reports {

namespace {

/// The number as it is shown, and its unit with a blank in front.
struct Shown {
  double value;
  const char* unit;
};

Shown shown(app::ErrorScale scale, double value) {
  constexpr double kPercent = 100.0;
  switch (scale) {
    case app::ErrorScale::kRelative:
      return {kPercent * value, " %"};
    case app::ErrorScale::kPoints:
      return {value, " pt"};
    case app::ErrorScale::kCount:
      break;
  }
  return {value, ""};
}

}  // namespace

std::string error_text(app::ErrorScale scale, double error) {
  const Shown s = shown(scale, error);
  return fmt::format("{:+.2f}{}", s.value, s.unit);
}

std::string size_text(app::ErrorScale scale, double size) {
  const Shown s = shown(scale, std::abs(size));
  return fmt::format("{:.2f}{}", s.value, s.unit);
}

const char* error_unit(app::ErrorScale scale) {
  switch (scale) {
    case app::ErrorScale::kRelative:
      return "fraction";
    case app::ErrorScale::kPoints:
      return "points";
    case app::ErrorScale::kCount:
      break;
  }
  return "difference";
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace tilesim::reports
