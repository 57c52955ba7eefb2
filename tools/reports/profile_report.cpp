#include "tools/reports/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "model/counted.h"
#include "tools/reports/error_text.h"
#include "tools/reports/replay_json.h"
#include "tools/reports/text.h"

namespace tilesim::reports {

namespace {

constexpr std::size_t kName = 70;
constexpr std::size_t kLaunches = 20;  // on one screen

std::string extents_text(const std::optional<isa::Dim3>& d) {
  return d ? fmt::format("{}x{}x{}", d->x, d->y, d->z) : std::string("-");
}

Json extents_json(const std::optional<isa::Dim3>& d) { return d ? Json::array({d->x, d->y, d->z}) : Json(nullptr); }

std::string launch_name(const traces::ProfiledLaunch& launch) {
  return launch.kernel.empty() ? "(no name)" : launch.kernel;
}

Json launch_json(const traces::ProfiledLaunch& launch) {
  return Json{{"launch", launch.id},
              {"kernel", launch.kernel},
              {"grid", extents_json(launch.grid)},
              {"block", extents_json(launch.block)}};
}

Json metrics_json(const traces::ProfiledLaunch& launch) {
  Json metrics = Json::object();
  for (const auto& [name, metric] : launch.metrics) {
    metrics[name] = json_metric(metric.value, metric.unit, "measured");
  }
  return metrics;
}

}  // namespace

std::string profile_text(const traces::NcuProfile& profile, bool all, const cli::Palette& palette) {
  std::string text = fmt::format("A profile of Nsight Compute ({}): {} {}.\n\n", to_string(profile.form),
                                 profile.launches.size(), profile.launches.size() == 1 ? "launch" : "launches");
  Table table({true, false, true, true, true});
  table.add({"launch", "kernel", "grid", "block", "metrics"});
  const std::size_t shown = all ? profile.launches.size() : std::min(kLaunches, profile.launches.size());
  for (const traces::ProfiledLaunch& launch : std::span(profile.launches).first(shown)) {
    table.add({launch.id, shorten(launch_name(launch), kName), extents_text(launch.grid), extents_text(launch.block),
               fmt::format("{}", launch.metrics.size())});
  }
  text += table.text(palette);
  if (shown < profile.launches.size()) {
    text += fmt::format("  and {} more; --all lists them\n", profile.launches.size() - shown);
  }
  if (profile.without_number + profile.unknown_labels > 0) {
    text += fmt::format("  left out: {} without a number, {} with a label that is not known\n", profile.without_number,
                        profile.unknown_labels);
  }
  for (const traces::ProfiledLaunch& launch : profile.launches) {
    if (!all) {
      break;
    }
    text += fmt::format("\n{}\n", palette.bold(fmt::format("Launch {}: {}", launch.id, launch_name(launch))));
    Table metrics({false, true, false});
    metrics.add({"metric", "value", "unit"});
    for (const auto& [name, metric] : launch.metrics) {
      metrics.add({name, plain(metric.value, 10), metric.unit});
    }
    text += metrics.text(palette);
  }
  return text + "\n" +
         paragraph("",
                   "To compare, name the code and its arguments (--cubin FILE or --sass FILE with --args LIST; grid, "
                   "block, shared memory and clock come from the profile), or a tile (--tile ... --m --n --k).");
}

std::string profile_json(const traces::NcuProfile& profile) {
  Json json = json_envelope("validate");
  Json& result = json["result"] = Json::object();
  result["form"] = to_string(profile.form);
  result["rows_without_number"] = profile.without_number;
  result["rows_with_unknown_label"] = profile.unknown_labels;
  Json& launches = result["launches"] = Json::array();
  for (const traces::ProfiledLaunch& launch : profile.launches) {
    Json one = launch_json(launch);
    one["metrics"] = metrics_json(launch);
    launches.push_back(std::move(one));
  }
  return json_text(json);
}

std::string comparison_text(const app::KernelResult& predicted, const traces::ProfiledLaunch& measured,
                            const app::ProfileComparison& comparison, bool all, const cli::Palette& palette) {
  std::string text = paragraph("", fmt::format("{} ({} code) on {} at {} MHz, against launch {} of the profile: {}.",
                                               predicted.kernel, predicted.code, predicted.gpu.id,
                                               plain(predicted.clock_mhz, 5), measured.id, launch_name(measured)));
  for (const std::string& warning : comparison.warnings) {
    text += palette.warning("warning:") + " " + warning + "\n";
  }
  text += "\n";
  Table table({false, true, true, false, true});
  table.add({"metric", "predicted", "measured", "", "error"});
  for (const app::ComparedMetric& m : comparison.metrics) {
    table.add({m.name, plain(m.predicted, 9), plain(m.measured, 9), m.unit,
               m.error ? error_text(m.scale, *m.error) : std::string("-")});
  }
  text += table.text(palette);
  if (!comparison.largest_wait_measured.empty()) {
    text += fmt::format("Largest waiting state: {} predicted, {} measured.\n", comparison.largest_wait_predicted,
                        comparison.largest_wait_measured);
  }
  text += fmt::format("Of the profile {} {} not predicted{}.\n",
                      counted(static_cast<std::int64_t>(comparison.not_predicted.size()), "metric"),
                      comparison.not_predicted.size() == 1 ? "is" : "are",
                      all || comparison.not_predicted.empty() ? "" : "; --all names them");
  for (const std::string& name : comparison.not_predicted) {
    text += all ? "  " + name + "\n" : std::string();
  }
  return text;
}

std::string comparison_json(const app::KernelResult& predicted, const traces::ProfiledLaunch& measured,
                            const app::ProfileComparison& comparison) {
  Json json = kernel_document("validate", predicted);
  Json& profile = json["profile"] = launch_json(measured);
  profile["metrics"] = metrics_json(measured);
  Json& rows = json["comparison"] = Json::array();
  for (const app::ComparedMetric& m : comparison.metrics) {
    rows.push_back(Json{{"metric", m.name},
                        {"unit", m.unit},
                        {"predicted", m.predicted},
                        {"measured", m.measured},
                        {"error", m.error ? Json(*m.error) : Json(nullptr)},
                        {"error_unit", error_unit(m.scale)}});
  }
  json["not_predicted"] = comparison.not_predicted;
  json["warnings"] = comparison.warnings;
  return json_text(json);
}

std::string comparison_csv(const app::ProfileComparison& comparison) {
  std::string text = "metric,unit,predicted,measured,error,error_unit\n";
  for (const app::ComparedMetric& m : comparison.metrics) {
    text += fmt::format("{},{},{},{},{},{}\n", csv_field(m.name), csv_field(m.unit), m.predicted, m.measured,
                        m.error ? fmt::format("{}", *m.error) : std::string(), error_unit(m.scale));
  }
  return text;
}

}  // namespace tilesim::reports
