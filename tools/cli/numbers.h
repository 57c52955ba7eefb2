// Numbers from the command line, with messages that name the flag, the value and the range.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace tilesim::cli {

/// A whole decimal number within [minimum, maximum]. Fractions, units, signs alone and overflow are refused.
[[nodiscard]] Result<std::int64_t> parse_integer(const std::string& what, std::string_view text, std::int64_t minimum,
                                                 std::int64_t maximum);

/// A finite decimal number within [minimum, maximum].
[[nodiscard]] Result<double> parse_real(const std::string& what, std::string_view text, double minimum, double maximum);

/// Integers between `separator`s, e.g. "128x128x8" or "32,32": from `least` to `most` of them.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_integers(const std::string& what, std::string_view text,
                                                               char separator, std::size_t least, std::size_t most,
                                                               std::int64_t minimum, std::int64_t maximum);

/// A value in quotes for messages: control characters replaced, cut when long.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace tilesim::cli
