// Whether a stream gets colour, and the escape codes.
#pragma once

#include <string>
#include <string_view>

namespace tilesim::cli {

enum class ColourMode { kAuto, kAlways, kNever };

/// What a stream's colour depends on, besides the flag.
struct ColourEnvironment {
  bool terminal = false;         ///< the stream is a terminal
  std::string_view no_color;     ///< NO_COLOR
  std::string_view force_color;  ///< CLICOLOR_FORCE or else FORCE_COLOR
  std::string_view term;         ///< TERM
};

/// The flag decides; without it NO_COLOR, then CLICOLOR_FORCE/FORCE_COLOR, then TERM=dumb and the terminal.
[[nodiscard]] bool use_colour(ColourMode mode, const ColourEnvironment& environment);

/// The environment of file descriptor `descriptor` of this process.
[[nodiscard]] ColourEnvironment colour_environment(int descriptor);

/// Wraps text in escape codes, or leaves it alone.
class Palette {
 public:
  explicit Palette(bool on = false) : on_(on) {}
  [[nodiscard]] std::string bold(std::string_view text) const { return wrap("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return wrap("2", text); }
  [[nodiscard]] std::string warning(std::string_view text) const { return wrap("33", text); }
  [[nodiscard]] std::string error(std::string_view text) const { return wrap("31", text); }
  [[nodiscard]] std::string bar(std::string_view text) const { return wrap("36", text); }

 private:
  [[nodiscard]] std::string wrap(std::string_view code, std::string_view text) const;
  bool on_ = false;
};

}  // namespace tilesim::cli
