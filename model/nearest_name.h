// "Did you mean": the known name closest to a mistyped one.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace tilesim {

/// Least insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, none of them twice in one
/// place.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

/// The member of `known` nearest to `name` (the first of equals), or an empty string if `known` is empty.
[[nodiscard]] inline std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  const auto best = std::min_element(known.begin(), known.end(), [name](const std::string& a, const std::string& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  return best == known.end() ? std::string() : *best;
}

/// The member of `known` that `name` may be a slip of: the nearest one, if about a third of the longer of the two
/// differs at most (one character of up to 4, two of up to 7); else an empty string.
[[nodiscard]] inline std::string near_name(std::string_view name, const std::vector<std::string>& known) {
  std::string nearest = nearest_name(name, known);
  const std::size_t most = std::max<std::size_t>(1, (std::max(name.size(), nearest.size()) + 1) / 3);
  return edit_distance(name, nearest) <= most ? nearest : std::string();
}

/// "did you mean 'NAME'?" with the quote mark around it, and `behind` after it; `behind` alone if no name is near.
[[nodiscard]] inline std::string suggestion(std::string_view name, const std::vector<std::string>& known,
                                            std::string_view quote = "'", std::string_view behind = "") {
  const std::string near = near_name(name, known);
  if (near.empty()) {
    return std::string(behind);
  }
  return std::string("did you mean ")
      .append(quote)
      .append(near)
      .append(quote)
      .append("?")
      .append(behind.empty() ? "" : " ")
      .append(behind);
}

}  // namespace tilesim
