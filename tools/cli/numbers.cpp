#include "tools/cli/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tilesim::cli {

namespace {

constexpr std::size_t kLongestEcho = 60;  // of a value in a message

}  // namespace

std::string in_quotes(std::string_view text) {
  const bool cut = text.size() > kLongestEcho;
  std::string shown(text.substr(0, kLongestEcho));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      c = '?';
    }
  }
  return fmt::format("'{}{}'", shown, cut ? "..." : "");
}

Result<std::int64_t> parse_integer(const std::string& what, std::string_view text, std::int64_t minimum,
                                   std::int64_t maximum) {
  const std::string range = fmt::format("give a whole number from {} to {}", minimum, maximum);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) {
    return fail(ErrorKind::kUsage, fmt::format("{} {} is too large for 64 bits", what, in_quotes(text)), range);
  }
  if (code != std::errc{} || end != text.data() + text.size()) {
    return fail(ErrorKind::kUsage, fmt::format("{} {} is not a whole number", what, in_quotes(text)), range);
  }
  if (value < minimum || value > maximum) {
    const std::string_view problem = value == 0 ? "is zero" : (value < minimum ? "is too small" : "is too large");
    return fail(ErrorKind::kUsage,
                fmt::format("{} {} {}", what, value, value < 0 && minimum >= 0 ? "is negative" : problem), range);
  }
  return value;
}

Result<double> parse_real(const std::string& what, std::string_view text, double minimum, double maximum) {
  const std::string range = fmt::format("give a number from {} to {}", minimum, maximum);
  double value = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return fail(ErrorKind::kUsage, fmt::format("{} {} is not a number", what, in_quotes(text)), range);
  }
  if (value < minimum || value > maximum) {
    return fail(ErrorKind::kUsage, fmt::format("{} {} is out of range", what, value), range);
  }
  return value;
}

Result<std::vector<std::int64_t>> parse_integers(const std::string& what, std::string_view text, char separator,
                                                 std::size_t least, std::size_t most, std::int64_t minimum,
                                                 std::int64_t maximum) {
  const std::string count = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  const std::string form =
      fmt::format("give {} numbers separated by '{}', each from {} to {}", count, separator, minimum, maximum);
  std::vector<std::int64_t> values;
  std::size_t start = 0;
  while (start <= text.size() && values.size() <= most) {
    const std::size_t stop = std::min(text.find(separator, start), text.size());
    const auto value = parse_integer(what, text.substr(start, stop - start), minimum, maximum);
    if (!value) {
      Error error = value.error();
      error.message += text.find(separator) == std::string_view::npos ? "" : fmt::format(" (in {})", in_quotes(text));
      error.remedy = form;
      return tl::unexpected<Error>(std::move(error));
    }
    values.push_back(*value);
    start = stop + 1;
  }
  if (values.size() < least || values.size() > most) {
    return fail(ErrorKind::kUsage, fmt::format("{} {} has the wrong number of extents", what, in_quotes(text)), form);
  }
  return values;
}

}  // namespace tilesim::cli
