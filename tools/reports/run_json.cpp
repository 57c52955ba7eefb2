#include "tools/reports/run_json.h"

#include "tools/reports/check_json.h"
#include "tools/reports/replay_json.h"
#include "tools/reports/run_text.h"

namespace tilesim::reports {

namespace {

Json gap_of(const app::Gap& gap) {
  Json parts = Json::array();
  for (const app::GapPart& part : gap.parts) {
    parts.push_back(Json{{"key", part.key},
                         {"name", part.name},
                         {"what", part.what},
                         {"seconds", part.seconds},
                         {"kind", part.simulated ? "simulated" : "analytic"}});
  }
  return Json{{"seconds", gap.seconds}, {"parts", std::move(parts)}};
}

Json troubles_of(const app::RunResult& r) {
  Json rows = Json::array();
  for (const app::Trouble& t : r.troubleshooting) {
    rows.push_back(Json{{"key", t.key},
                        {"symptom", t.symptom},
                        {"metric", t.metric},
                        {"value", t.value},
                        {"threshold", t.threshold},
                        {"unit", t.unit},
                        {"cause", t.cause},
                        {"confirm", t.confirm},
                        {"try", t.remedy},
                        {"weight_percent", t.weight}});
  }
  return rows;
}

Json trust_of(const app::Trust& trust) {
  Json json{{"validated", trust.validated}, {"error_percent", nullptr}, {"sentence", trust.sentence}};
  if (trust.error_percent) {
    json["error_percent"] = *trust.error_percent;
  }
  return json;
}

}  // namespace

std::string run_json(const app::RunResult& r, bool problem_assumed) {
  Json json = kernel_document("run", r.kernel);
  json["problem"] = problem_json(r.sheet, problem_assumed);
  json["kernel"].update(config_json(r.sheet.config));
  json["kernel"]["spilled_bytes_per_thread"] = r.spilled_bytes;
  Json& result = json["result"];
  result["verdict"] = run_verdict(r);
  result["gap"] = gap_of(r.gap);
  result["troubleshooting"] = troubles_of(r);
  result["trust"] = trust_of(r.trust);
  result["sheet"] = sheet_metrics(r.sheet);
  return json_text(json);
}

}  // namespace tilesim::reports
