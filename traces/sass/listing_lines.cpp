#include "traces/sass/listing_lines.h"

#include <algorithm>
#include <charconv>

namespace tilesim::traces {
namespace {

constexpr std::size_t kWordDigits = 16;
constexpr std::size_t kAddressEnd = 6;  // an address comment has at least four digits: "/*0010*/"

std::optional<std::uint64_t> hex(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

// The word of a comment "/* 0x0123456789abcdef */", which must be all that `text` holds.
std::optional<std::uint64_t> word_comment(std::string_view text) {
  text = trim(text);
  if (!text.starts_with("/*") || !text.ends_with("*/") || text.size() < 4) {
    return std::nullopt;
  }
  text = trim(text.substr(2, text.size() - 4));
  if (!text.starts_with("0x") || text.size() != 2 + kWordDigits) {
    return std::nullopt;
  }
  return hex(text.substr(2));
}

std::optional<unsigned> number_after(std::string_view line, std::string_view key) {
  for (std::size_t at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
    unsigned value = 0;
    const char* first = line.data() + at + key.size();
    if (std::from_chars(first, line.data() + line.size(), value).ec == std::errc{}) {
      return value;
    }
  }
  return std::nullopt;
}

std::optional<unsigned> architecture(std::string_view line) {
  if (const auto number = number_after(line, "EF_CUDA_SM")) {
    return number;
  }
  return number_after(line, "sm_");
}

// cuobjdump: "Function : NAME"; nvdisasm: ".section .text.NAME,...".
std::string_view function_name(std::string_view line) {
  constexpr std::string_view kCuobjdump = "Function : ";
  constexpr std::string_view kSection = ".section";
  constexpr std::string_view kText = ".text.";
  if (line.starts_with(kCuobjdump)) {
    return trim(line.substr(kCuobjdump.size()));
  }
  if (!line.starts_with(kSection)) {
    return {};
  }
  line = trim(line.substr(kSection.size()));
  if (!line.starts_with(kText)) {
    return {};
  }
  line.remove_prefix(kText.size());
  return trim(line.substr(0, line.find(',')));
}

ListingLine comment_line(std::string_view line) {
  ListingLine result;
  if (const auto word = word_comment(line)) {
    result.kind = ListingLine::Kind::kContinuation;
    result.word = word;
    return result;
  }
  const std::size_t close = line.find("*/");
  const auto address = close == std::string_view::npos ? std::nullopt : hex(line.substr(2, close - 2));
  if (!address) {
    return result;
  }
  const std::string_view rest = line.substr(close + 2);
  const std::size_t semicolon = rest.find(';');
  const std::size_t word = rest.find("/*");
  if (semicolon == std::string_view::npos && word == std::string_view::npos && close < kAddressEnd) {
    return result;
  }
  result.kind = ListingLine::Kind::kInstruction;
  result.address = *address;
  result.text = trim(rest.substr(0, std::min(semicolon, word)));
  if (word != std::string_view::npos) {
    result.word = word_comment(rest.substr(word));
  }
  return result;
}

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

ListingLine classify_line(std::string_view line) {
  line = trim(line);
  if (line.starts_with("/*")) {
    return comment_line(line);
  }
  ListingLine result;
  result.text = function_name(line);
  if (!result.text.empty()) {
    result.kind = ListingLine::Kind::kFunction;
  } else {
    result.architecture = architecture(line);
  }
  return result;
}

}  // namespace tilesim::traces
