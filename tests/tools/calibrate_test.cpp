// Rows of microbenchmarks to a GPU spec: the functions by value, and the built `tilesim calibrate` on recorded rows.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/tools/command.h"
#include "tools/lib/calibration.h"

namespace tilesim::test {

namespace {

const std::string kHeading = "name,param,value,unit,spread\n";
const std::string kRules = "spec_key,row_name,row_param,reduction,scale\n";
const std::string kReasons = "spec_key,reason\n";
const std::string kMicrobench = std::string(TILESIM_KERNELS_SOURCE) + "/microbench";

std::string recorded(const std::string& name) { return std::string(TILESIM_CALIBRATION_FOLDER) + "/" + name; }

app::MeasuredRun run_of(const std::string& rows, const std::string& file = "rows.csv") {
  const auto run = app::parse_measured_rows(kHeading + rows, file);
  INFO((run ? "" : run.error().message));
  REQUIRE(run);
  return *run;
}

app::CalibrationTable table_of(const std::string& rules, const std::string& reasons = "") {
  const auto table = app::parse_calibration_table(kRules + rules, kReasons + reasons, "folder");
  INFO((table ? "" : table.error().message));
  REQUIRE(table);
  return *table;
}

model::GpuSpec h200() { return *model::find_gpu_spec("h200"); }

/// What a rule makes of rows.
Result<app::CalibratedNumber> number_of(const std::string& rule, const std::vector<app::MeasuredRun>& runs) {
  const auto calibration = app::calibrate(h200(), table_of(rule + "\n"), runs, "test");
  if (!calibration) {
    return tl::unexpected<Error>(calibration.error());
  }
  const std::string key = rule.substr(0, rule.find(','));
  const auto found = std::find_if(calibration->numbers.begin(), calibration->numbers.end(),
                                  [&key](const app::CalibratedNumber& n) { return n.shipped.key == key; });
  REQUIRE(found != calibration->numbers.end());
  return *found;
}

void require_number(const std::string& rule, const std::string& rows, double value, double least, double most) {
  const auto number = number_of(rule, {run_of(rows)});
  INFO(rule << (number ? "" : ": " + number.error().message));
  REQUIRE(number);
  REQUIRE(number->measured);
  CHECK(number->measured->value == Approx(value));
  REQUIRE(number->measured->spread);
  CHECK(number->measured->spread->least == Approx(least));
  CHECK(number->measured->spread->most == Approx(most));
  CHECK(number->measured->confidence == model::Confidence::kMeasured);
}

void require_error(const Error& error, const std::string& where, const std::vector<std::string>& words) {
  INFO(error.where << ": " << error.message << " - " << error.remedy);
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(error.where == where);
  CHECK_FALSE(error.remedy.empty());
  for (const std::string& word : words) {
    INFO("expected: " << word);
    CHECK((error.message + " " + error.remedy).find(word) != std::string::npos);
  }
}

void require_bad_rows(const std::string& text, const std::string& where, const std::vector<std::string>& words) {
  const auto run = app::parse_measured_rows(text, "rows.csv");
  INFO(text);
  REQUIRE_FALSE(run);
  require_error(run.error(), where, words);
}

void require_bad_table(const std::string& rules, const std::string& reasons, const std::string& where,
                       const std::vector<std::string>& words) {
  const auto table = app::parse_calibration_table(rules, reasons, "folder");
  INFO(rules << reasons);
  REQUIRE_FALSE(table);
  require_error(table.error(), where, words);
}

}  // namespace

TEST_CASE("Rows: repeats of one name and param become their median and all of their spread", "[unit]") {
  const auto run = run_of(
      "a,p,3,cycles,2..4\n"
      "b,\"with, comma\",1.5e3,ns,\n"
      "a,p,5,cycles,5..6\n"
      "c,p,7,cycles,p5 1 p95 9\n"
      "a,p,4,cycles,1..4\n");
  REQUIRE(run.rows.size() == 3);
  CHECK(run.rows[0].value == 4.0);
  REQUIRE(run.rows[0].spread);
  CHECK(run.rows[0].spread->least == 1.0);
  CHECK(run.rows[0].spread->most == 6.0);
  CHECK(run.rows[1].param == "with, comma");
  CHECK(run.rows[1].value == 1500.0);
  CHECK_FALSE(run.rows[1].spread);
  CHECK_FALSE(run.rows[2].spread);  // percentiles are a note
}

TEST_CASE("Rows: repeats that contradict each other are told", "[unit]") {
  const auto run = run_of(
      "a,p,3,cycles,2..4\n"
      "a,p,9,cycles,8..10\n"
      "a,p,5,cycles,4..6\n"
      "b,p,1,cycles,1..2\n"
      "b,p,3,cycles,2..3\n"
      "c,p,1,ns,\n"
      "c,p,2,ns,\n");
  REQUIRE(run.contradictions.size() == 1);  // b overlaps in 2; the rows of c are single measurements
  CHECK(run.contradictions[0] == "rows.csv: a, p is 3 (2..4) in line 2 and 9 (8..10) in line 3: their median is taken");
  CHECK(run.rows[0].value == 5.0);
}

TEST_CASE("Several runs as one: medians, and all of the spread", "[unit]") {
  const auto all = app::combined({run_of("a,p,3,cycles,2..4\nb,p,1,ns,\n"), run_of("a,p,5,cycles,5..6\n"),
                                  run_of("a,p,4,cycles,4..4\nb,p,2,ns,\n")},
                                 "all");
  REQUIRE(all.rows.size() == 2);
  CHECK(all.rows[0].value == 4.0);
  CHECK(all.rows[0].spread->least == 2.0);
  CHECK(all.rows[0].spread->most == 6.0);
  CHECK(all.rows[1].value == 1.5);
  CHECK(all.rows[1].spread->most == 2.0);
}

TEST_CASE("Rows: what is wrong is refused with line and remedy", "[unit]") {
  require_bad_rows("", "rows.csv:1", {"no rows", "name,param,value,unit,spread"});
  require_bad_rows("name,param,value\n", "rows.csv:1", {"no rows"});
  require_bad_rows(kHeading, "rows.csv:1", {"no row below"});
  require_bad_rows(kHeading + "a,p,1,cycles,1..1\na,q,1,cycles\n", "rows.csv:3", {"4 fields in place of 5"});
  require_bad_rows(kHeading + "a,p, q,1,cycles,1..1\n", "rows.csv:2", {"6 fields", "quotes"});
  require_bad_rows(kHeading + "a,p,1x,cycles,1..1\n", "rows.csv:2", {"\"1x\"", "number"});
  require_bad_rows(kHeading + "a,p,nan,cycles,\n", "rows.csv:2", {"nan"});
  require_bad_rows(kHeading + "a,p,,cycles,\n", "rows.csv:2", {"value \"\""});
  require_bad_rows(kHeading + ",p,1,cycles,\n", "rows.csv:2", {"without name"});
  require_bad_rows(kHeading + "a,p,1,,\n", "rows.csv:2", {"without unit"});
  require_bad_rows(kHeading + "a,p,1,cycles,1..x\n", "rows.csv:2", {"1..x", "LEAST..MOST"});
  require_bad_rows(kHeading + "a,p,5,cycles,1..2\n", "rows.csv:2", {"1..2", "does not hold the value 5"});
  require_bad_rows(kHeading + "a,p,1,cycles,1..1\n\na,p,1,ns,1..1\n", "rows.csv:4",
                   {"in ns here and in cycles in line 2"});
}

TEST_CASE("Tables of rules: what is wrong is refused with line and remedy", "[unit]") {
  const std::string fine = "l1.hit_latency,a,p,value,1\n";
  require_bad_table("spec_key,row\n", kReasons, "folder/spec_rows.csv:1", {"heading", "reduction"});
  require_bad_table(kRules + "l1.hit_latency,a,p,value\n", kReasons, "folder/spec_rows.csv:2", {"4 fields"});
  require_bad_table(kRules + "l1.hit_latncy,a,p,value,1\n", kReasons, "folder/spec_rows.csv:2",
                    {"l1.hit_latncy", "l1.hit_latency"});
  require_bad_table(kRules + "l1.hit_latency,a,p,valu,1\n", kReasons, "folder/spec_rows.csv:2", {"valu", "value"});
  require_bad_table(kRules + "l1.hit_latency,a,p,value,0\n", kReasons, "folder/spec_rows.csv:2", {"scale \"0\""});
  require_bad_table(kRules + "l1.hit_latency,a,p,value,x\n", kReasons, "folder/spec_rows.csv:2", {"scale \"x\""});
  require_bad_table(kRules + fine + fine, kReasons, "folder/spec_rows.csv:3", {"alphabetical", "once"});
  require_bad_table(kRules + fine + "barrier.base_cycles,a,p,value,1\n", kReasons, "folder/spec_rows.csv:3",
                    {"barrier.base_cycles stands behind l1.hit_latency"});
  require_bad_table(kRules, "spec_key\n", "folder/not_remade.csv:1", {"heading"});
  require_bad_table(kRules, kReasons + "no.key,because\n", "folder/not_remade.csv:2", {"no.key"});
}

TEST_CASE("Reductions by value, with their spreads", "[unit]") {
  const std::string rows =
      "t,1 warps,14.2,cycles,14..14.4\n"
      "t,4 warps,20,cycles,19.8..20.2\n"
      "t,16 warps,44.1,cycles,44..44.5\n"
      "u,p,2,TB/s,1.9..2.1\n";
  require_number("dram.latency_ns,u,p,value,100", rows, 200, 190, 210);
  require_number("dram.latency_ns,t,*,median,10", rows, 200, 140, 445);
  require_number("dram.latency_ns,t,*,mean,10", rows, 261, 140, 445);
  require_number("dram.latency_ns,t,*,least,10", rows, 142, 140, 144);
  require_number("dram.latency_ns,t,*,most,10", rows, 441, 440, 445);
  require_number("dram.latency_ns,t,?* warps,half_range,10", rows, 149.5, 148, 152.5);
  // An integer is rounded: half of 44.1 - 14.2 is 14.95.
  require_number("barrier.base_cycles,t,*,half_range,1", rows, 15, 14.8, 15.25);
  // Through (1, 14), (4, 20), (16, 44): 12 + 2 n, without error.
  const std::string line = "t,1 warps,14,cycles,14..14\nt,4 warps,20,cycles,20..20\nt,16 warps,44,cycles,44..44\n";
  require_number("barrier.cycles_per_warp,t,*,slope,1", line, 2, 2, 2);
  require_number("barrier.base_cycles,t,*,intercept,1", line, 12, 12, 12);
}

TEST_CASE("Several runs: the median, and all of their spread; a run without the rows does not count", "[unit]") {
  const auto number =
      number_of("l2.hit_latency,a,p,value,1", {run_of("a,p,280,cycles,279..281\n"), run_of("b,p,1,cycles,1..1\n"),
                                               run_of("a,p,286,cycles per load,285..288\n")});
  REQUIRE(number);
  REQUIRE(number->measured);
  CHECK(number->measured->value == 283.0);
  CHECK(number->measured->spread->least == 279.0);
  CHECK(number->measured->spread->most == 288.0);
  CHECK(number->within_spread());  // 284
  CHECK(*number->difference() == Approx(283.0 / 284.0 - 1.0));
  // The spec says 284 with a spread of 283.2 to 306.6: that other cards and SMs make 286, too.
  const auto other = number_of("l2.hit_latency,a,p,value,1", {run_of("a,p,286,cycles,285.5..287\n")});
  REQUIRE(other);
  CHECK(other->within_spread());
  const auto outside = number_of("l2.hit_latency,a,p,value,1", {run_of("a,p,316,cycles,315..317\n")});
  REQUIRE(outside);
  CHECK_FALSE(outside->within_spread());
  // An integer lies within the spread if it may have been rounded into it.
  const auto integer = number_of("l1.hit_latency,a,p,value,1", {run_of("a,p,31.4,cycles,31.4..31.4\n")});
  REQUIRE(integer);
  CHECK(integer->measured->value == 31.0);
  CHECK(integer->within_spread());
}

TEST_CASE("Missing rows: the shipped number stays, with the reason", "[unit]") {
  const auto calibration =
      app::calibrate(h200(), table_of("l1.hit_latency,a,p,value,1\n", "lsu.lds_latency,no program\n"),
                     {run_of("b,p,1,ns,1..1\n")}, "x");
  REQUIRE(calibration);
  CHECK(calibration->rows == 1);
  CHECK(calibration->rows_used == 0);
  CHECK(calibration->spec.id == "x");
  std::map<std::string, std::string> reasons;
  for (std::size_t i = 0; i < calibration->numbers.size(); ++i) {
    const app::CalibratedNumber& n = calibration->numbers[i];
    CHECK_FALSE(n.measured);
    CHECK(calibration->spec.provenance[i].value == n.shipped.value);
    CHECK(calibration->spec.provenance[i].confidence == n.shipped.confidence);
    CHECK(calibration->spec.provenance[i].source == n.shipped.source);
    reasons[n.shipped.key] = n.kept_because;
  }
  CHECK(reasons.at("l1.hit_latency") == "no row a, p");
  CHECK(reasons.at("lsu.lds_latency") == "no program");
  CHECK(reasons.at("l2.associativity") == "guess, not measured");
}

TEST_CASE("Rows that contradict the table are refused with file and line", "[unit]") {
  const auto refused = [](const std::string& rule, const std::vector<app::MeasuredRun>& runs, const std::string& where,
                          const std::vector<std::string>& words) {
    const auto number = number_of(rule, runs);
    INFO(rule);
    REQUIRE_FALSE(number);
    require_error(number.error(), where, words);
  };
  const std::string rule = "l1.hit_latency,a,*,";
  refused(rule + "value,1", {run_of("a,p,31,ns,\n")}, "rows.csv:2", {"l1.hit_latency is in cycles", "in ns"});
  refused(rule + "value,1", {run_of("a,p,31,cyclesish,\n")}, "rows.csv:2", {"cyclesish"});
  refused(rule + "median,1", {run_of("a,p,31,cycles,\na,q,31,ns,\n")}, "rows.csv:3", {"in ns", "line 2 in cycles"});
  refused(rule + "value,1", {run_of("a,p,31,cycles,\na,q,31,cycles,\n")}, "rows.csv:3", {"2 rows fit"});
  refused(rule + "slope,1", {run_of("a,p,31,cycles,\na,q,31,cycles,\n")}, "rows.csv:2",
          {"no number in the param \"p\""});
  refused(rule + "slope,1", {run_of("a,1,31,cycles,\na,01,31,cycles,\n")}, "rows.csv:2", {"two different numbers"});
}

TEST_CASE("One row where a rule takes several is too few: the shipped number stays", "[unit]") {
  for (const char* reduction : {"slope,1", "intercept,1", "half_range,1"}) {
    INFO(reduction);
    const auto number = number_of(std::string("l1.hit_latency,a,*,") + reduction, {run_of("a,1,31,cycles,\n")});
    REQUIRE(number);
    CHECK_FALSE(number->measured);
    CHECK(number->kept_because == "no row a, *, or only one of those that it takes");
  }
}

TEST_CASE("What the spec cannot hold is kept as shipped, with the reason; other numbers are measured", "[unit]") {
  const auto table = table_of(
      "l1.hit_latency,a,p,value,1\n"
      "l2.capacity_bytes,c,p,value,1\n"
      "l2.effective_bytes,b,p,value,1\n"
      "lsu.lds_latency,d,p,value,1\n");
  const auto numbers_of = [&table](const std::string& rows) {
    const auto calibration = app::calibrate(h200(), table, {run_of(rows)}, "x");
    INFO(rows << (calibration ? "" : calibration.error().message));
    REQUIRE(calibration);
    std::map<std::string, app::CalibratedNumber> numbers;
    for (std::size_t i = 0; i < calibration->numbers.size(); ++i) {
      const app::CalibratedNumber& n = calibration->numbers[i];
      CHECK(calibration->spec.provenance[i].value == (n.measured ? n.measured->value : n.shipped.value));
      CHECK((n.measured.has_value() == n.kept_because.empty()));
      numbers.emplace(n.shipped.key, n);
    }
    return numbers;
  };
  // Out of range; and more than the capacity, which no row makes here.
  auto numbers = numbers_of("a,p,31000,cycles,\nb,p,62428800,B,\nd,p,25,cycles,\n");
  CHECK(numbers.at("l1.hit_latency").unfit);
  CHECK(numbers.at("l1.hit_latency").kept_because == "the rows do not fit: l1.hit_latency = 31000 is out of range");
  CHECK(numbers.at("l2.effective_bytes").unfit);
  CHECK(numbers.at("l2.effective_bytes").kept_because.find("more than l2.capacity_bytes") != std::string::npos);
  REQUIRE(numbers.at("lsu.lds_latency").measured);
  CHECK(numbers.at("lsu.lds_latency").measured->value == 25.0);
  CHECK_FALSE(numbers.at("lsu.lds_latency").unfit);
  CHECK_FALSE(numbers.at("l2.associativity").unfit);  // no row
  // Both fit if both are set, whichever comes first in the spec.
  numbers = numbers_of("b,p,62428800,B,\nc,p,83886080,B,\n");
  REQUIRE(numbers.at("l2.effective_bytes").measured);
  REQUIRE(numbers.at("l2.capacity_bytes").measured);
  CHECK(numbers.at("l2.capacity_bytes").measured->value == 83886080.0);
  numbers = numbers_of("b,p,1048576,B,\nc,p,2097152,B,\n");
  REQUIRE(numbers.at("l2.effective_bytes").measured);
  REQUIRE(numbers.at("l2.capacity_bytes").measured);
}

TEST_CASE("Runs agree where their spreads overlap; else the gap is told", "[unit]") {
  const auto agreement =
      app::agreement_of({run_of("a,p,100,cycles,99..101\nb,p,10,cycles,10..10\nc,p,1,ns,\nonly,p,1,ns,\n"),
                         run_of("a,p,102,cycles,101..103\nb,p,11,cycles,10.5..11\nc,p,1,ns,\n")});
  REQUIRE(agreement);
  REQUIRE(agreement->rows.size() == 3);
  CHECK(agreement->overlapping == 2);
  CHECK(agreement->in_one_run == 1);
  REQUIRE(agreement->lacking.size() == 1);  // the second run
  CHECK(agreement->lacking[0].rows == 1);
  CHECK(agreement->lacking[0].names == std::vector<std::string>{"only"});
  CHECK(agreement->rows[0].gap == 0.0);
  CHECK(agreement->rows[1].gap == Approx(0.5 / 10.5));
  const auto contradiction = app::agreement_of({run_of("a,p,1,ns,\n"), run_of("a,p,1,cycles,\n", "other.csv")});
  REQUIRE_FALSE(contradiction);
  require_error(contradiction.error(), "other.csv:2", {"in cycles here and in ns in rows.csv:2"});
}

TEST_CASE("Every measured number of h200 has a rule or a reason, and every rule a program that prints its row",
          "[unit]") {
  const auto table = app::read_calibration_table(kMicrobench);
  INFO((table ? "" : table.error().where + ": " + table.error().message));
  REQUIRE(table);
  std::set<std::string> keys;
  std::string sources;
  for (const auto& entry : std::filesystem::directory_iterator(kMicrobench)) {
    if (entry.path().extension() != ".csv" && entry.is_regular_file()) sources += read_file(entry.path().string());
  }
  for (const app::SpecRule& rule : table->rules) {
    INFO(rule.key << ": " << rule.row_name);
    CHECK_FALSE(table->not_remade.contains(rule.key));
    CHECK((sources.find("\"" + rule.row_name + "\"") != std::string::npos ||
           sources.find("'" + rule.row_name + "'") != std::string::npos ||
           sources.find("\"" + rule.row_name + ",") != std::string::npos));
    keys.insert(rule.key);
  }
  for (const model::Provenance& p : h200().provenance) {
    INFO(p.key);
    if (p.confidence == model::Confidence::kMeasured) {
      CHECK((keys.contains(p.key) || table->not_remade.contains(p.key)));
    }
  }
}

TEST_CASE("Recorded rows of machine code: the shipped values within their spread", "[unit]") {
  const auto table = app::read_calibration_table(kMicrobench);
  REQUIRE(table);
  const auto run = app::read_measured_rows(recorded("extra_microbench.csv"));
  INFO((run ? "" : run.error().where + ": " + run.error().message));
  REQUIRE(run);
  const auto calibration = app::calibrate(h200(), *table, {*run}, "recorded");
  INFO((calibration ? "" : calibration.error().where + ": " + calibration.error().message));
  REQUIRE(calibration);
  CHECK(calibration->rows > 2000);
  // traces/calibration/h200/extra_microbench.md: one wavefront per cycle, a lone warp one per two; uniform datapath 2.
  for (const auto& [key, value] : {std::pair{"lsu.wavefront_interval", 1.0},
                                   {"lsu.request_wavefront_interval", 2.0},
                                   {"pipe.uniform_interval", 2.0}}) {
    const std::string name = key;
    const auto n = std::find_if(calibration->numbers.begin(), calibration->numbers.end(),
                                [&name](const app::CalibratedNumber& c) { return c.shipped.key == name; });
    REQUIRE(n != calibration->numbers.end());
    INFO(key);
    REQUIRE(n->measured);
    CHECK(n->measured->value == value);
    CHECK(n->within_spread());
  }
}

TEST_CASE("Recorded rows of the memory system: the shipped values within their spread, but for known ones", "[unit]") {
  const auto table = app::read_calibration_table(kMicrobench);
  REQUIRE(table);
  const auto run = app::read_measured_rows(recorded("microbenchmarks.csv"));
  INFO((run ? "" : run.error().where + ": " + run.error().message));
  REQUIRE(run);
  const auto calibration = app::calibrate(h200(), *table, {*run}, "recorded");
  INFO((calibration ? "" : calibration.error().where + ": " + calibration.error().message));
  REQUIRE(calibration);
  int measured = 0;
  std::set<std::string> outside;
  for (const app::CalibratedNumber& n : calibration->numbers) {
    if (n.measured) {
      ++measured;
      if (!n.within_spread()) outside.insert(n.shipped.key);
    }
  }
  CHECK(measured == 24);
  // 95 % of 30.8 MiB stay, the spec says 29 MiB.
  CHECK(outside == std::set<std::string>{"l2.effective_bytes"});
}

TEST_CASE("Two runs on the H200 agree with each other and with the shipped spec, but for known numbers", "[unit]") {
  const auto table = app::read_calibration_table(kMicrobench);
  REQUIRE(table);
  std::vector<app::MeasuredRun> runs;
  for (const char* name : {"microbench_run1.csv.zst", "microbench_run2.csv.zst"}) {
    auto run = app::read_measured_rows(recorded(name));
    INFO((run ? "" : run.error().where + ": " + run.error().message));
    REQUIRE(run);
    runs.push_back(std::move(*run));
  }
  const auto calibration = app::calibrate(h200(), *table, runs, "recorded");
  INFO((calibration ? "" : calibration.error().where + ": " + calibration.error().message));
  REQUIRE(calibration);
  std::set<std::string> outside;
  int measured = 0;
  for (const app::CalibratedNumber& n : calibration->numbers) {
    CHECK_FALSE(n.unfit);
    measured += n.measured ? 1 : 0;
    if (n.measured && !n.within_spread()) outside.insert(n.shipped.key);
    CHECK_FALSE(n.kept_because.starts_with("no row"));
  }
  CHECK(measured == 75);
  // traces/calibration/h200/README.md says why.
  CHECK(outside == std::set<std::string>{"cta.second_cta_cycles", "cta.turnaround_cycles",
                                         "icache.cold_cycles_per_instruction", "l2.effective_bytes"});
  const auto agreement = app::agreement_of(runs);
  REQUIRE(agreement);
  CHECK(agreement->in_one_run == 0);
  CHECK(agreement->rows.size() == 10317);
  // One row of five values each; of 252 pairs of such rows two miss each other by chance.
  std::vector<std::string> apart;
  for (const app::RepeatedRow& r : agreement->rows) {
    if (r.gap > 0.0) apart.push_back(r.name + ", " + r.param);
  }
  CHECK(apart == std::vector<std::string>{"start, empty 32 threads; 10000 CTAs; caches warm; sm__cycles_active.avg"});
  CHECK(agreement->overlapping + apart.size() == agreement->rows.size());
}

TEST_CASE("The H200 agrees with what was measured on three cards before, but for rows of another form", "[unit]") {
  std::vector<app::MeasuredRun> runs;
  for (const char* name : {"microbench_run1.csv.zst", "microbench_run2.csv.zst", "microbenchmarks.csv"}) {
    auto run = app::read_measured_rows(recorded(name));
    INFO((run ? "" : run.error().where + ": " + run.error().message));
    REQUIRE(run);
    runs.push_back(std::move(*run));
  }
  const auto agreement = app::agreement_of({app::combined({runs[0], runs[1]}, "both"), runs[2]});
  INFO((agreement ? "" : agreement.error().message));
  REQUIRE(agreement);
  CHECK(agreement->rows.size() == 97);
  CHECK(agreement->overlapping == 81);
  // traces/calibration/h200/README.md says of each why: rows of copies (2), loads (1), turnarounds (4), launches (1).
  const auto far = std::count_if(agreement->rows.begin(), agreement->rows.end(),
                                 [](const app::RepeatedRow& r) { return r.gap >= 0.02; });
  CHECK(far == 8);
}

TEST_CASE("A spec as text reads as the same spec, spreads included", "[unit]") {
  for (const std::string& id : model::shipped_gpu_specs()) {
    model::GpuSpec spec = *model::find_gpu_spec(id);
    spec.note = "quotes \" and \\ and \t";
    spec.provenance[3].spread = model::Spread{0.1, spec.provenance[3].value + 1e-9};
    const auto read = model::parse_gpu_spec(model::gpu_spec_text(spec), id);
    INFO(id << (read ? "" : read.error().where + ": " + read.error().message));
    REQUIRE(read);
    CHECK(read->note == spec.note);
    REQUIRE(read->provenance.size() == spec.provenance.size());
    for (std::size_t i = 0; i < spec.provenance.size(); ++i) {
      const model::Provenance& a = read->provenance[i];
      const model::Provenance& b = spec.provenance[i];
      INFO(a.key);
      CHECK(a.value == b.value);
      CHECK(a.source == b.source);
      CHECK(a.confidence == b.confidence);
      CHECK(a.spread.has_value() == b.spread.has_value());
    }
    CHECK(read->provenance[3].spread->least == 0.1);
    CHECK(read->provenance[3].spread->most == spec.provenance[3].value + 1e-9);
    CHECK(model::gpu_spec_text(*read) == model::gpu_spec_text(spec));
  }
}

TEST_CASE("calibrate: a spec from recorded rows is valid, shows its spreads, and is the same each time", "[cli]") {
  const ScratchFolder folder;
  const std::vector<std::string> words{"calibrate", "--rows", recorded("microbenchmarks.csv"), "--id", "my-h200"};
  const auto with = [&words](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return tilesim(more);
  };
  const ProcessResult first = with({"--out", folder.file("a.toml"), "--json", folder.file("a.json")});
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  CHECK(first.out.find("l2.effective_bytes") != std::string::npos);
  REQUIRE(with({"--out", folder.file("b.toml"), "--json", folder.file("b.json")}).out == first.out);
  CHECK_FALSE(read_file(folder.file("a.toml")).empty());
  CHECK(read_file(folder.file("a.toml")) == read_file(folder.file("b.toml")));
  CHECK(read_file(folder.file("a.json")) == read_file(folder.file("b.json")));
  const ProcessResult check = tilesim({"gpus", "check", folder.file("a.toml")});
  INFO(check.err);
  CHECK(check.exit_code == 0);
  CHECK(check.out.find("a valid spec of 'my-h200'") != std::string::npos);
  const ProcessResult show = tilesim({"gpus", "show", folder.file("a.toml")});
  CHECK(show.out.find("31457280..33554432") != std::string::npos);  // of l2.effective_bytes
  const auto json = nlohmann::json::parse(read_file(folder.file("a.json")));
  const auto& number = json.at("result").at("numbers").at("l2.hit_latency_spread");
  CHECK(number.at("measured") == 17.0);
  CHECK(number.at("shipped") == 17.0);
  CHECK(number.at("within_spread") == true);
  CHECK(json.at("gpu").at("numbers").at("l2.hit_latency_spread").at("spread") == nlohmann::json::array({5.0, 32.5}));
  CHECK(json.at("result").at("numbers").at("lsu.lds_latency").at("measured").is_null());
  const ProcessResult spec = with({"--out", "-"});
  CHECK(spec.out == read_file(folder.file("a.toml")));
  const ProcessResult csv = with({"--csv", "-"});
  CHECK(csv.out.starts_with("key,unit,shipped,measured,least,most,difference,within_spread,kept_because\n"));
  CHECK(csv.out.find("\nl2.hit_latency_spread,cycles,17,17,5,32.5,0,true,\n") != std::string::npos);
}

TEST_CASE("calibrate: rows of before are compared, and make no number", "[cli]") {
  const ScratchFolder folder;
  const std::string now = folder.write("now.csv", kHeading + "l1_chase,32-bit; 16 KiB,31,cycles,30.9..31.1\n");
  const std::string before = folder.write("before.csv", kHeading +
                                                            "l1_chase,32-bit; 16 KiB,33,cycles,31.1..33\n"
                                                            "l2_request_bytes,private streams' bytes over small "
                                                            "requests,58,B,57..59\n");
  const ProcessResult result = tilesim({"calibrate", "--rows", now, "--beside", before, "--beside", now});
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.out.starts_with("1 of 106 numbers measured by 1 of 1 row in 1 run; in 1 of them h200 lies within the "));
  CHECK(result.out.find("others by 0.1 %") != std::string::npos);
  CHECK(result.out.find("1 of 2 rows in " + before) != std::string::npos);
  CHECK(result.out.find("1 of 1 row in " + now) != std::string::npos);
  const ProcessResult json = tilesim({"calibrate", "--rows", now, "--beside", before, "--json", "-"});
  const auto beside = nlohmann::json::parse(json.out).at("result").at("beside").at(0);
  CHECK(beside.at("rows") == 2);
  CHECK(beside.at("agreement").at("rows") == 1);
  CHECK(beside.at("agreement").at("overlapping") == 1);
}

