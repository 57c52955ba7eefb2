// Parsing, numbers, colour rules and help texts without running the command.
#include <algorithm>

#include "tests/support/catch.h"
#include "tools/cli/colour.h"
#include "tools/cli/help.h"
#include "tools/cli/numbers.h"
#include "tools/cli/parser.h"
#include "tools/tilesim/application.h"

namespace tilesim::cli {

namespace {

Subcommand sample() {
  Subcommand s;
  s.name = "sample";
  s.usage = "[FLAGS]";
  s.flags = {{"bm", "N", "rows", "Tile", {"cta_m"}, false},
             {"set", "K=V", "override", "GPU", {}, true},
             {"all", "", "everything", "Output", {}, false},
             {"j", "N", "threads", "Run", {}, false, true}};
  s.maximum_positionals = 1;
  return s;
}

std::string message(const std::vector<std::string>& words) {
  const Subcommand s = sample();
  const auto parsed = parse(s, words);
  return parsed ? "" : parsed.error().message;
}

}  // namespace

TEST_CASE("flags arrive under their canonical names", "[unit]") {
  const Subcommand s = sample();
  const auto parsed = parse(s, {"--cta_m", "64", "--set", "a=1", "word", "--set=b=2", "--all", "-j4"});
  REQUIRE(parsed);
  CHECK(parsed->text("bm") == "64");
  CHECK(parsed->all("set") == std::vector<std::string>{"a=1", "b=2"});
  CHECK(parsed->has("all"));
  CHECK(parsed->text("j") == "4");
  CHECK(parsed->positionals() == std::vector<std::string>{"word"});
}

TEST_CASE("a value may look like a flag or be a dash", "[unit]") {
  const Subcommand s = sample();
  const auto negative = parse(s, {"--bm", "-5"});
  REQUIRE(negative);
  CHECK(negative->text("bm") == "-5");
  const auto dash = parse(s, {"--set", "-"});
  REQUIRE(dash);
  CHECK(dash->text("set") == "-");
}

TEST_CASE("wrong command lines are explained", "[unit]") {
  CHECK(message({"--bn", "3"}) == "unknown flag '--bn'; did you mean '--bm'?");
  CHECK(message({"--bm"}) == "--bm has no value");
  CHECK(message({"--bm", "1", "--cta_m", "2"}) == "--bm is given twice");
  CHECK(message({"one", "two"}) == "unexpected argument 'two'");
  CHECK(message({"--completely-different"}) == "unknown flag '--completely-different'");
  CHECK_FALSE(message({"--all=1"}).empty());
}

TEST_CASE("numbers are whole, in range, and echoed", "[unit]") {
  CHECK(parse_integer("--m", "42", 1, 100) == 42);
  for (const std::string bad : {"", "4x", "4.0", " 4", "+4", "0x10", "101", "0", "-1", "9223372036854775808"}) {
    const auto parsed = parse_integer("--m", bad, 1, 100);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().message.starts_with("--m "));
    CHECK(parsed.error().remedy == "give a whole number from 1 to 100");
  }
  CHECK(parse_real("--clock", "1980.5", 1, 10000) == 1980.5);
  CHECK_FALSE(parse_real("--clock", "nan", 1, 10000));
  CHECK_FALSE(parse_real("--clock", "inf", 1, 10000));
  CHECK(*parse_integers("--tile", "128x64x8", 'x', 3, 3, 1, 1000) == std::vector<std::int64_t>{128, 64, 8});
  CHECK_FALSE(parse_integers("--tile", "128x64x", 'x', 3, 3, 1, 1000));
  CHECK_FALSE(parse_integers("--tile", "1x2x3x4", 'x', 3, 3, 1, 1000));
}

TEST_CASE("a value in a message is printable and not endless", "[unit]") {
  CHECK(in_quotes("a\nb\x1b") == "'a?b?'");
  CHECK(in_quotes(std::string(1000, 'x')).size() < 80);
}

TEST_CASE("colour follows the flag, then the environment, then the stream", "[unit]") {
  ColourEnvironment terminal;
  terminal.terminal = true;
  CHECK(use_colour(ColourMode::kAuto, terminal));
  CHECK_FALSE(use_colour(ColourMode::kAuto, {}));
  CHECK(use_colour(ColourMode::kAlways, {}));
  CHECK_FALSE(use_colour(ColourMode::kNever, terminal));
  terminal.term = "dumb";
  CHECK_FALSE(use_colour(ColourMode::kAuto, terminal));
  ColourEnvironment forced;
  forced.force_color = "1";
  CHECK(use_colour(ColourMode::kAuto, forced));
  forced.no_color = "1";
  CHECK_FALSE(use_colour(ColourMode::kAuto, forced));
  CHECK(Palette(false).bold("x") == "x");
  CHECK(Palette(true).bold("x") == "\x1b[1mx\x1b[0m");
}

TEST_CASE("every subcommand has help, two examples and unique flags", "[unit]") {
  for (const Subcommand& s : subcommands()) {
    INFO(s.name);
    CHECK(s.run != nullptr);
    CHECK(s.examples.size() >= 2);
    const std::string help = subcommand_help(s);
    std::vector<std::string> seen;
    for (const Flag& flag : s.flags) {
      CHECK(help.find(spelling(flag)) != std::string::npos);
      seen.push_back(flag.name);
      seen.insert(seen.end(), flag.aliases.begin(), flag.aliases.end());
    }
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  }
}

}  // namespace tilesim::cli
