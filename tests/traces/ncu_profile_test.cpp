// Exports of Nsight Compute: the three forms, units, punctuation, several launches, and what is refused.
#include "traces/profile/ncu_profile.h"

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "tests/support/catch.h"
#include "traces/profile/ncu_labels.h"
#include "traces/profile/ncu_units.h"

namespace tilesim::traces {

namespace {

std::string read_text(const char* name) {
  std::ifstream file(std::string(TILESIM_TEST_PROFILES "/") + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// `ncu --csv --metrics ...`: other lines in front and between, names with commas and quotes, scaled units.
const std::string kLong = read_text("long.csv");
// `ncu --csv --page raw`: a row of names, one of units, one per launch.
const std::string kWide = read_text("wide.csv");
// `ncu` as it prints its details page; the second launch as an old version does.
const std::string kDetails = read_text("details.txt");

NcuProfile parsed(const std::string& text) {
  auto profile = parse_ncu_profile(text, "p.txt");
  if (!profile) {
    FAIL(profile.error().where << ": " << profile.error().message);
  }
  return std::move(*profile);
}

double value(const ProfiledLaunch& launch, const std::string& name) {
  INFO(name);
  REQUIRE(launch.metrics.contains(name));
  return launch.metrics.at(name).value;
}

Error refused(const std::string& text) {
  const auto profile = parse_ncu_profile(text, "p.txt");
  REQUIRE_FALSE(profile.has_value());
  CHECK(profile.error().kind == ErrorKind::kUsage);
  CHECK(profile.error().where.starts_with("p.txt"));
  CHECK_FALSE(profile.error().remedy.empty());
  return profile.error();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  for (; at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

TEST_CASE("profile: a row per metric, scaled units and thousands separators") {
  const NcuProfile p = parsed(kLong);
  CHECK(p.form == ProfileForm::kLong);
  REQUIRE(p.launches.size() == 2);
  const ProfiledLaunch& l = p.launches[0];
  CHECK(l.id == "0");
  CHECK(l.kernel == "void gemm<128, 64>(int, const float *, char[2] \"x\")");
  CHECK(l.grid->x == 16);
  CHECK(l.grid->y == 8);
  CHECK(l.block->x == 256);
  CHECK(value(l, "dram__bytes_read.sum") == Approx(8.41e6));
  CHECK(l.metrics.at("dram__bytes_read.sum").unit == "byte");
  CHECK(value(l, "gpu__time_duration.sum") == Approx(132540.0));
  CHECK(l.metrics.at("gpu__time_duration.sum").unit == "ns");
  CHECK(value(l, "smsp__inst_executed.sum") == 37962752.0);
  CHECK_FALSE(l.metrics.contains("lts__t_sector_hit_rate.pct"));
  CHECK(p.without_number == 1);
  CHECK(clock_mhz(l).value() == Approx(1000.0 * 261281.0 / 132540.0));
  CHECK(p.launches[1].kernel == "fill(float *)");
}

TEST_CASE("profile: base units say the same") {
  const std::string base = replaced(replaced(replaced(replaced(kLong, "\"Mbyte\",\"8.41\"", "\"byte\",\"8410000\""),
                                                      "\"usecond\",\"132.54\"", "\"nsecond\",\"132540\""),
                                             "261,281", "261281"),
                                    "37,962,752", "37962752");
  const NcuProfile a = parsed(kLong);
  const NcuProfile b = parsed(base);
  REQUIRE(a.launches[0].metrics.size() == b.launches[0].metrics.size());
  for (const auto& [name, metric] : a.launches[0].metrics) {
    CHECK(metric.value == Approx(value(b.launches[0], name)));
    CHECK(metric.unit == b.launches[0].metrics.at(name).unit);
  }
}

TEST_CASE("profile: columns of rules, also where rows leave them out") {
  std::string text = replaced(kLong, "\"Metric Value\"\n", "\"Metric Value\",\"Rule Name\",\"Rule Description\"\n");
  text +=
      "\"0\",\"4711\",\"gemm\",\"127.0.0.1\",\"void gemm\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, "
      "1)\",\"0\",\"9.0\",\"S\",\"\",\"\",\"\","
      "\"Bottleneck\",\"a, b\nand \"\"c\"\"\"\n";
  text +=
      "\"1\",\"4711\",\"gemm\",\"127.0.0.1\",\"fill(float *)\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, "
      "1)\",\"0\",\"9.0\",\"S\","
      "\"smsp__inst_executed.sum\",\"inst\",\"17\"\n";
  const NcuProfile p = parsed(text);
  REQUIRE(p.launches.size() == 2);
  CHECK(value(p.launches[1], "smsp__inst_executed.sum") == 17.0);
}

TEST_CASE("profile: labels of the report's sections stand for metrics") {
  std::string text = replaced(kLong, "Command line profiler metrics", "GPU Speed Of Light Throughput");
  text = replaced(replaced(text, "sm__cycles_elapsed.max", "Elapsed Cycles"), "gpu__time_duration.sum", "Duration");
  const NcuProfile p = parsed(text);
  CHECK(value(p.launches[0], "gpc__cycles_elapsed.max") == 261281.0);
  CHECK(value(p.launches[0], "gpu__time_duration.sum") == Approx(132540.0));
  CHECK(metric_of_label("Stall Long Scoreboard", "inst") ==
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio");
  CHECK(metric_of_label("Stall Branch Resolve", "inst") ==
        "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio");
  CHECK(metric_of_label("Elapsed Cycles gpc__cycles_elapsed.max", "cycle") == "gpc__cycles_elapsed.max");
  CHECK(metric_of_label("Max Bandwidth", "%").empty());
}

TEST_CASE("profile: a row per launch under a row of units") {
  const NcuProfile p = parsed(kWide);
  CHECK(p.form == ProfileForm::kWide);
  REQUIRE(p.launches.size() == 2);
  CHECK(value(p.launches[0], "gpu__time_duration.sum") == Approx(3.32e6));
  CHECK(value(p.launches[1], "sm__cycles_elapsed.max") == 261281.0);
  CHECK(value(p.launches[0], "smsp__cycles_elapsed.avg.per_second") == Approx(1.98e9));
  CHECK(p.launches[1].grid->x == 8);
  CHECK(p.without_number == 2);  // CachePreferNone
  const Error error = refused(
      replaced(kWide, "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ms\",\"cycle\",\"\",\"Ghz\"\n", ""));
  CHECK(error.message.find("row of units") != std::string::npos);
}

TEST_CASE("profile: rows of launches need no numbers") {
  std::string unnumbered;
  std::istringstream lines(kWide);
  for (std::string line; std::getline(lines, line);) {
    unnumbered += line.substr(line.find(',') + 1) + "\n";
  }
  const NcuProfile p = parsed(unnumbered);
  REQUIRE(p.launches.size() == 2);  // of one kernel
  CHECK(p.launches[1].id == "1");
  CHECK(value(p.launches[0], "sm__cycles_elapsed.max") == 6588569.0);
  CHECK(value(p.launches[1], "sm__cycles_elapsed.max") == 261281.0);
  CHECK(p.launches[1].grid->x == 8);
}

TEST_CASE("profile: quotes that are never closed do not make reading slow") {
  // In whichever line reading begins, a quote stays open up to the end.
  std::string text = "metric,unit,value\n";
  for (int i = 0; i < 200000; ++i) {
    text += "q\"r,\"\n";
  }
  const auto begin = std::chrono::steady_clock::now();
  CHECK(refused(text).message.find("no metric") != std::string::npos);
  // 64 searches to the end are 0.1 s; one for each line was minutes.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  const NcuProfile p = parsed(text + "sm__cycles_active.avg,cycle,12.5\n");
  CHECK(value(p.launches[0], "sm__cycles_active.avg") == 12.5);
}

TEST_CASE("profile: the details page") {
  const NcuProfile p = parsed(kDetails);
  CHECK(p.form == ProfileForm::kDetails);
  REQUIRE(p.launches.size() == 2);
  const ProfiledLaunch& l = p.launches[0];
  CHECK(l.kernel == "void gemm<128, 64>(int, const float *)");
  CHECK(l.grid->x == 16);
  CHECK(l.block->x == 256);
  CHECK(value(l, "gpc__cycles_elapsed.max") == 261281.0);
  CHECK(value(l, "sm__cycles_active.avg") == Approx(122063.45));
  CHECK(value(l, "gpu__time_duration.sum") == Approx(132540.0));
  CHECK(value(l, "dram__bytes.sum.per_second") == Approx(63.47e9));  // the other row of that label is a percentage
  CHECK(value(l, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed") == Approx(49.23));
  CHECK(value(l, "lts__t_sector_hit_rate.pct") == Approx(75.38));
  CHECK(value(l, "launch__registers_per_thread") == 128.0);
  CHECK(value(l, "launch__shared_mem_config_size") == Approx(102400.0));
  CHECK(value(l, "launch__shared_mem_per_block_static") == Approx(16640.0));
  CHECK(l.metrics.at("launch__shared_mem_per_block_static").unit == "byte/block");
  CHECK(value(l, "launch__waves_per_multiprocessor") == Approx(0.48));
  CHECK(p.without_number == 1);
  CHECK(p.unknown_labels == 1);  // Mem Busy
  CHECK(clock_mhz(l).value() == Approx(1000.0 * 261281.0 / 132540.0));
  // Old versions print a date instead of the extents.
  CHECK(p.launches[1].kernel == "fill<1, 20>(float *)");
  CHECK_FALSE(p.launches[1].grid.has_value());
  CHECK(value(p.launches[1], "gpc__cycles_elapsed.max") == 9281.0);  // from a table without a heading
  CHECK(value(p.launches[1], "gpu__time_duration.sum") == 5120.0);
  // A page that was cut out has no launch, and a mail program may have indented it.
  const std::string cut = kDetails.substr(kDetails.find("    Section:"));
  CHECK(value(parsed(replaced(cut, "\n", "\n   ")).launches[0], "gpc__cycles_elapsed.max") == 261281.0);
  CHECK(value(parsed(replaced(kDetails, "\n", "\r\n")).launches[0], "gpu__time_duration.sum") == Approx(132540.0));
}

TEST_CASE("profile: the raw page as text") {
  const NcuProfile p = parsed(
      "  gemm(int) (4, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 9.0\n"
      "    ------------------------------ ------------ ------------\n"
      "    Metric Name                     Metric Unit Metric Value\n"
      "    ------------------------------ ------------ ------------\n"
      "    dram__bytes.sum.per_second     Gbyte/second         1.25\n"
      "    launch__registers_per_thread                         128\n"
      "    ------------------------------ ------------ ------------\n");
  REQUIRE(p.launches.size() == 1);
  CHECK(p.launches[0].grid->x == 4);
  CHECK(value(p.launches[0], "dram__bytes.sum.per_second") == Approx(1.25e9));
  CHECK(value(p.launches[0], "launch__registers_per_thread") == 128.0);
}

TEST_CASE("profile: decimal commas, other separators, BOM") {
  std::string text = replaced(replaced(replaced(kLong, "8.41", "8,41"), "132.54", "132,54"), "261,281", "261.281");
  text = replaced(replaced(text, "37,962,752", "37.962.752"), "9,281", "9.281");
  const NcuProfile p = parsed(text);
  CHECK(value(p.launches[0], "dram__bytes_read.sum") == Approx(8.41e6));
  CHECK(value(p.launches[0], "sm__cycles_elapsed.max") == 261281.0);
  CHECK(value(p.launches[0], "smsp__inst_executed.sum") == 37962752.0);
  const Error mixed = refused(replaced(kLong, "\"132.54\"", "\"132,54\""));
  CHECK(mixed.where == "p.txt:8");
  CHECK(mixed.message.find("'132,54'") != std::string::npos);
  CHECK(value(parsed(replaced(kLong, "37,962,752",
                              "37\xc2\xa0"
                              "962\xe2\x80\xaf"
                              "752"))
                  .launches[0],
              "smsp__inst_executed.sum") == 37962752.0);
  CHECK(parsed("\xef\xbb\xbf" + kWide).launches.size() == 2);
  CHECK(refused("\xff\xfe\"").message.find("UTF-16") != std::string::npos);
  CHECK(value(parsed("metric;unit;value\nsm__cycles_active.avg;cycle;12,5\n").launches[0], "sm__cycles_active.avg") ==
        12.5);
}

TEST_CASE("profile: numbers that can be read both ways tell nothing of their file") {
  CHECK_FALSE(punctuation_of("1,234").has_value());
  CHECK_FALSE(punctuation_of("1.234").has_value());
  CHECK_FALSE(punctuation_of("1234").has_value());
  CHECK_FALSE(punctuation_of("n/a").has_value());
  CHECK(punctuation_of("0.123") == Punctuation::kPoint);
  CHECK(punctuation_of("0,123") == Punctuation::kComma);
  CHECK(punctuation_of("1,234,567") == Punctuation::kPoint);
  CHECK(punctuation_of("1.234.567") == Punctuation::kComma);
  CHECK(punctuation_of("1,234.5") == Punctuation::kPoint);
  CHECK(punctuation_of("1234,567") == Punctuation::kComma);  // a group of four is none
  CHECK(printed_number("1,234", Punctuation::kPoint) == 1234.0);
  CHECK(printed_number("1,234", Punctuation::kComma) == 1.234);
  CHECK(printed_number("-2.5e3", Punctuation::kPoint) == -2500.0);
  CHECK(printed_number("58.3%", Punctuation::kPoint) == Approx(58.3));
  CHECK_FALSE(printed_number("12,34", Punctuation::kPoint).has_value());
  for (const char* text : {"", "n/a", "(!) n/a", "inf", "nan", "1.2.3", "e", "-", "1e999", "0x10"}) {
    INFO(text);
    CHECK_FALSE(printed_number(text, Punctuation::kPoint).has_value());
  }
}

TEST_CASE("profile: units") {
  const auto factor = [](const char* unit) { return base_unit(unit).value().factor; };
  const auto name = [](const char* unit) { return base_unit(unit).value().name; };
  CHECK(factor("msecond") == 1e6);
  CHECK(factor("ms") == 1e6);
  CHECK(factor("second") == 1e9);
  CHECK(factor("Mbyte") == 1e6);
  CHECK(factor("Kbyte/block") == 1e3);
  CHECK(factor("Gbyte/second") == Approx(1e9));
  CHECK(name("Gbyte/second") == "byte/second");
  CHECK(factor("byte/nsecond") == Approx(1e9));
  CHECK(factor("cycle/usecond") == Approx(1e6));
  CHECK(name("cycle/usecond") == "cycle/second");
  CHECK(factor("Ghz") == 1e9);
  CHECK(name("register/thread") == "register/thread");
  CHECK(factor("") == 1.0);
  CHECK_FALSE(base_unit("Kfoo").has_value());
  CHECK_FALSE(base_unit("K").has_value());
  CHECK_FALSE(base_unit("byte/").has_value());
  // A number in an unknown unit is kept as it is, and known as such.
  const NcuProfile p = parsed(replaced(kLong, "\"Mbyte\"", "\"Kfoo\""));
  CHECK_FALSE(p.launches[0].metrics.at("dram__bytes_read.sum").unit_known);
  CHECK(value(p.launches[0], "dram__bytes_read.sum") == Approx(8.41));
}

TEST_CASE("profile: which launch") {
  const NcuProfile p = parsed(kLong);
  CHECK((*choose_launch(p, "gemm", ""))->id == "0");
  CHECK((*choose_launch(p, "", "1"))->kernel == "fill(float *)");
  const auto both = choose_launch(p, "", "");
  REQUIRE_FALSE(both.has_value());
  CHECK(both.error().message.find("2 launches: 0 void gemm<128, 64>") != std::string::npos);
  CHECK(both.error().message.find("1 fill(float *) (4096, 1, 1)x(128, 1, 1)") != std::string::npos);
  const auto none = choose_launch(p, "gemm", "1");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().remedy.find("1 fill") != std::string::npos);
  // Processes count from 0 each.
  const NcuProfile two = parsed(replaced(kLong, "\"1\",\"4711\"", "\"0\",\"4712\""));
  REQUIRE(two.launches.size() == 2);
  CHECK(two.launches[1].id == "4712:0");
}

TEST_CASE("profile: what is none is refused") {
  CHECK(refused("").message.find("no profile") != std::string::npos);
  CHECK(refused("hello\n1,2,3\n").message.find("no profile") != std::string::npos);
  CHECK(refused("Section: x\n").message.find("no metric") != std::string::npos);
  CHECK(refused("metric,unit,value\n").message.find("no metric") != std::string::npos);
  const Error error = refused(kWide + "\"2\",\"4711\"\n");
  CHECK(error.where == "p.txt:5");
  CHECK(error.message.find("2 fields") != std::string::npos);
  CHECK_FALSE(read_ncu_profile("/no/such/file").has_value());
}

TEST_CASE("profile: the exports of the calibration kernels") {
  const auto p = read_ncu_profile(TILESIM_CALIBRATION_FOLDER "/sgemm_128_128_8_8_8_s2_p4.1024x1024x1024.csv");
  REQUIRE(p.has_value());
  REQUIRE(p->launches.size() == 1);
  const ProfiledLaunch& l = p->launches[0];
  CHECK(l.kernel.starts_with("void sgemm_tile<128, 128, 8, 8, 8, 2, 4>"));
  CHECK(l.grid->y == 8);
  CHECK(l.metrics.size() == 242);
  CHECK(value(l, "sm__cycles_active.avg") == Approx(122063.45));
}

TEST_CASE("profile: a real export, ncu 2025.3 with --page raw --print-units base on an H200") {
  const NcuProfile p = parsed(read_text("ncu2025_wide.csv"));
  CHECK(p.form == ProfileForm::kWide);
  REQUIRE(p.launches.size() == 2);
  const ProfiledLaunch& l = p.launches[0];
  CHECK(l.kernel == "tile_gemm");
  CHECK(l.grid->x == 64);
  CHECK(l.block->x == 128);
  CHECK(value(l, "sm__cycles_elapsed.max") == 1373447.0);
  CHECK(value(l, "gpu__time_duration.sum") == 772384.0);
  CHECK(value(l, "dram__bytes_read.sum") == 283569920.0);
  CHECK(value(p.launches[1], "launch__registers_per_thread") == 148.0);
  CHECK(clock_mhz(l).value() == Approx(1778.19).epsilon(1e-5));
  for (const auto& [name, metric] : l.metrics) {
    INFO(name << " in " << metric.unit);
    CHECK((metric.unit_known || name.starts_with("device__")));
  }
}

}  // namespace tilesim::traces
