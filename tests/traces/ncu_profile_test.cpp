// Exports of Nsight Compute: the three forms, units, punctuation, several launches, and what is refused.
#include "traces/profile/ncu_profile.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "traces/profile/ncu_labels.h"
#include "traces/profile/ncu_units.h"

namespace tilesim::traces {

namespace {

// `ncu --csv --metrics ...` with what the program and the profiler print: one stream, from profiles/remake.
const std::string kMixed = [] {
  std::ifstream file(TILESIM_TEST_PROFILES "/mixed.csv");
  return std::string(std::istreambuf_iterator<char>(file), {});
}();

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

/// An export of profiles/remake: the same five launches in every form.
const NcuProfile& real(const std::string& name) {
  static std::map<std::string, NcuProfile> read;
  if (const auto found = read.find(name); found != read.end()) {
    return found->second;
  }
  auto profile = read_ncu_profile(std::string(TILESIM_TEST_PROFILES "/") + name);
  if (!profile) {
    FAIL(profile.error().where << ": " << profile.error().message);
  }
  REQUIRE(profile->launches.size() == 5);
  return read.emplace(name, std::move(*profile)).first->second;
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
  // A number that was cut off is none, and no sign of decimal commas.
  CHECK_FALSE(punctuation_of("17,642,535,169,398,9").has_value());
  CHECK_FALSE(punctuation_of("17.642.535.169.398.9").has_value());
  CHECK_FALSE(printed_number("17,642,535,169,398,9", Punctuation::kPoint).has_value());
  CHECK_FALSE(printed_number("17,642,535,169,398,9", Punctuation::kComma).has_value());
  CHECK(half_of_last_digit("1,234", Punctuation::kPoint) == 0.5);
  CHECK(half_of_last_digit("1,234.50", Punctuation::kPoint) == Approx(0.005));
  CHECK(half_of_last_digit("1,234", Punctuation::kComma) == Approx(0.0005));
  CHECK(half_of_last_digit("-2.5e3", Punctuation::kPoint) == Approx(50.0));
  CHECK(half_of_last_digit("1.05e+09", Punctuation::kPoint) == Approx(5e6));
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
  CHECK(factor("Tbyte/s") == Approx(1e12));
  CHECK(name("sector/ms") == "sector/second");
  CHECK(factor("sector/ms") == Approx(1e3));
  CHECK(factor("sector/us") == Approx(1e6));
  CHECK(factor("sector/ns") == Approx(1e9));
  CHECK(factor("cycle/nsecond") == Approx(1e9));
  CHECK(factor("inst/warp") == 1.0);
  CHECK(name("inst/warp") == "inst/warp");
  CHECK(factor("%/Kbyte") == 1e3);  // printed as 24.4, in base units as 24,400 %/byte
  CHECK(name("%/Kbyte") == "%/byte");
  CHECK(name("sectors") == "sector");
  // A number in an unknown unit is kept as it is, and known as such.
  const NcuProfile p = parsed("metric,unit,value\ndram__bytes_read.sum,Kfoo,8.41\n");
  CHECK_FALSE(p.launches[0].metrics.at("dram__bytes_read.sum").unit_known);
  CHECK(value(p.launches[0], "dram__bytes_read.sum") == Approx(8.41));
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

TEST_CASE("profile: real exports of ncu 2025.3 on an H200, each form by numbers read in its file") {
  struct Expected {
    const char* file;
    const char* metric;
    std::size_t launch;
    double value;
    const char* unit;
  };
  const char* const time = "gpu__time_duration.sum";
  const char* const cycles = "gpc__cycles_elapsed.max";
  const char* const dram = "dram__bytes.sum.per_second";
  const char* const fixed = "launch__shared_mem_per_block_static";
  const char* const carveout = "launch__shared_mem_config_size";
  const char* const mio = "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio";
  const char* const bank = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum";
  // What stands in the file is behind each row.
  const std::vector<Expected> rows{
      {"long.csv.zst", time, 0, 11710.0, "ns"},                                             // us 11.71
      {"long.csv.zst", time, 4, 1840000.0, "ns"},                                           // ms 1.84
      {"long.csv.zst", cycles, 4, 3647440.0, "cycle"},                                      // cycle 3,647,440
      {"long.csv.zst", dram, 0, 240.44e6, "byte/second"},                                   // Mbyte/s 240.44
      {"long.csv.zst", dram, 3, 33.87e9, "byte/second"},                                    // Gbyte/s 33.87
      {"long.csv.zst", fixed, 4, 8190.0, "byte/block"},                                     // Kbyte/block 8.19
      {"long.csv.zst", "sm__cycles_active.avg", 4, 3590209.24, "cycle"},                    // 3,590,209.24
      {"long.csv.zst", "lts__t_sector_hit_rate.pct", 3, 91.04, "%"},                        // L2 Hit Rate % 91.04
      {"long_base.csv.zst", time, 4, 1842400.0, "ns"},                                      // ns 1,842,400
      {"long_base.csv.zst", dram, 4, 25042257924.45, "byte/second"},                        // byte/s 25,042,257,924.45
      {"long_base.csv.zst", fixed, 4, 8192.0, "byte/block"},                                // byte/block 8,192
      {"long_base.csv.zst", "gpc__cycles_elapsed.avg.per_second", 4, 1978367279.09, "hz"},  // SM Frequency hz
      {"wide.csv.zst", time, 0, 11712.0, "ns"},                                             // ms 0.011712
      {"wide.csv.zst", "dram__bytes_read.sum", 3, 8392960.0, "byte"},                       // Mbyte 8.392960
      {"wide.csv.zst", "lts__t_sectors_srcunit_gcc.sum.per_second", 4, 660009.0,
       "sector/second"},                                                                         // sector/us 0.660009
      {"wide.csv.zst", "lts__t_sectors_data_ecc.sum.per_second", 4, 7056.014, "sector/second"},  // sector/ms 7.056014
      {"wide.csv.zst", "dram__bytes.sum.peak_sustained", 4, 1504.0, "byte/cycle"},               // Kbyte/cycle 1.504000
      {"wide.csv.zst", bank, 3, 294188.0, ""},                                                   // 294,188
      {"wide.csv.zst", "memory_l1_wavefronts_shared", 3, 52428800.0, "sector"},                  // sectors 52428800
      {"wide_base.csv.zst", "l1tex__m_xbar2l1tex_read_bytes.sum.per_second", 4, 1165544906643.51, "byte/second"},
      {"wide_base.csv.zst", bank, 4, 2129783.0, ""},  // 2,129,783
      {"wide_base.csv.zst", "lts__t_sector_op_read_hit_rate.pct", 4, 94.63, "%"},
      {"details.txt.zst", time, 3, 247810.0, "ns"},          // Duration us 247.81
      {"details.txt.zst", dram, 4, 25.04e9, "byte/second"},  // Memory Throughput Gbyte/s 25.04
      {"details.txt.zst", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 4, 91.23, "%"},
      {"details.txt.zst", carveout, 4, 32770.0, "byte"},  // Kbyte 32.77
      {"details.txt.zst", "l1tex__throughput.avg.pct_of_peak_sustained_active", 4, 92.82, "%"},
      {"details.txt.zst", "gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed", 4, 87.04, "%"},
      {"details.txt.zst", "smsp__inst_executed_op_branch.sum", 4, 8650752.0, "inst"},
      {"details_all.txt.zst", mio, 4, 22.40, "inst"},  // Stall MIO Throttle inst 22.40
      {"details_all.txt.zst", "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 4, 4.67,
       "inst"},
      {"details_all.txt.zst", bank, 4, 2129783.0, ""},  // 2,129,783
      {"details_all.txt.zst", "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", 4, 1.0, "inst"},
      {"raw.txt.zst", time, 4, 1840000.0, "ns"},  // ms 1.84
      {"raw.txt.zst", mio, 4, 22.40, "inst"},     // inst 22.40
      // 17,642,535,169,398,9 and 08 in the next line
      {"raw.txt.zst", "sm__ops_path_tensor_op_bgmma_src_int1.sum.peak_sustained_elapsed.per_second", 0,
       17642535169398908.0, ""},
      {"raw.txt.zst", bank, 3, 294188.0, ""},                        // 294,188
      {"mixed.csv", time, 4, 1845696.0, "ns"},                       // ns 1,845,696
      {"mixed.csv", "dram__bytes_read.sum", 4, 33599744.0, "byte"},  // byte 33,599,744
  };
  for (const Expected& row : rows) {
    INFO(row.file << ": " << row.metric << " of launch " << row.launch);
    const ProfiledLaunch& launch = real(row.file).launches[row.launch];
    const auto found = launch.metrics.find(row.metric);
    REQUIRE(found != launch.metrics.end());
    CHECK(found->second.value == Approx(row.value).epsilon(1e-12));
    CHECK(found->second.unit == row.unit);
  }
}

TEST_CASE("profile: all forms of a real export have the same launches") {
  for (const auto& [name, form] :
       {std::pair{"long.csv.zst", ProfileForm::kLong}, std::pair{"long_base.csv.zst", ProfileForm::kLong},
        std::pair{"wide.csv.zst", ProfileForm::kWide}, std::pair{"wide_base.csv.zst", ProfileForm::kWide},
        std::pair{"details.txt.zst", ProfileForm::kDetails}, std::pair{"details_all.txt.zst", ProfileForm::kDetails},
        std::pair{"raw.txt.zst", ProfileForm::kDetails}, std::pair{"mixed.csv", ProfileForm::kLong}}) {
    INFO(name);
    const NcuProfile& p = real(name);
    CHECK(p.form == form);
    for (std::size_t i = 0; i < 5; ++i) {
      const ProfiledLaunch& l = p.launches[i];
      CHECK(l.id == std::string(1, static_cast<char>('0' + i)));
      CHECK(l.kernel == (i < 3 ? "fill(float *, int)" : "void gemm<32>(int, const float *, const float *, float *)"));
      REQUIRE(l.grid.has_value());
      REQUIRE(l.block.has_value());
      CHECK(l.grid->x == (i < 3 ? 16384U : i == 3 ? 32U : 64U));
      CHECK(l.grid->y == (i < 3 ? 1U : i == 3 ? 32U : 64U));
      CHECK(l.block->x == (i < 3 ? 256U : 32U));
      CHECK(l.block->y == (i < 3 ? 1U : 32U));
    }
  }
}

TEST_CASE("profile: all forms of a real export say the same, to the digits that they print") {
  const NcuProfile& reference = real("wide_base.csv.zst");
  // Sampled warps are counted in warps; two labels of these rows make the details page print other units.
  const std::vector<std::string> other_units{"smsp__pcsamp_warps_issue_stalled_membar",
                                             "smsp__pcsamp_warps_issue_stalled_membar_not_issued"};
  for (const auto& [name, least] :
       {std::pair{"long.csv.zst", 60U}, std::pair{"long_base.csv.zst", 60U}, std::pair{"wide.csv.zst", 2190U},
        std::pair{"details.txt.zst", 60U}, std::pair{"details_all.txt.zst", 600U}, std::pair{"raw.txt.zst", 2000U}}) {
    const NcuProfile& p = real(name);
    for (std::size_t i = 0; i < 5; ++i) {
      const auto& expected = reference.launches[i].metrics;
      CHECK(p.launches[i].metrics.size() >= least);
      for (const auto& [metric, m] : p.launches[i].metrics) {
        INFO(name << ", launch " << i << ": " << metric << " " << m.value << " " << m.unit);
        const auto found = expected.find(metric);
        REQUIRE(found != expected.end());
        const double digits = m.half_digit + found->second.half_digit;
        CHECK(std::abs(m.value - found->second.value) <= digits * (1.0 + 1e-9));
        const bool excused = std::find(other_units.begin(), other_units.end(), metric) != other_units.end();
        CHECK((m.unit == found->second.unit || excused));
        CHECK(m.unit_known);
      }
    }
  }
}

TEST_CASE("profile: what is left out of real exports is counted") {
  // Six rows of a launch are texts or wait for a number; 20 labels of the 64 others stand for several metrics.
  CHECK(real("details.txt.zst").without_number == 15);
  CHECK(real("long.csv.zst").without_number == 15);
  CHECK(real("details.txt.zst").unknown_labels == real("long.csv.zst").unknown_labels);
  CHECK(real("wide.csv.zst").unknown_labels == 0);
  CHECK(real("raw.txt.zst").unknown_labels == 0);
  // "Issue Slots Busy" is a share of elapsed cycles here and one of active cycles in older versions.
  CHECK(metric_of_label("Issue Slots Busy", "%").empty());
  CHECK(metric_of_label("SM Busy", "%").empty());
  CHECK(metric_of_label("Stall Branch Resolve", "inst") ==
        "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio");
  CHECK(metric_of_label("Stall Dispatch Stall", "inst") ==
        "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio");
  CHECK(metric_of_label("Elapsed Cycles gpc__cycles_elapsed.max", "cycle") == "gpc__cycles_elapsed.max");
  CHECK(metric_of_label("Warp Stall Sampling (All Samples) (smsp__pcsamp_warps_issue_stalled_wait)", "warp") ==
        "smsp__pcsamp_warps_issue_stalled_wait");
}

TEST_CASE("profile: the clock, from the frequency, else from cycles and time") {
  CHECK(clock_mhz(real("wide_base.csv.zst").launches[4]).value() == Approx(1978.36727909).epsilon(1e-7));
  CHECK(clock_mhz(real("details.txt.zst").launches[4]).value() == Approx(1980.0));
  // 490,298 cycles in 247.81 us.
  const char* const text =
      "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
      "\"0\",\"k\",\"gpc__cycles_elapsed.max\",\"cycle\",\"490,298\"\n"
      "\"0\",\"k\",\"gpu__time_duration.sum\",\"us\",\"247.81\"\n";
  CHECK(clock_mhz(parsed(text).launches[0]).value() == Approx(1978.5239).epsilon(1e-7));
  CHECK_FALSE(clock_mhz(parsed("metric,unit,value\nlaunch__grid_size,,4\n").launches[0]).has_value());
}

TEST_CASE("profile: sizes are what a kernel is launched with, not what their printed digits read as") {
  const auto size = [](const char* file, const char* name) {
    return printed_size(real(file).launches[4].metrics.at(name));
  };
  for (const char* file : {"long.csv.zst", "long_base.csv.zst", "wide.csv.zst", "details.txt.zst", "raw.txt.zst"}) {
    INFO(file);
    CHECK(size(file, "launch__shared_mem_per_block_static") == 8192);  // 8.19 Kbyte/block
    CHECK(size(file, "launch__shared_mem_config_size") == 32768);      // 32.77 Kbyte
    CHECK(size(file, "launch__shared_mem_per_block_driver") == 1024);  // 1.02 Kbyte/block
    CHECK(size(file, "launch__shared_mem_per_block_dynamic") == 0);
  }
  CHECK(printed_size({233470.0, "byte", true, 5.0}) == 233472);  // 233.47 Kbyte are 228 KiB
  CHECK(printed_size({49150.0, "byte", true, 5.0}) == 49152);
  CHECK(printed_size({16641.0, "byte", true, 0.5}) == 16641);
}

TEST_CASE("profile: output of the program and of the profiler between the records is passed over") {
  CHECK(kMixed.starts_with("==WARNING== "));
  const NcuProfile& p = real("mixed.csv");
  CHECK(p.without_number == 0);
  for (const ProfiledLaunch& l : p.launches) {
    CHECK(l.metrics.size() == 3);
  }
  // Also amid the records, and columns of rules behind the value.
  std::string text = replaced(kMixed, "\"Metric Value\"\n", "\"Metric Value\",\"Rule Name\",\"Rule Description\"\n");
  text = replaced(text, "\"1\",\"1983\"", "the program prints, this\n\"1\",\"1983\"");
  text +=
      "\"4\",\"1983\",\"gemm\",\"127.0.0.1\",\"void gemm<32>(int)\",\"1\",\"7\",\"(32, 32, 1)\",\"(64, 64, 1)\","
      "\"0\",\"9.0\",\"S\",\"\",\"\",\"\",\"Bottleneck\",\"a, b\nand \"\"c\"\"\"\n";
  const NcuProfile more = parsed(text);
  REQUIRE(more.launches.size() == 5);
  CHECK(value(more.launches[4], "sm__cycles_elapsed.max") == 3654034.0);
  // Values that are none.
  const NcuProfile none = parsed(replaced(kMixed, "\"8,392,960\"", "\"n/a\""));
  CHECK(none.without_number == 1);
  CHECK_FALSE(none.launches[3].metrics.contains("dram__bytes_read.sum"));
}

TEST_CASE("profile: a row of launches without its units, with missing fields, without numbers") {
  std::ifstream file(TILESIM_TEST_PROFILES "/wide_begin.csv");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t units = text.find('\n') + 1;
  const std::size_t first = text.find('\n', units) + 1;
  CHECK(parsed(text).launches.size() == 5);
  CHECK(parsed("\xef\xbb\xbf" + text).launches.size() == 5);
  const Error error = refused(text.substr(0, units) + text.substr(first));
  CHECK(error.message.find("row of units") != std::string::npos);
  const Error fields = refused(text + "\"5\",\"1601\"\n");
  CHECK(fields.where == "p.txt:8");
  CHECK(fields.message.find("2 fields") != std::string::npos);
  std::string unnumbered = text;
  for (std::size_t at = 0; at < unnumbered.size(); at = unnumbered.find('\n', at) + 1) {
    unnumbered.erase(at, unnumbered.find(',', at) + 1 - at);
  }
  const NcuProfile p = parsed(unnumbered);
  REQUIRE(p.launches.size() == 5);
  CHECK(p.launches[4].id == "4");
  CHECK(p.launches[4].grid->x == 64);
}

TEST_CASE("profile: pages that were cut out, indented or have other ends of lines, and those of old versions") {
  std::ifstream file(TILESIM_TEST_PROFILES "/details_begin.txt");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const std::string cut = page.substr(page.find("    Section:"));
  for (const std::string& text : {page, cut, replaced(cut, "\n", "\n   "), replaced(page, "\n", "\r\n")}) {
    const NcuProfile p = parsed(text);
    REQUIRE(p.launches.size() == 1);
    CHECK(value(p.launches[0], "gpc__cycles_elapsed.max") == 23124.0);
    CHECK(value(p.launches[0], "gpu__time_duration.sum") == 11710.0);
    CHECK(value(p.launches[0], "sm__inst_executed.avg.per_cycle_active") == 1.05);
  }
  std::ifstream raw_file(TILESIM_TEST_PROFILES "/raw_begin.txt");
  const std::string raw(std::istreambuf_iterator<char>(raw_file), {});
  CHECK(value(parsed(replaced(raw, "\n", "\r\n")).launches[0], "derived__avg_thread_executed") == 608.0);
  // Versions of 2021 print a date instead of the extents, usecond, and tables without a heading.
  const NcuProfile old = parsed(
      "  fill<1, 20>(float *), 2021-Mar-04 10:11:12, Context 1, Stream 7\n"
      "    Section: GPU Speed Of Light\n"
      "    ------------------------ --------------- ---------------\n"
      "    Elapsed Cycles                     cycle           9,281\n"
      "    Duration                         usecond            5.12\n"
      "    ------------------------ --------------- ---------------\n");
  CHECK(old.launches[0].kernel == "fill<1, 20>(float *)");
  CHECK_FALSE(old.launches[0].grid.has_value());
  CHECK(value(old.launches[0], "gpc__cycles_elapsed.max") == 9281.0);
  CHECK(value(old.launches[0], "gpu__time_duration.sum") == Approx(5120.0));
}

TEST_CASE("profile: decimal commas, other separators, UTF-16") {
  std::string text = kMixed;
  for (std::size_t at = 0; (at = text.find("\",\"", at)) != std::string::npos; ++at) {
    const std::size_t end = text.find('"', at + 3);
    const std::string field = text.substr(at + 3, end - at - 3);
    if (!field.empty() && field.find_first_not_of("0123456789,") == std::string::npos) {
      std::replace(text.begin() + static_cast<std::ptrdiff_t>(at + 3), text.begin() + static_cast<std::ptrdiff_t>(end),
                   ',', '.');
    }
  }
  const NcuProfile p = parsed(replaced(text, "\"ns\",\"1.845.696\"", "\"us\",\"1.845,696\""));
  CHECK(value(p.launches[4], "gpu__time_duration.sum") == Approx(1845696.0));
  CHECK(value(p.launches[4], "dram__bytes_read.sum") == 33599744.0);
  CHECK(value(p.launches[3], "sm__cycles_elapsed.max") == 491489.0);
  const Error mixed = refused(replaced(replaced(kMixed, "1,845,696", "1845,69"), "\"3,072\"", "\"3072.50\""));
  CHECK(mixed.where.starts_with("p.txt:"));
  CHECK(mixed.message.find("'1845,69'") != std::string::npos);
  const std::string spaced = replaced(kMixed, "33,599,744",
                                      "33\xc2\xa0"
                                      "599\xe2\x80\xaf"
                                      "744");
  CHECK(value(parsed(spaced).launches[4], "dram__bytes_read.sum") == 33599744.0);
  CHECK(refused("\xff\xfe\"").message.find("UTF-16") != std::string::npos);
  CHECK(value(parsed("metric;unit;value\nsm__cycles_active.avg;cycle;12,5\n").launches[0], "sm__cycles_active.avg") ==
        12.5);
}

TEST_CASE("profile: which launch") {
  const NcuProfile& p = real("mixed.csv");
  CHECK((*choose_launch(p, "gemm", "4"))->grid->x == 64);
  CHECK((*choose_launch(p, "", "1"))->kernel == "fill(float *, int)");
  const auto both = choose_launch(p, "gemm", "");
  REQUIRE_FALSE(both.has_value());
  CHECK(both.error().message.find("2 launches of a kernel 'gemm': 3 void gemm<32>") != std::string::npos);
  CHECK(both.error().message.find("float *) (64, 64, 1)x(32, 32, 1)") != std::string::npos);
  const auto none = choose_launch(p, "gemm", "1");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().remedy.find("1 fill") != std::string::npos);
  // Processes count from 0 each.
  const NcuProfile two = parsed(replaced(kMixed, "\"4\",\"1983\"", "\"0\",\"1984\""));
  REQUIRE(two.launches.size() == 5);
  CHECK(two.launches[4].id == "1984:0");
}

TEST_CASE("profile: what is none is refused") {
  CHECK(refused("").message.find("empty") != std::string::npos);
  CHECK(refused("hello\n1,2,3\n").message.find("no profile") != std::string::npos);
  CHECK(refused("Section: x\n").message.find("no metric") != std::string::npos);
  CHECK(refused("metric,unit,value\n").message.find("no metric") != std::string::npos);
  CHECK_FALSE(read_ncu_profile("/no/such/file").has_value());
}

}  // namespace tilesim::traces
