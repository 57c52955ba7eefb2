#include <fmt/format.h>

#include "tools/reports/calibrate_report.h"
#include "tools/reports/error_text.h"
#include "tools/reports/json_document.h"

namespace tilesim::reports {

namespace {

Json number_json(const app::CalibratedNumber& n) {
  Json json{{"unit", n.shipped.unit},
            {"shipped", n.shipped.value},
            {"shipped_confidence", to_string(n.shipped.confidence)},
            {"measured", n.measured ? Json(n.measured->value) : Json(nullptr)}};
  if (!n.measured) {
    json["kept_because"] = n.kept_because;
    json["unfit"] = n.unfit;
    return json;
  }
  const auto difference = n.difference();
  json["spread"] =
      n.measured->spread ? Json::array({n.measured->spread->least, n.measured->spread->most}) : Json(nullptr);
  json["difference"] = difference ? Json(*difference) : Json(nullptr);
  json["within_spread"] = n.within_spread();
  json["source"] = n.measured->source;
  return json;
}

Json agreement_json(const app::Agreement& agreement) {
  Json apart = Json::array();
  for (const app::RepeatedRow& row : agreement.rows) {
    if (row.gap > 0.0) {
      apart.push_back(
          Json{{"name", row.name}, {"param", row.param}, {"unit", row.unit}, {"values", row.values}, {"gap", row.gap}});
    }
  }
  Json lacking = Json::array();
  for (const app::LackingRun& run : agreement.lacking) {
    lacking.push_back(Json{{"run", run.file}, {"rows", run.rows}, {"names", run.names}});
  }
  return Json{{"rows", agreement.rows.size()},
              {"overlapping", agreement.overlapping},
              {"in_one_run", agreement.in_one_run},
              {"lacking", std::move(lacking)},
              {"apart", std::move(apart)}};
}

}  // namespace

std::string calibrate_json(const CalibrationReport& report) {
  Json json = json_document("calibrate", report.calibration.spec);
  Json& result = json["result"] = Json::object();
  result["compared_with"] = report.shipped.id;
  result["runs"] = report.runs;
  result["rows"] = report.calibration.rows;
  result["rows_used"] = report.calibration.rows_used;
  Json& numbers = result["numbers"] = Json::object();
  for (const app::CalibratedNumber& n : report.calibration.numbers) {
    numbers[n.shipped.key] = number_json(n);
  }
  result["agreement"] = report.agreement ? agreement_json(*report.agreement) : Json(nullptr);
  Json& beside = result["beside"] = Json::array();
  for (const BesideRows& rows : report.beside) {
    beside.push_back(Json{{"file", rows.file}, {"rows", rows.rows}, {"agreement", agreement_json(rows.agreement)}});
  }
  result["notes"] = report.notes;
  return json_text(json);
}

std::string calibrate_csv(const CalibrationReport& report) {
  std::string text = "key,unit,shipped,measured,least,most,difference,within_spread,kept_because\n";
  for (const app::CalibratedNumber& n : report.calibration.numbers) {
    if (!n.measured) {
      text += fmt::format("{},{},{},,,,,,{}\n", n.shipped.key, csv_field(n.shipped.unit), n.shipped.value,
                          csv_field(n.kept_because));
      continue;
    }
    const auto difference = n.difference();
    const model::Spread spread = n.measured->spread.value_or(model::Spread{n.measured->value, n.measured->value});
    text += fmt::format("{},{},{},{},{},{},{},{},\n", n.shipped.key, csv_field(n.shipped.unit), n.shipped.value,
                        n.measured->value, spread.least, spread.most, difference ? fmt::format("{}", *difference) : "",
                        n.within_spread());
  }
  return text;
}

}  // namespace tilesim::reports
