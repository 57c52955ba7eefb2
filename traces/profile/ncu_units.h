// Units and numbers as Nsight Compute prints them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tilesim::traces {

/// What a printed number is multiplied with to be in the base unit, and that unit: ns for times, byte, cycle, ... and
/// "/second" for rates. Prefixes are decimal, as Nsight Compute's are: 135.17 Kbyte are 135,170 byte. A prefix below
/// the bar belongs to the number too, as it does there (2.61 %/Kbyte where base units are asked for and 2,614 %/byte
/// stand); times below the bar are what they say.
struct BaseUnit {
  double factor = 1.0;
  std::string name;
};
/// None for a unit that is not known, where a prefix could hide.
[[nodiscard]] std::optional<BaseUnit> base_unit(std::string_view unit);

/// How numbers are punctuated: by the locale of the machine that printed them.
enum class Punctuation {
  kPoint,  ///< 1,234.5
  kComma,  ///< 1.234,5
};

/// What a number tells about its file: none for text, for numbers such as 1,234 that can be read both ways, and for
/// such as 17,642,9 that can be read neither way.
[[nodiscard]] std::optional<Punctuation> punctuation_of(std::string_view number);

/// The number; spaces and apostrophes between its digits and a percent sign behind it do not matter. None for text, n/a
/// and what is not finite.
[[nodiscard]] std::optional<double> printed_number(std::string_view text, Punctuation punctuation);

/// Half of the last digit of such a number: 0.005 for 1.25, 0.5 for 1,234.
[[nodiscard]] double half_of_last_digit(std::string_view text, Punctuation punctuation);

}  // namespace tilesim::traces