TEST_CASE("calibrate: two runs agree with themselves; what differs is listed", "[cli]") {
  const ScratchFolder folder;
  const std::string rows = recorded("microbenchmarks.csv");
  const ProcessResult same = tilesim({"calibrate", "--rows", rows, "--rows", rows, "--json", "-"});
  INFO(same.err);
  REQUIRE(same.exit_code == 0);
  const auto agreement = nlohmann::json::parse(same.out).at("result").at("agreement");
  CHECK(agreement.at("rows") == agreement.at("overlapping"));
  CHECK(agreement.at("rows") == 97);
  const std::string other = folder.write("other.csv", kHeading + "l1_chase,32-bit; 16 KiB,33,cycles,33..33\n");
  const ProcessResult differ = tilesim({"calibrate", "--rows", rows, "--rows", other});
  INFO(differ.err);
  REQUIRE(differ.exit_code == 0);
  CHECK(differ.out.find("furthest apart") == std::string::npos);  // all of them are shown
  CHECK(differ.out.find("6.25 %") != std::string::npos);          // 31 and 33
  CHECK(differ.out.find("cta_interval") != std::string::npos);    // of what the other run lacks, by name
  CHECK(same.out.find("lacks") == std::string::npos);
}

TEST_CASE("calibrate: runs are measured by the script of the microbenchmarks, and kept", "[cli]") {
  const ScratchFolder folder;
  namespace fs = std::filesystem;
  fs::create_directories(folder.file("kernels/microbench"));
  fs::create_directories(folder.file("programs"));
  for (const char* table : {"spec_rows.csv", "not_remade.csv"})
    fs::copy_file(kMicrobench + "/" + table, folder.file("kernels/microbench/") + table);
  // Stands for run.sh: it measures what a file says, and tells of a program that failed.
  const std::string script = folder.write("kernels/microbench/run.sh",
                                          "#!/bin/sh\n"
                                          "[ $1 = build ] && exit 0\n"
                                          "[ -e ${0%/*}/gpu ] || { echo 'no NVIDIA GPU'; exit 4; }\n"
                                          "[ $1 = gpu ] && exit 0\n"
                                          "mkdir -p $3\n"
                                          "echo \"$4 rounds\"\n"
                                          "echo 'l1: 1 rows in 0 s'\n"
                                          "echo 'left out: rows of Nsight Compute; put ncu into PATH'\n"
                                          "echo 'failed: dram'\n"
                                          "cp $2/rows.csv $3/rows.csv\n"
                                          "exit 1\n");
  fs::permissions(script, fs::perms::owner_all);
  const std::vector<std::string> words{"calibrate", "--build", folder.file("programs"), "--keep", folder.file("kept"),
                                       "--runs",    "2"};
  const std::vector<std::pair<std::string, std::string>> environment{{"TILESIM_KERNELS", folder.file("kernels")}};
  const ProcessResult no_gpu = tilesim(words, environment);
  CHECK(no_gpu.exit_code == 4);
  CHECK(no_gpu.err.find("no NVIDIA GPU") != std::string::npos);
  CHECK(no_gpu.err.find("--rows FILE") != std::string::npos);
  CHECK(no_gpu.err.find("run.sh build DIR") != std::string::npos);
  CHECK_FALSE(folder.write("kernels/microbench/gpu", "x").empty());
  const ProcessResult no_rows = tilesim(words, environment);
  CHECK(no_rows.exit_code == 1);
  CHECK(no_rows.err.find("failed: dram") != std::string::npos);
  CHECK_FALSE(folder.write("programs/rows.csv", kHeading + "l1_chase,32-bit; 16 KiB,33,cycles,32..33\n").empty());
  const ProcessResult result = tilesim(words, environment);
  INFO(result.err);
  REQUIRE(result.exit_code == 1);  // a program failed; what the others measured is there
  CHECK(result.err.find("calibrate: l1: 1 rows in 0 s\n") != std::string::npos);  // while it runs
  CHECK(result.err.find("calibrate: 5 rounds\n") != std::string::npos);
  CHECK(result.out.starts_with("1 of "));
  CHECK(result.out.find("in 2 runs") != std::string::npos);
  CHECK(result.out.find("+6.5 %  outside") != std::string::npos);
  CHECK(result.out.find("the spreads of 1 overlap") != std::string::npos);
  CHECK(result.out.find("left out: rows of Nsight Compute") != std::string::npos);
  CHECK(result.out.find("failed: dram") != std::string::npos);
  CHECK(read_file(folder.file("kept/run2/rows.csv")) == read_file(folder.file("programs/rows.csv")));
}

