#include "tools/reports/check_json.h"

#include <fmt/format.h>

#include "tools/reports/check_text.h"

namespace tilesim::reports {

namespace {

void add_limits(Json& metrics, const model::Occupancy& o) {
  const auto add = [&metrics](const char* name, std::int64_t value, const char* unit) {
    const bool limited = value < model::Occupancy::kUnlimited;
    metrics[name] = limited ? json_metric(static_cast<double>(value), unit, "analytic")
                            : Json{{"value", nullptr}, {"unit", unit}, {"kind", "analytic"}};
  };
  add("launch__occupancy_limit_registers", o.by_registers, "CTAs");
  add("launch__occupancy_limit_shared_mem", o.by_shared, "CTAs");
  add("launch__occupancy_limit_warps", o.by_warps, "CTAs");
  add("launch__occupancy_limit_blocks", o.by_ctas, "CTAs");
  add("launch__occupancy_limit_barriers", o.by_barriers_capped, "CTAs");
}

Json findings_of(const model::Legality& legality) {
  Json findings = Json::array();
  for (const model::Finding& f : legality.findings) {
    findings.push_back(Json{{"rule", f.rule}, {"message", f.message}, {"remedy", f.remedy}});
  }
  return findings;
}

}  // namespace

Json config_json(const model::TileConfig& c) {
  return Json{{"family", model::to_string(c.family)},
              {"bm", c.bm},
              {"bn", c.bn},
              {"bk", c.bk},
              {"tm", c.tm},
              {"tn", c.tn},
              {"wm", c.wm},
              {"wn", c.wn},
              {"stages", c.stages},
              {"copy", model::to_string(c.copy)},
              {"vec", c.vec},
              {"pad_a", c.pad_a},
              {"pad_b", c.pad_b},
              {"swizzle", c.swizzle},
              {"raster", model::to_string(c.raster)},
              {"register_cap", c.register_cap},
              {"min_ctas", model::planned_ctas(c)}};
}

Json problem_json(const model::TileSheet& s, bool assumed) {
  return Json{{"m", s.problem.m},
              {"n", s.problem.n},
              {"k", s.problem.k},
              {"dtype", model::to_string(s.config.dtype)},
              {"layout", model::to_string(s.config.layout)},
              {"alpha", s.problem.alpha},
              {"beta", s.problem.beta},
              {"split_k", s.problem.split_k},
              {"batch", s.problem.batch},
              {"assumed", assumed}};
}

Json sheet_metrics(const model::TileSheet& s) {
  Json metrics = Json::object();
  for (const model::SheetEntry& e : model::sheet_entries(s)) {
    metrics[fmt::format("tilesim__{}", e.key)] = json_metric(e.value, e.unit, "analytic");
  }
  return metrics;
}

std::string check_json(const model::TileSheet& s, const model::GpuSpec& gpu, bool problem_assumed) {
  Json json = json_document("check", gpu);
  json["problem"] = problem_json(s, problem_assumed);
  json["kernel"] = config_json(s.config);
  const model::Waves& w = s.whole.waves;
  json["launch"] = Json{{"grid", Json::array({w.ctas, 1, 1})},
                        {"block", Json::array({s.work.threads, 1, 1})},
                        {"shared_bytes", s.work.shared_bytes},
                        {"registers_per_thread", s.work.registers},
                        {"clock_mhz", s.clock_mhz}};
  Json metrics = Json::object();
  add_limits(metrics, s.residency.occupancy);
  metrics["launch__registers_per_thread"] = json_metric(static_cast<double>(s.work.registers), "registers", "analytic");
  metrics["launch__waves_per_multiprocessor"] = json_metric(w.waves, "waves", "analytic");
  metrics.update(sheet_metrics(s));
  json["result"] = Json{{"verdict", check_verdict(s)},
                        {"metrics", std::move(metrics)},
                        {"occupancy", json_of(s.residency.occupancy)},
                        {"warnings", findings_of(s.legality)},
                        {"notes", s.slips}};
  return json_text(json);
}

std::string occupancy_json(const model::Occupancy& o, const model::OccupancyInput& input, const std::string& kernel,
                           const model::GpuSpec& gpu) {
  Json json = json_document("check", gpu);
  json["problem"] = nullptr;
  json["kernel"] = kernel.empty() ? Json(nullptr) : Json{{"name", kernel}};
  json["launch"] = Json{{"threads", input.threads},
                        {"registers_per_thread", input.registers},
                        {"shared_bytes", input.shared_bytes},
                        {"carveout_kb", o.carveout_kb},
                        {"carveout_assumed", !input.carveout_kb.has_value()}};
  Json metrics = Json::object();
  add_limits(metrics, o);
  json["result"] = Json{{"metrics", std::move(metrics)}, {"occupancy", json_of(o)}};
  return json_text(json);
}

}  // namespace tilesim::reports
