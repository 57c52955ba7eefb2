// One line of a machine code listing, classified. Internal to the listing reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilesim::traces {

struct ListingLine {
  enum class Kind { kOther, kInstruction, kContinuation, kFunction } kind = Kind::kOther;
  std::uint64_t address = 0;             ///< kInstruction
  std::string_view text;                 ///< kInstruction: assembly; kFunction: mangled name
  std::optional<std::uint64_t> word;     ///< the 64-bit word in the trailing comment, if there is one
  std::optional<unsigned> architecture;  ///< SM number, where the line names one
};

/// Classifies a line without its end of line.
[[nodiscard]] ListingLine classify_line(std::string_view line);

[[nodiscard]] std::string_view trim(std::string_view text);

}  // namespace tilesim::traces
