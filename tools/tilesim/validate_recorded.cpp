#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "model/roofline.h"
#include "tools/cli/numbers.h"
#include "tools/cli/parser.h"
#include "tools/cli/progress.h"
#include "tools/lib/recorded_set.h"
#include "tools/reports/validate_report.h"
#include "tools/tilesim/launch_flags.h"
#include "tools/tilesim/validate.h"

namespace tilesim::cli {

namespace {

constexpr double kPercent = 100.0;

/// The parts of a list; empty ones stay, so that they are refused.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// A list of names of which the recordings hold some; an unknown one gets the nearest and the list.
Result<std::vector<std::string>> chosen_names(const Invocation& invocation, const std::string& flag,
                                              const std::vector<traces::Recording>& recordings,
                                              std::string traces::Recording::*field) {
  const auto text = invocation.text(flag);
  if (!text) {
    return std::vector<std::string>{};
  }
  std::vector<std::string> known;
  for (const traces::Recording& r : recordings) {
    if (std::find(known.begin(), known.end(), r.*field) == known.end()) {
      known.push_back(r.*field);
    }
  }
  std::sort(known.begin(), known.end());
  std::vector<std::string> names = parts_of(*text);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return fail(
          ErrorKind::kUsage,
          fmt::format("--{} {}: nothing was recorded of it{}", flag, in_quotes(name), did_you_mean(name, known)),
          fmt::format("recorded are {}", fmt::join(known, ", ")));
    }
  }
  return names;
}

Result<std::vector<app::Shape>> chosen_shapes(const Invocation& invocation) {
  std::vector<app::Shape> shapes;
  const auto text = invocation.text("shapes");
  for (const std::string& part : text ? parts_of(*text) : std::vector<std::string>{}) {
    const auto extents = parse_integers("--shapes", part, 'x', 3, 3, 1, model::kMaxProblemExtent);
    if (!extents) {
      return tl::unexpected<Error>(extents.error());
    }
    shapes.push_back(app::Shape{(*extents)[0], (*extents)[1], (*extents)[2]});
  }
  return shapes;
}

Result<std::optional<traces::Part>> chosen_part(const Invocation& invocation) {
  const auto text = invocation.text("part");
  if (!text) {
    return std::nullopt;
  }
  for (const traces::Part part : {traces::Part::kDevelopment, traces::Part::kLocked}) {
    if (*text == app::to_string(part)) {
      return part;
    }
  }
  return fail(ErrorKind::kUsage, fmt::format("--part {} is unknown", in_quotes(*text)), "use development or locked");
}

Result<std::string> chosen_metric(const Invocation& invocation) {
  std::vector<std::string> known;
  for (const app::TimeMetric& metric : app::time_metrics()) {
    known.emplace_back(metric.name);
  }
  std::string name = invocation.text("metric").value_or(known.front());
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    return fail(ErrorKind::kUsage,
                fmt::format("--metric {} is no time that is compared{}", in_quotes(name), did_you_mean(name, known)),
                fmt::format("use one of {}", fmt::join(known, ", ")));
  }
  return name;
}

Result<app::Gates> gates_from(const Invocation& invocation) {
  constexpr double kMostPercent = 1e6;
  app::Gates gates;
  for (const auto& [flag, field] : {std::pair{"max-mape", &gates.max_mape}, std::pair{"max-worst", &gates.max_worst},
                                    std::pair{"max-regret", &gates.max_regret}}) {
    const auto value = invocation.real(flag, 0.0, kMostPercent);
    if (!value) {
      return tl::unexpected<Error>(value.error());
    }
    if (*value) {
      *field = **value / kPercent;
    }
  }
  const auto tau = invocation.real("min-tau", -1.0, 1.0);
  if (!tau) {
    return tl::unexpected<Error>(tau.error());
  }
  gates.min_tau = *tau;
  return gates;
}

Result<app::ValidationRequest> request_from(const Invocation& invocation) {
  app::ValidationRequest request;
  if (invocation.has("run") != invocation.has("replay")) {
    request.codes = {invocation.has("run") ? app::CodeKind::kEstimated : app::CodeKind::kCompiled};
  }
  auto shapes = chosen_shapes(invocation);
  const auto part = chosen_part(invocation);
  const auto clock = clock_from(invocation);
  for (const Error* error : std::initializer_list<const Error*>{
           shapes ? nullptr : &shapes.error(), part ? nullptr : &part.error(), clock ? nullptr : &clock.error()}) {
    if (error != nullptr) {
      return tl::unexpected<Error>(*error);
    }
  }
  request.shapes = std::move(*shapes);
  request.part = *part;
  request.only = invocation.text("only").value_or("");
  request.clock_mhz = *clock;
  request.effort.detailed = invocation.has("detailed");
  request.effort.brief = invocation.has("brief");
  if (request.effort.detailed && request.effort.brief) {
    return fail(ErrorKind::kUsage, "--brief and --detailed do not go together", "give one of them");
  }
  if (const auto done = read_host_threads(invocation, request.effort.threads); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return request;
}

Result<void> write(const std::optional<Output>& output, const std::string& text) {
  return output ? output->write(text) : Result<void>{};
}

/// Everything to where it goes.
Result<ExitCode> deliver_report(const Setting& setting, const Files& files, const reports::ValidationReport& report,
                                bool all) {
  if (const auto done = write(files.csv, files.csv ? reports::validate_csv(report) : ""); !done) {
    return tl::unexpected<Error>(done.error());
  }
  if (const auto done = write(files.html, files.html ? reports::validate_html(report) : ""); !done) {
    return tl::unexpected<Error>(done.error());
  }
  const bool taken = (files.csv && files.csv->is_standard()) || (files.html && files.html->is_standard());
  const std::string text = taken ? "" : reports::validate_text(report, all, setting.outputs.palette);
  const std::string json = setting.outputs.json ? reports::validate_json(report) : "";
  const auto code = deliver(setting.outputs, text, json);
  if (!code) {
    return code;
  }
  const bool none_simulated = std::all_of(report.summaries.begin(), report.summaries.end(),
                                          [](const app::PartSummary& s) { return s.failed == s.runs; });
  return !report.failed_gates.empty() ? ExitCode::kGateFailed : none_simulated ? ExitCode::kFailed : *code;
}

}  // namespace

