#include "tools/reports/error_text.h"
#include "tools/reports/json_document.h"
#include "tools/reports/validate_report.h"

namespace tilesim::reports {

namespace {

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json errors_of(const app::PartSummary& s) {
  Json scores = Json::array();
  for (const app::GroupScore& score : s.scores) {
    const app::ErrorStatistics& e = score.errors;
    scores.push_back(Json{{"group", score.group},
                          {"metric", score.metric},
                          {"runs", e.count},
                          {"mape", e.mape},
                          {"median", e.median},
                          {"worst", e.worst},
                          {"worst_run", text_or_null(e.worst_name)},
                          {"bias", e.bias},
                          {"pearson_log", optional_number(e.pearson)}});
  }
  return scores;
}

Json ranks_of(const app::PartSummary& s) {
  Json ranks = Json::array();
  for (const app::RankScore& rank : s.ranks) {
    ranks.push_back(Json{{"group", rank.group},
                         {"configurations", rank.count},
                         {"kendall_tau", optional_number(rank.tau)},
                         {"top1_regret", rank.regret.value},
                         {"pick", text_or_null(rank.regret.pick)},
                         {"best", text_or_null(rank.regret.best)}});
  }
  return ranks;
}

Json counters_of(const app::PartSummary& s) {
  Json counters = Json::array();
  for (const app::CounterScore& c : s.counters) {
    counters.push_back(Json{{"counter", c.counter},
                            {"runs", c.count},
                            {"exact", c.exact},
                            {"condition", text_or_null(c.condition)},
                            {"unit", error_unit(c.scale)},
                            {"mean_error", c.mean},
                            {"bias", c.bias},
                            {"worst", c.worst}});
  }
  return counters;
}

Json waiting_of(const app::PartSummary& s) {
  return s.waiting ? Json{{"runs", s.waiting->count},
                          {"largest_right", s.waiting->largest_right},
                          {"worst_points", s.waiting->worst_points},
                          {"mean_points", s.waiting->mean_points}}
                   : Json(nullptr);
}

Json summary_of(const app::PartSummary& s) {
  return Json{{"code", to_string(s.code)},  {"part", app::to_string(s.part)}, {"runs", s.runs},
              {"not_simulated", s.failed},  {"errors", errors_of(s)},         {"order", ranks_of(s)},
              {"counters", counters_of(s)}, {"waiting_states", waiting_of(s)}};
}

Json identity_of(const app::ValidationRow& row) {
  return Json{{"name", row.name},  {"family", row.family}, {"dtype", row.dtype},     {"m", row.shape[0]},
              {"n", row.shape[1]}, {"k", row.shape[2]},    {"split_k", row.split_k}, {"code", to_string(row.code)}};
}

/// A run of the development part with everything that is on both sides.
Json row_of(const app::ValidationRow& row) {
  Json json = identity_of(row);
  json["clock_mhz"] = row.clock_mhz;
  Json& metrics = json["metrics"] = Json::object();
  for (const auto& [name, measured] : row.measured) {
    const auto predicted = row.predicted.find(name);
    if (predicted == row.predicted.end()) {
      continue;
    }
    const auto spread = row.spread.find(name);
    metrics[name] = Json{{"predicted", predicted->second},
                         {"measured", measured},
                         {"spread", spread == row.spread.end() ? Json(nullptr) : Json(spread->second)}};
  }
  return json;
}

}  // namespace

std::string validate_json(const ValidationReport& report) {
  Json json = json_document("validate", report.gpu);
  Json& result = json["result"] = Json::object();
  result["recorded"] = report.recorded;
  result["recorded_gpu"] = report.recorded_gpu;
  result["metric"] = report.metric;
  result["brief"] = report.brief;
  Json& summaries = result["summaries"] = Json::array();
  for (const app::PartSummary& s : report.summaries) {
    summaries.push_back(summary_of(s));
  }
  Json& rows = result["development"] = Json::array();
  Json& failures = result["not_simulated"] = Json::array();
  for (const app::ValidationRow& row : report.rows) {
    if (row.failure) {
      Json failure = row.part == traces::Part::kDevelopment ? identity_of(row) : Json{{"code", to_string(row.code)}};
      failure["part"] = app::to_string(row.part);
      failure["error"] = row.failure->message;
      failures.push_back(std::move(failure));
    } else if (row.part == traces::Part::kDevelopment) {
      rows.push_back(row_of(row));
    }
  }
  result["gated"] = report.gated;
  result["failed_gates"] = report.failed_gates;
  return json_text(json);
}

}  // namespace tilesim::reports