TEST_CASE("calibrate: a signal ends the programs, and nothing stays behind", "[cli]") {
  const ScratchFolder folder;
  namespace fs = std::filesystem;
  fs::create_directories(folder.file("kernels/microbench"));
  fs::create_directories(folder.file("programs"));
  fs::create_directories(folder.file("tmp"));
  for (const char* table : {"spec_rows.csv", "not_remade.csv"})
    fs::copy_file(kMicrobench + "/" + table, folder.file("kernels/microbench/") + table);
  const std::string script = folder.write("kernels/microbench/run.sh",
                                          "#!/bin/sh\n"
                                          "[ $1 = measure ] || exit 0\n"
                                          "echo $$ > $2/pid\n"
                                          "sleep 250\n");
  fs::permissions(script, fs::perms::owner_all);
  const std::string measure = fmt::format(
      "TMPDIR={0}/tmp TILESIM_KERNELS={0}/kernels {1} calibrate --build {0}/programs & run=$!\n"
      "while [ ! -s {0}/programs/pid ]; do sleep 0.05; done\n"
      "ls {0}/tmp | wc -l\n"
      "kill -TERM $run; wait $run; echo $?\n"
      "sleep 0.2; kill -0 $(cat {0}/programs/pid) || echo over\n",
      folder.file(""), TILESIM_COMMAND);
  const ProcessResult result = run_process("/bin/sh", {"-c", measure}, {}, 100);
  INFO(result.out << result.err);
  CHECK(result.out == "1\n143\nover\n");  // a folder, ended by SIGTERM
  CHECK(fs::is_empty(folder.file("tmp")));
}

