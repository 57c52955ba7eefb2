// Counters, groups, locked parts and gates on rows made by hand.
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/catch.h"
#include "tools/lib/validation_summary.h"
#include "tools/reports/validate_report.h"

namespace tilesim::app {

namespace {

constexpr const char* kElapsed = "sm__cycles_elapsed.max";
constexpr const char* kInstructions = "smsp__inst_executed.sum";
constexpr const char* kConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";

std::string state(const std::string& name) {
  return fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", name);
}

ValidationRow row(const std::string& name, double predicted, double measured,
                  traces::Part part = traces::Part::kDevelopment) {
  ValidationRow r;
  r.name = name;
  r.family = "simt";
  r.dtype = "f32";
  r.shape = {1024, 1024, 1024};
  r.part = part;
  r.predicted[kElapsed] = predicted;
  r.measured[kElapsed] = measured;
  return r;
}

/// `count` locked rows, 10 % too slow, in the measured order but for the last, which is predicted to be the fastest.
std::vector<ValidationRow> locked_rows(int count) {
  std::vector<ValidationRow> rows;
  for (int i = 0; i < count; ++i) {
    const double measured = 1000.0 + 100.0 * i;
    const double predicted = i + 1 == count ? 900.0 : 1.1 * measured;
    rows.push_back(row(fmt::format("secret{}", i), predicted, measured, traces::Part::kLocked));
  }
  return rows;
}

}  // namespace

TEST_CASE("counters: which runs count, and on which scale", "[unit]") {
  const std::vector<CounterPair> pairs{
      {{{kInstructions, 1010.0}, {kConflicts, 90.0}, {"dram__bytes_read.sum", 70e6}, {"dram__bytes_write.sum", 0.0}},
       {{kInstructions, 1000.0}, {kConflicts, 100.0}, {"dram__bytes_read.sum", 40e6}, {"dram__bytes_write.sum", 20e6}}},
      // Too few conflicts and bytes to count; without a hit rate.
      {{{kInstructions, 1000.0}, {kConflicts, 0.0}, {"dram__bytes_read.sum", 1e6}, {"dram__bytes_write.sum", 1e6}},
       {{kInstructions, 1000.0}, {kConflicts, 9.0}, {"dram__bytes_read.sum", 40e6}, {"dram__bytes_write.sum", 9e6}}},
      {{{kInstructions, 990.0}, {"lts__t_sector_op_read_hit_rate.pct", 80.0}, {"launch__registers_per_thread", 128.0}},
       {{kInstructions, 1000.0},
        {"lts__t_sector_op_read_hit_rate.pct", 85.0},
        {"launch__registers_per_thread", 126.0}}}};
  const auto scores = counter_scores(pairs);
  REQUIRE(scores.size() == 5);
  const auto find = [&scores](const std::string& name) {
    const auto found = std::find_if(scores.begin(), scores.end(), [&](const auto& s) { return s.counter == name; });
    REQUIRE(found != scores.end());
    return *found;
  };
  CHECK(find(kInstructions).count == 3);
  CHECK(find(kInstructions).mean == Approx(0.02 / 3));
  CHECK(find(kInstructions).bias == Approx(0.0).margin(1e-12));
  CHECK(find(kInstructions).exact == 1);
  CHECK(find("launch__registers_per_thread").exact == 0);
  CHECK(find(kConflicts).count == 1);
  CHECK(find(kConflicts).worst == Approx(-0.10));
  CHECK(find("dram__bytes_read.sum + dram__bytes_write.sum").count == 1);
  CHECK(find("dram__bytes_read.sum + dram__bytes_write.sum").mean == Approx(70.0 / 60.0 - 1.0));
  CHECK(find("lts__t_sector_op_read_hit_rate.pct").worst == Approx(-5.0));  // points
  CHECK(find("launch__registers_per_thread").worst == Approx(2.0));         // registers
}

TEST_CASE("waiting states: shares without selected and not_selected, also of states that the model has not", "[unit]") {
  const Counters measured{{state("selected"), 1.0},
                          {state("not_selected"), 9.0},
                          {state("barrier"), 1.0},
                          {state("long_scoreboard"), 2.0},
                          {state("membar"), 1.0}};
  const Counters shares = waiting_shares(measured);
  CHECK(shares.size() == 3);
  CHECK(shares.at("long_scoreboard") == Approx(0.5));
  const Counters predicted{{state("barrier"), 3.0}, {state("long_scoreboard"), 1.0}};
  const std::vector<CounterPair> pairs{{predicted, measured}, {measured, measured}, {{}, measured}};
  const auto score = waiting_score(pairs);
  CHECK(largest_wait(shares) == "long_scoreboard");
  CHECK(largest_wait({}).empty());
  CHECK(score->count == 2);
  CHECK(score->largest_right == 1);
  CHECK(score->worst_points == Approx(50.0));  // barrier: 75 % of all waiting for 25 %
  CHECK(score->mean_points == Approx(25.0));
}

TEST_CASE("groups: scores by family and type, order by shape from 12 configurations on", "[unit]") {
  std::vector<ValidationRow> rows = locked_rows(12);
  rows.push_back(row("open", 1200.0, 1000.0));
  rows.push_back(row("broken", 1.0, 1.0));
  rows.back().predicted.clear();
  rows.back().failure = Error{ErrorKind::kUsage, "cannot", "do", ""};
  const auto summaries = summarise(rows, kElapsed);
  REQUIRE(summaries.size() == 2);
  const PartSummary& development = summaries[0];
  CHECK(development.part == traces::Part::kDevelopment);
  CHECK(development.runs == 2);
  CHECK(development.failed == 1);
  REQUIRE(development.scores.size() == 1);  // one family: no line beside "all"
  CHECK(development.scores[0].errors.worst_name == "open 1024x1024x1024");
  CHECK(development.ranks.empty());
  const PartSummary& locked = summaries[1];
  CHECK(locked.scores[0].errors.count == 12);
  CHECK(locked.scores[0].errors.worst == Approx(900.0 / 2100.0 - 1.0));
  REQUIRE(locked.ranks.size() == 1);
  CHECK(locked.ranks[0].group == "simt f32 1024x1024x1024");
  CHECK(locked.ranks[0].tau.value() == Approx((66.0 - 2.0 * 11.0) / 66.0));
  CHECK(locked.ranks[0].regret.value == Approx(1.1));
  // Eleven are not ranked.
  CHECK(summarise(locked_rows(11), kElapsed)[0].ranks.empty());
  std::vector<ValidationRow> mixed = locked_rows(12);
  mixed.front().form = traces::kDirectForm;  // no candidate beside the other 11
  CHECK(summarise(mixed, kElapsed)[0].ranks.empty());
}

TEST_CASE("names of locked runs stay inside", "[unit]") {
  reports::ValidationReport report;
  report.metric = kElapsed;
  report.rows = locked_rows(12);
  report.rows.push_back(row("open", 1200.0, 1000.0));
  report.summaries = summarise(report.rows, kElapsed);
  const auto all_texts = [&report] {
    return std::vector<std::string>{reports::validate_text(report, true, cli::Palette()),
                                    reports::validate_json(report), reports::validate_csv(report),
                                    reports::validate_html(report)};
  };
  for (const std::string& text : all_texts()) {
    CHECK(text.find("secret") == std::string::npos);
    CHECK(text.find("open") != std::string::npos);
  }
  // One that fails: neither its name, nor its shape, nor the path of its code, wherever the error has them.
  ValidationRow failed = row("secret99", 1.0, 1.0, traces::Part::kLocked);
  failed.shape = {3072, 3072, 3072};
  failed.predicted.clear();
  failed.failure = Error{ErrorKind::kUsage, "in '/vault/secret99.cubin.zst' secret99: no kernel", "look at secret99",
                         "/vault/secret99.cubin"};
  const std::vector<ValidationRow> rows{failed, row("open", 1200.0, 1000.0)};
  report.rows = shown_rows(rows);
  report.summaries = summarise(rows, kElapsed);
  for (const std::string& text : all_texts()) {
    INFO(text);
    CHECK(text.find("secret") == std::string::npos);
    CHECK(text.find("vault") == std::string::npos);
    CHECK(text.find("3072") == std::string::npos);
    CHECK(text.find("open") != std::string::npos);
  }
  CHECK(all_texts()[0].find("1 run could not be simulated\n  a locked run (compiled code): in '...' ...") !=
        std::string::npos);
  CHECK(all_texts()[1].find("no kernel") != std::string::npos);
}

TEST_CASE("rows that are shown: all of development, of locked the failed ones", "[unit]") {
  std::vector<ValidationRow> rows = locked_rows(3);
  rows[1].failure = Error{ErrorKind::kFailed, "out of memory", "", ""};
  rows.push_back(row("open", 1200.0, 1000.0));
  const auto shown = shown_rows(rows);
  REQUIRE(shown.size() == 2);
  CHECK(shown[0].name.empty());
  CHECK(shown[0].part == traces::Part::kLocked);
  CHECK(shown[0].failure->message == "out of memory");
  CHECK(shown[1].name == "open");
  CHECK(shown[1].predicted.at(kElapsed) == 1200.0);
}

TEST_CASE("gates: on the locked part, and what cannot be judged does not pass", "[unit]") {
  const auto summaries = summarise(locked_rows(12), kElapsed);  // MAPE 13.9 %, worst -57.1 %, regret 110 %, tau 0.667
  const auto failures = [&](const Gates& gates) { return failed_gates(summaries, gates, kElapsed).size(); };
  CHECK(failures({}) == 0);
  CHECK(failures({0.14, {}, {}, {}}) == 0);
  CHECK(failures({0.13, {}, {}, {}}) == 1);
  CHECK(failures({{}, 0.58, {}, {}}) == 0);
  CHECK(failures({{}, 0.57, {}, {}}) == 1);
  CHECK(failures({{}, {}, 1.11, {}}) == 0);
  CHECK(failures({{}, {}, 1.09, {}}) == 1);
  CHECK(failures({{}, {}, {}, 0.66}) == 0);
  CHECK(failures({{}, {}, {}, 0.67}) == 1);
  // The development part is judged where nothing locked was simulated only.
  std::vector<ValidationRow> mixed = locked_rows(12);
  mixed.push_back(row("open", 9000.0, 1000.0));
  CHECK(failed_gates(summarise(mixed, kElapsed), {0.14, {}, {}, {}}, kElapsed).empty());
  CHECK(failed_gates(summarise({row("open", 9000.0, 1000.0)}, kElapsed), {0.14, {}, {}, {}}, kElapsed).size() == 1);
  // All measured within 2 %: no order to miss.
  std::vector<ValidationRow> ties;
  for (int i = 0; i < 12; ++i) {
    ties.push_back(row("tie", 1000.0 - i, 1000.0 + i, traces::Part::kLocked));
  }
  CHECK_FALSE(summarise(ties, kElapsed)[0].ranks.at(0).tau.has_value());
  CHECK(failed_gates(summarise(ties, kElapsed), {{}, {}, {}, 1.0}, kElapsed).empty());
  // No group to rank; no time on both sides; a run that failed.
  CHECK(failed_gates(summarise(locked_rows(11), kElapsed), {{}, {}, {}, 0.0}, kElapsed).size() == 1);
  CHECK(failed_gates(summaries, {1.0, {}, {}, {}}, "sm__cycles_active.avg").size() == 1);
  auto broken = locked_rows(12);
  broken[0].failure = Error{ErrorKind::kUsage, "cannot", "do", ""};
  CHECK(failed_gates(summarise(broken, kElapsed), {1.0, {}, {}, {}}, kElapsed).size() == 1);
}

TEST_CASE("CSV quotes, HTML escapes", "[unit]") {
  reports::ValidationReport report;
  report.metric = kElapsed;
  report.rows = {row("a,\"<b>&", 150.0, 100.0)};
  report.summaries = summarise(report.rows, kElapsed);
  CHECK(reports::validate_csv(report).find("\"a,\"\"<b>&\",simt,f32,1024,1024,1024,1,compiled,0," +
                                           std::string(kElapsed) + ",150,100,,0.5") != std::string::npos);
  const std::string html = reports::validate_html(report);
  CHECK(html.find("a,&quot;&lt;b&gt;&amp; 1024x1024x1024") != std::string::npos);
  CHECK(html.find("<b>") == std::string::npos);
  for (const char* outside : {"http", "src=", "<link", "@import", "url("}) {
    INFO(outside);
    CHECK(html.find(outside) == std::string::npos);  // one file that needs no other
  }
}

}  // namespace tilesim::app
