// Building blocks of text reports: numbers with SI prefixes, bars, tables. ASCII only, fixed locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/colour.h"

namespace tilesim::reports {

/// Four significant digits with an SI prefix: 1234567 and "B" give "1.235 MB"; 12 and "" give "12".
[[nodiscard]] std::string si(double value, std::string_view unit);

/// A number as it would be written by hand: no exponent up to 1e15, no trailing zeros, `digits` significant ones.
[[nodiscard]] std::string plain(double value, int digits = 6);

/// "42.3 %".
[[nodiscard]] std::string percent(double value);

/// A limit as text: "unlimited" for Occupancy::kUnlimited.
[[nodiscard]] std::string limit(std::int64_t value);

/// `fraction` of `width` characters as '#', the rest as '.'.
[[nodiscard]] std::string bar(double fraction, int width);

/// Cuts to `width` characters, with "..." where something is missing.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t width);

inline constexpr std::size_t kWideLine = 100;
inline constexpr std::size_t kScreenLine = 80;

/// `text` as lines of at most `width` characters, the first after `first`, the others after as many spaces.
[[nodiscard]] std::string paragraph(std::string_view first, std::string_view text, std::size_t width = kWideLine);

/// Columns padded to their widest cell; `right` tells which are right-aligned. Each line is indented by two spaces.
class Table {
 public:
  explicit Table(std::vector<bool> right) : right_(std::move(right)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// The first row is a heading and is printed dimmed.
  [[nodiscard]] std::string text(const cli::Palette& palette) const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tilesim::reports