TEST_CASE("calibrate: bad input and what is not here", "[cli]") {
  const ScratchFolder folder;
  const std::string rows = recorded("microbenchmarks.csv");
  require_refused({"calibrate", "--rows", folder.file("none.csv")}, {"none.csv"});
  require_refused({"calibrate", "--rows", recorded("copies.csv")}, {"copies.csv:1", "name,param,value,unit,spread"});
  require_refused({"calibrate", "--rows", rows, "--build", "x"}, {"--build", "--rows"});
  require_refused({"calibrate", "--rows", rows, "--id", "a b"}, {"--id", "a b"});
  require_refused({"calibrate", "--rows", rows, "--out", folder.file("no/such/folder.toml")}, {"--out"});
  require_refused({"calibrate", "--rows", rows, "--out", "-", "--csv", "-"}, {"two outputs"});
  require_refused({"calibrate", "--rows", rows, "--out", rows}, {"--out", "would overwrite what --rows names"});
  const std::string one = "twice.txt";
  require_refused({"calibrate", "--rows", rows, "--out", one, "--csv", "./" + one},
                  {"would overwrite what --out names", "a file of its own"});
  require_refused({"calibrate", "--runs", "0"}, {"--runs"});
  const std::string strange = folder.write("strange.csv", kHeading + "x,p,1,cycles,1..1\n");
  require_refused({"calibrate", "--rows", strange}, {"strange.csv", "none of 1 rows", "spec_rows.csv"});
  require_refused({"calibrate", "--rows", rows, "--beside", folder.file("none.csv")}, {"none.csv"});
  require_refused({"calibrate", "--rows", rows, "--rounds", "3"}, {"--rounds", "--rows"});
  require_refused({"calibrate", "--rounds", "0"}, {"--rounds"});
  // A GPU is there, but neither nvcc nor programs.
  namespace fs = std::filesystem;
  fs::create_directories(folder.file("kernels/microbench"));
  for (const char* table : {"spec_rows.csv", "not_remade.csv"})
    fs::copy_file(kMicrobench + "/" + table, folder.file("kernels/microbench/") + table);
  fs::permissions(folder.write("kernels/microbench/run.sh", "#!/bin/sh\nexit 0\n"), fs::perms::owner_all);
  const std::vector<std::pair<std::string, std::string>> bare{
      {"PATH", folder.file("none")}, {"NVCC", ""}, {"CUDA_HOME", ""}, {"TILESIM_KERNELS", folder.file("kernels")}};
  const ProcessResult absent = tilesim({"calibrate", "--id", "x"}, bare);
  CHECK(absent.exit_code == 4);
  CHECK(absent.err.find("nvcc") != std::string::npos);
  CHECK(absent.err.find("--rows FILE") != std::string::npos);
  CHECK(absent.err.find("--build DIR") != std::string::npos);
  const ProcessResult no_table = tilesim({"calibrate", "--rows", rows}, {{"TILESIM_KERNELS", folder.file("none")}});
  CHECK(no_table.exit_code == 4);
  CHECK(no_table.err.find("TILESIM_KERNELS") != std::string::npos);
}

}  // namespace tilesim::test