Result<Files> files_from(const Invocation& invocation, const Outputs& outputs) {
  auto csv = output_for(invocation, "csv");
  if (!csv) {
    return tl::unexpected<Error>(csv.error());
  }
  auto html = output_for(invocation, "html");
  if (!html) {
    return tl::unexpected<Error>(html.error());
  }
  if (const auto one = check_standard({&outputs.json, &*csv, &*html}); !one) {
    return tl::unexpected<Error>(one.error());
  }
  return Files{std::move(*csv), std::move(*html)};
}

std::vector<Flag> recorded_flags() {
  const std::string group = "Recordings";
  const std::string gates = "Gates, on the locked part: exit code 3 if one fails";
  return {{"recorded", "DIR", "folder of recordings (default: the shipped set)", group, {}, false},
          {"run", "", "predict from generated code, as 'tilesim run' does", group, {}, false},
          {"replay", "", "predict from the recorded machine code (default: both)", group, {}, false},
          {"shapes", "MxNxK,...", "only these problems", group, {}, false},
          {"family", "LIST", "only these families; of a tile its one family: simt, mma", group, {}, false},
          {"dtype", "LIST", "only these types; of a tile its one type: f32, tf32, f16, bf16", group, {}, false},
          {"only", "PATTERN", "only kernels whose names fit, with * and ?: of the development part", group, {}, false},
          {"part", "NAME", "only development or locked", group, {}, false},
          {"metric",
           "NAME",
           "time of rows, orders and gates: sm__cycles_elapsed.max (default), sm__cycles_active.avg, "
           "tilesim__event_median_flushed.ns",
           group,
           {},
           false},
          {"brief", "", "shortest simulations: faster, and a little worse", group, {}, false},
          {"max-mape", "PERCENT", "largest mean absolute error", gates, {}, false},
          {"max-worst", "PERCENT", "largest single error", gates, {}, false},
          {"max-regret", "PERCENT", "largest loss by taking our pick of one shape, type and family", gates, {}, false},
          {"min-tau", "X", "least Kendall tau within one shape, type and family", gates, {}, false},
          {"all", "", "every development run, not the worst only", "Output", {}, false},
          {"csv", "FILE", "one line per development run and metric; '-' is stdout", "Output", {}, false},
          {"html", "FILE", "scatter plot, one file that needs nothing else", "Output", {}, false}};
}

Result<ExitCode> validate_recorded(const Invocation& invocation, const Setting& setting) {
  auto question = recorded_question_from(invocation, setting);
  if (!question) {
    return tl::unexpected<Error>(question.error());
  }
  if (const auto given = invocation.text("recorded")) {
    return validate_folder(invocation, setting, std::move(*question), *given,
                           fmt::format("the recordings in {}", *given));
  }
  const auto shipped = app::shipped_recordings();
  return shipped ? validate_folder(invocation, setting, std::move(*question), *shipped, "the shipped recordings")
                 : tl::unexpected<Error>(shipped.error());
}

Result<RecordedQuestion> recorded_question_from(const Invocation& invocation, const Setting& setting) {
  auto files = files_from(invocation, setting.outputs);
  if (!files) {
    return tl::unexpected<Error>(files.error());
  }
  auto metric = chosen_metric(invocation);
  if (!metric) {
    return tl::unexpected<Error>(metric.error());
  }
  const auto gates = gates_from(invocation);
  if (!gates) {
    return tl::unexpected<Error>(gates.error());
  }
  auto request = request_from(invocation);
  if (!request) {
    return tl::unexpected<Error>(request.error());
  }
  return RecordedQuestion{std::move(*files), std::move(*metric), *gates, std::move(*request)};
}

Result<ExitCode> validate_folder(const Invocation& invocation, const Setting& setting, RecordedQuestion question,
                                 const std::filesystem::path& folder, const std::string& name) {
  const auto recordings = traces::read_recordings(folder);
  if (!recordings) {
    return tl::unexpected<Error>(recordings.error());
  }
  auto families = chosen_names(invocation, "family", *recordings, &traces::Recording::family);
  if (!families) {
    return tl::unexpected<Error>(families.error());
  }
  auto dtypes = chosen_names(invocation, "dtype", *recordings, &traces::Recording::dtype);
  if (!dtypes) {
    return tl::unexpected<Error>(dtypes.error());
  }
  question.request.families = std::move(*families);
  question.request.dtypes = std::move(*dtypes);
  Progress progress;
  question.request.progress = [&progress](std::size_t done, std::size_t total) { progress.update(done, total); };
  const auto rows = app::validate(setting.gpu, *recordings, question.request);
  if (!rows) {
    return tl::unexpected<Error>(rows.error());
  }
  reports::ValidationReport report;
  report.gpu = setting.gpu;
  report.recorded = name;
  report.recorded_gpu = recordings->front().gpu;
  report.metric = question.metric;
  report.brief = question.request.effort.brief;
  report.rows = app::shown_rows(*rows);
  report.summaries = app::summarise(*rows, question.metric);
  report.gated = question.gates.any();
  report.failed_gates = app::failed_gates(report.summaries, question.gates, question.metric);
  return deliver_report(setting, question.files, report, invocation.has("all"));
}

}  // namespace tilesim::cli
