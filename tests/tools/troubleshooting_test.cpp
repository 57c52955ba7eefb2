// The troubleshooting table, and how far a result is trusted.
#include "tools/lib/troubleshooting.h"

#include <algorithm>
#include <set>

#include "tests/support/catch.h"
#include "tools/lib/run.h"

namespace tilesim::app {

namespace {

RunResult sample() {
  RunRequest request;
  request.problem = {256, 256, 128};
  auto result = run_tile(*model::find_gpu_spec("h200"), request);
  REQUIRE(result);
  return *std::move(result);
}

bool applies(const NamedMetrics& metrics, std::string_view key) {
  const auto found = find_trouble(metrics);
  return std::any_of(found.begin(), found.end(), [key](const Trouble& t) { return t.key == key; });
}

}  // namespace

TEST_CASE("every row of the table is complete, and its numbers exist", "[unit]") {
  const NamedMetrics metrics = named_metrics(sample());
  CHECK(troubleshooting_table().size() >= 16);
  std::set<std::string_view> keys;
  for (const TroubleRow& row : troubleshooting_table()) {
    INFO(row.key);
    CHECK(keys.insert(row.key).second);
    REQUIRE_FALSE(row.when.empty());
    for (const Condition& condition : row.when) {
      INFO(condition.metric);
      CHECK(metrics.contains(condition.metric));
    }
    INFO(row.weight);
    CHECK(metrics.contains(row.weight));
    for (const std::string_view text : {row.symptom, row.cause, row.confirm, row.remedy}) {
      CHECK_FALSE(text.empty());
      CHECK(fill_in(text, metrics).find('{') == std::string::npos);
    }
  }
}

TEST_CASE("kernels on tensor cores are not advised to change thread tiles", "[unit]") {
  for (const TroubleRow& row : troubleshooting_table()) {
    NamedMetrics metrics{{"tilesim__tensor", 1.0}};
    for (const Condition& c : row.when) {
      metrics[std::string(c.metric)] = c.relation == Relation::kAtLeast ? c.threshold : c.threshold - 0.5;
    }
    CHECK(applies(metrics, row.key) == (row.tensor_remedy != kDoesNotApply));
    for (const Trouble& trouble : find_trouble(metrics)) {
      INFO(trouble.key << ": " << trouble.remedy);
      for (const char* words : {"thread tile", "--thread-tile", "--tm", "FP32", "FMA"}) {
        CHECK(trouble.remedy.find(words) == std::string::npos);
      }
    }
  }
}

TEST_CASE("each row applies just when its conditions hold", "[unit]") {
  for (const TroubleRow& row : troubleshooting_table()) {
    INFO(row.key);
    NamedMetrics metrics;
    for (const Condition& c : row.when) {
      metrics[std::string(c.metric)] = c.relation == Relation::kAtLeast ? c.threshold : c.threshold - 0.5;
    }
    CHECK(applies(metrics, row.key));
    for (const Condition& c : row.when) {
      NamedMetrics other = metrics;
      other[std::string(c.metric)] = c.relation == Relation::kAtLeast ? c.threshold - 0.5 : c.threshold;
      CHECK_FALSE(applies(other, row.key));
    }
  }
}

TEST_CASE("the heaviest row comes first", "[unit]") {
  NamedMetrics metrics{{"tilesim__barrier_share.pct", 20.0},
                       {"tilesim__stages", 1.0},
                       {"tilesim__time_share_barrier.pct", 20.0},
                       {"tilesim__wasted_work", 30.0},
                       {"tilesim__gap_padding.pct", 30.0}};
  const auto rows = find_trouble(metrics);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].key == "ragged_edges");
  CHECK(rows[1].key == "barrier");
  CHECK(rows[1].value == 20.0);
  metrics["tilesim__stages"] = 3.0;  // who has three buffers is not told to take two
  const auto buffered = find_trouble(metrics);
  REQUIRE(buffered.size() == 2);
  CHECK(buffered[1].key == "barrier_buffered");
  CHECK(buffered[1].remedy.find("--stages") == std::string::npos);
}

TEST_CASE("numbers are filled in, unknown names and lone braces stay", "[unit]") {
  const NamedMetrics metrics{{"a", 1.5}, {"b.c", 1234567.0}};
  CHECK(fill_in("{a} of {b.c}", metrics) == "1.5 of 1234567");
  // Things of which there is one.
  const NamedMetrics counts{{"one", 1.0}, {"two", 2.0}, {"part", 0.5}, {"bytes", 122880.0}, {"small", 0.12345}};
  CHECK(fill_in("room for {one|CTA}", counts) == "room for 1 CTA");
  CHECK(fill_in("{two|barrier} per {part|cycle}", counts) == "2 barriers per 0.5 cycles");
  CHECK(fill_in("{bytes} B, {small}", counts) == "122880 B, 0.1235");
  CHECK(fill_in("{x|CTA}", counts) == "{x|CTA}");
  CHECK(fill_in("{x} {", metrics) == "{x} {");
  CHECK(fill_in("", metrics).empty());
}

TEST_CASE("known diseases are found", "[unit]") {
  const model::GpuSpec gpu = *model::find_gpu_spec("h200");
  RunRequest ragged;
  ragged.problem = {132, 132, 64};
  const auto padded = run_tile(gpu, ragged);
  REQUIRE(padded);
  const NamedMetrics metrics = named_metrics(*padded);
  CHECK(applies(metrics, "ragged_edges"));
  CHECK(applies(metrics, "idle_sms"));
  CHECK(applies(metrics, "short_loop"));
  RunRequest narrow;
  narrow.problem = {256, 254, 254};
  narrow.config.vec = 1;
  const auto unaligned = run_tile(gpu, narrow);
  REQUIRE(unaligned);
  CHECK(applies(named_metrics(*unaligned), "narrow_loads"));
}

TEST_CASE("only measured tiles on the measured GPU are validated", "[unit]") {
  const model::GpuSpec h200 = *model::find_gpu_spec("h200");
  const model::TileConfig config;  // 128x128x8, 8x8, one buffer
  CHECK(trust_of(config, {4096, 4096, 4096}, h200).validated);
  CHECK(trust_of(config, {4096, 4096, 4096}, h200).sentence.find("this tile and shape") == 0);
  CHECK(trust_of(config, {1000, 1000, 1000}, h200).sentence.find("not this shape, but this tile at ") == 0);
  model::TileConfig other = config;
  other.stages = 3;
  CHECK_FALSE(trust_of(other, {4096, 4096, 4096}, h200).validated);
  CHECK_FALSE(trust_of(config, {4096, 4096, 4096}, *model::find_gpu_spec("h100-sxm")).validated);
  model::GpuSpec changed = h200;
  REQUIRE(model::override_gpu_spec(changed, "device.sm_count", "66"));
  const Trust trust = trust_of(config, {4096, 4096, 4096}, changed);
  CHECK_FALSE(trust.validated);
  CHECK(trust.sentence.find("changed spec") != std::string::npos);
}

}  // namespace tilesim::app
