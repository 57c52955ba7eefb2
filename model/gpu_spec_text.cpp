// GPU specs back to TOML.
#include <fmt/format.h>

#include <cmath>

#include "model/gpu_spec.h"

namespace tilesim::model {

namespace {

/// A basic string of TOML.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\u{:04X}", code);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

/// The shortest text that reads as the same number; with a point or an exponent unless `integer`.
std::string number(double value, bool integer) {
  if (integer) {
    return fmt::format("{:.0f}", value);
  }
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::string gpu_spec_text(const GpuSpec& spec) {
  std::string text =
      fmt::format("id = {}\nname = {}\nnote = {}\n", quoted(spec.id), quoted(spec.name), quoted(spec.note));
  std::string section;
  for (const Provenance& p : spec.provenance) {
    const std::size_t point = p.key.find('.');
    if (p.key.substr(0, point) != section) {
      section = p.key.substr(0, point);
      text += fmt::format("\n[{}]\n", section);
    }
    text += fmt::format("{} = {{ value = {}, unit = {}, source = {}, confidence = {}", p.key.substr(point + 1),
                        number(p.value, is_integer_key(p.key)), quoted(p.unit), quoted(p.source),
                        quoted(to_string(p.confidence)));
    if (p.spread) {
      text += fmt::format(", spread = [{}, {}]", number(p.spread->least, false), number(p.spread->most, false));
    }
    text += " }\n";
  }
  return text;
}

}  // namespace tilesim::model
