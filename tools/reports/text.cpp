#include "tools/reports/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "model/occupancy.h"

namespace tilesim::reports {

std::string si(double value, std::string_view unit) {
  static constexpr std::array<std::string_view, 9> kPrefixes{"n", "u", "m", "", "k", "M", "G", "T", "P"};
  constexpr int kUnity = 3;
  if (!std::isfinite(value)) {
    return "n/a";
  }
  int power = kUnity;
  double scaled = value;
  while (std::abs(scaled) >= 999.95 && power + 1 < static_cast<int>(kPrefixes.size())) {
    scaled /= 1000.0;
    ++power;
  }
  while (value != 0.0 && std::abs(value) < 1.0 && std::abs(scaled) < 1.0 && power > 0 && !unit.empty()) {
    scaled *= 1000.0;
    --power;
  }
  const std::string_view prefix = kPrefixes[static_cast<std::size_t>(power)];
  const std::string space = prefix.empty() && unit.empty() ? "" : " ";
  return fmt::format("{}{}{}{}", plain(scaled, 4), space, prefix, unit);
}

std::string plain(double value, int digits) {
  if (!std::isfinite(value)) {
    return "n/a";
  }
  const double magnitude = std::abs(value);
  if (magnitude != 0.0 && (magnitude >= 1e15 || magnitude < 1e-4)) {
    return fmt::format("{:.{}g}", value, digits);
  }
  const int whole = magnitude > 0.0 ? static_cast<int>(std::floor(std::log10(magnitude))) + 1 : 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, digits - whole));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    text.erase(text.find_last_not_of('.') + 1);
  }
  return text;
}

std::string percent(double value) { return fmt::format("{:.1f} %", value); }

std::string limit(std::int64_t value) {
  return value >= model::Occupancy::kUnlimited ? "unlimited" : fmt::format("{}", value);
}

std::string bar(double fraction, int width) {
  const double bounded = std::clamp(std::isfinite(fraction) ? fraction : 0.0, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(std::lround(bounded * width));
  return std::string(filled, '#') + std::string(static_cast<std::size_t>(width) - filled, '.');
}

std::string shorten(std::string_view text, std::size_t width) {
  if (text.size() <= width) {
    return std::string(text);
  }
  return std::string(text.substr(0, width - 3)) + "...";
}

std::string paragraph(std::string_view first, std::string_view text, std::size_t width) {
  std::istringstream words{std::string(text)};
  std::string out(first);
  std::string word;
  std::size_t used = first.size();
  bool fresh = true;
  while (words >> word) {
    if (!fresh && used + 1 + word.size() > width) {
      out += "\n" + std::string(first.size(), ' ');
      used = first.size();
      fresh = true;
    }
    out += (fresh ? "" : " ") + word;
    used += word.size() + (fresh ? 0 : 1);
    fresh = false;
  }
  return out + "\n";
}

std::string Table::text(const cli::Palette& palette) const {
  std::vector<std::size_t> widths(right_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line = "  ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += right_[i] ? fmt::format("{:>{}}", row[i], widths[i]) : fmt::format("{:<{}}", row[i], widths[i]);
      line += i + 1 < row.size() ? "  " : "";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += (&row == &rows_.front() ? palette.dim(line) : line) + "\n";
  }
  return out;
}

}  // namespace tilesim::reports
