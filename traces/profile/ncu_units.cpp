#include "traces/profile/ncu_units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tilesim::traces {

namespace {

struct Word {
  std::string_view spelling;
  double factor;
  std::string_view base;
};

/// Words for times are spelled out: m is milli there, and M is mega elsewhere.
constexpr std::array<Word, 13> kTimes{{{"nsecond", 1.0, "ns"},
                                       {"ns", 1.0, "ns"},
                                       {"usecond", 1e3, "ns"},
                                       {"us", 1e3, "ns"},
                                       {"msecond", 1e6, "ns"},
                                       {"ms", 1e6, "ns"},
                                       {"second", 1e9, "ns"},
                                       {"sec", 1e9, "ns"},
                                       {"s", 1e9, "ns"},
                                       {"minute", 60e9, "ns"},
                                       {"min", 60e9, "ns"},
                                       {"hour", 3600e9, "ns"},
                                       {"h", 3600e9, "ns"}}};

constexpr std::array<Word, 19> kQuantities{{{"byte", 1.0, "byte"},
                                            {"B", 1.0, "byte"},
                                            {"cycle", 1.0, "cycle"},
                                            {"inst", 1.0, "inst"},
                                            {"hz", 1.0, "hz"},
                                            {"Hz", 1.0, "hz"},
                                            {"sector", 1.0, "sector"},
                                            {"sectors", 1.0, "sector"},
                                            {"branches", 1.0, "branch"},
                                            {"sample", 1.0, "sample"},
                                            {"request", 1.0, "request"},
                                            {"register", 1.0, "register"},
                                            {"thread", 1.0, "thread"},
                                            {"warp", 1.0, "warp"},
                                            {"block", 1.0, "block"},
                                            {"SM", 1.0, "SM"},
                                            {"cluster", 1.0, "cluster"},
                                            {"pass", 1.0, "pass"},
                                            {"%", 1.0, "%"}}};

constexpr std::array<std::pair<char, double>, 6> kPrefixes{
    {{'K', 1e3}, {'k', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}, {'P', 1e15}}};

template <class Words>
const Word* find_word(const Words& words, std::string_view text) {
  const auto found = std::find_if(words.begin(), words.end(), [text](const Word& w) { return w.spelling == text; });
  return found == words.end() ? nullptr : &*found;
}

/// One side of a fraction.
std::optional<BaseUnit> simple_unit(std::string_view text) {
  if (const Word* time = find_word(kTimes, text)) {
    return BaseUnit{time->factor, std::string(time->base)};
  }
  if (const Word* quantity = find_word(kQuantities, text)) {
    return BaseUnit{1.0, std::string(quantity->base)};
  }
  for (const auto& [letter, factor] : kPrefixes) {
    if (text.size() > 1 && text.front() == letter) {
      const Word* quantity = find_word(kQuantities, text.substr(1));
      if (quantity != nullptr && quantity->base != "%") {
        return BaseUnit{factor, std::string(quantity->base)};
      }
    }
  }
  return std::nullopt;
}

/// The number without what stands between its digits: spaces (also those that do not break lines) and apostrophes.
std::string bare(std::string_view text) {
  std::string result(text);
  for (const std::string_view filler : {" ", "\t", "'", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x99"}) {
    for (std::size_t at = 0; (at = result.find(filler, at)) != std::string::npos;) {
      result.erase(at, filler.size());
    }
  }
  if (result.ends_with('%')) {
    result.pop_back();
  }
  return result;
}

bool is_number_like(std::string_view text) {
  return !text.empty() && text.find_first_of("0123456789") != std::string_view::npos &&
         text.find_first_not_of("0123456789.,+-eE") == std::string_view::npos;
}

/// Digits in groups of three behind `separator`, the first group of one to three and no single zero.
bool is_grouped(std::string_view number, char separator) {
  const std::size_t sign = number.find_first_of("0123456789");
  number.remove_prefix(std::min(sign, number.size()));
  const std::size_t first = number.find(separator);
  if (first == 0 || first == std::string_view::npos || first > 3 || (first == 1 && number.front() == '0')) {
    return false;
  }
  for (std::size_t at = first; at < number.size(); at += 4) {
    const std::string_view group = number.substr(at, 4);
    if (group.size() != 4 || group.front() != separator ||
        group.substr(1).find_first_not_of("0123456789") != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<BaseUnit> base_unit(std::string_view unit) {
  if (unit.empty()) {
    return BaseUnit{};
  }
  const std::size_t slash = unit.find('/');
  if (slash == std::string_view::npos) {
    return simple_unit(unit);
  }
  const auto above = simple_unit(unit.substr(0, slash));
  const auto below = simple_unit(unit.substr(slash + 1));
  if (!above || !below) {
    return std::nullopt;
  }
  if (below->name == "ns") {
    constexpr double kNsPerSecond = 1e9;
    return BaseUnit{above->factor / below->factor * kNsPerSecond, above->name + "/second"};
  }
  return BaseUnit{above->factor * below->factor, above->name + "/" + below->name};
}

std::optional<Punctuation> punctuation_of(std::string_view text) {
  const std::string number = bare(text);
  if (!is_number_like(number)) {
    return std::nullopt;
  }
  const std::size_t point = number.rfind('.');
  const std::size_t comma = number.rfind(',');
  if (point != std::string::npos && comma != std::string::npos) {
    return point > comma ? Punctuation::kPoint : Punctuation::kComma;
  }
  if (point != std::string::npos) {
    const bool several = number.find('.') != point;
    return is_grouped(number, '.') == several
               ? (several ? std::optional(Punctuation::kComma) : std::optional(Punctuation::kPoint))
               : std::nullopt;
  }
  if (comma != std::string::npos) {
    const bool several = number.find(',') != comma;
    return is_grouped(number, ',') == several
               ? (several ? std::optional(Punctuation::kPoint) : std::optional(Punctuation::kComma))
               : std::nullopt;
  }
  return std::nullopt;
}

std::optional<double> printed_number(std::string_view text, Punctuation punctuation) {
  std::string number = bare(text);
  if (!is_number_like(number)) {
    return std::nullopt;
  }
  const char separator = punctuation == Punctuation::kPoint ? ',' : '.';
  const char decimal = punctuation == Punctuation::kPoint ? '.' : ',';
  const std::string whole = number.substr(0, number.find(decimal));
  if (whole.find(separator) != std::string::npos && !is_grouped(whole, separator)) {
    return std::nullopt;
  }
  std::erase(number, separator);
  std::replace(number.begin(), number.end(), decimal, '.');
  if (number.starts_with('+')) {
    number.erase(0, 1);
  }
  double value = 0.0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error == std::errc() && end == number.data() + number.size() && std::isfinite(value) ? std::optional(value)
                                                                                              : std::nullopt;
}

double half_of_last_digit(std::string_view text, Punctuation punctuation) {
  const std::string number = bare(text);
  const std::size_t decimal = number.find(punctuation == Punctuation::kPoint ? '.' : ',');
  const std::size_t exponent = std::min(number.find_first_of("eE"), number.size());
  const double decimals = decimal < exponent ? static_cast<double>(exponent - decimal - 1) : 0.0;
  double power = 0.0;
  std::size_t digits = std::min(exponent + 1, number.size());
  digits += digits < number.size() && number[digits] == '+' ? 1 : 0;  // from_chars takes none
  std::from_chars(number.data() + digits, number.data() + number.size(), power);
  return 0.5 * std::pow(10.0, power - decimals);
}

}  // namespace tilesim::traces
