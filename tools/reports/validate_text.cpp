#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/counted.h"
#include "tools/reports/error_text.h"
#include "tools/reports/text.h"
#include "tools/reports/validate_report.h"

namespace tilesim::reports {

namespace {

constexpr std::size_t kWorstRows = 5;
constexpr double kPercent = 100.0;

std::string signed_percent(double fraction) { return fmt::format("{:+.1f} %", kPercent * fraction); }

std::string share_text(double fraction) { return fmt::format("{:.1f} %", kPercent * fraction); }

std::string coefficient(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : std::string("-");
}

std::string runs_text(std::size_t count) { return counted(static_cast<std::int64_t>(count), "run"); }

std::string scores_text(const app::PartSummary& s, const ValidationReport& report, const cli::Palette& palette) {
  const bool named = s.part == traces::Part::kDevelopment;
  Table table({false, false, true, true, true, true, true, true, false});
  table.add({"runs", "of", "", "MAPE", "median", "worst", "bias", "Pearson", named ? "the worst" : ""});
  for (const app::GroupScore& score : s.scores) {
    if (score.metric == report.metric || score.group == "all") {
      const app::ErrorStatistics& e = score.errors;
      table.add({score.group, score.metric, fmt::format("{}", e.count), share_text(e.mape), share_text(e.median),
                 signed_percent(e.worst), signed_percent(e.bias), coefficient(e.pearson), e.worst_name});
    }
  }
  return table.text(palette);
}

std::string ranks_text(const app::PartSummary& s, const cli::Palette& palette) {
  if (s.ranks.empty()) {
    return paragraph(
        "  ", fmt::format("Order: no shape, type and family with at least {} configurations.", app::kFewestRanked));
  }
  const bool named = s.part == traces::Part::kDevelopment;
  Table table({false, true, true, true, false});
  table.add({"order of configurations", "", "tau", "regret", named ? "our pick" : ""});
  for (const app::RankScore& rank : s.ranks) {
    table.add({rank.group, fmt::format("{}", rank.count), coefficient(rank.tau), share_text(rank.regret.value),
               rank.regret.pick == rank.regret.best ? rank.regret.pick
                                                    : fmt::format("{} (best {})", rank.regret.pick, rank.regret.best)});
  }
  return table.text(palette);
}

std::string counters_text(const app::PartSummary& s, const cli::Palette& palette) {
  Table table({false, true, true, true, true, true, false});
  table.add({"counter", "runs", "exact", "mean error", "bias", "worst", ""});
  for (const app::CounterScore& c : s.counters) {
    table.add({c.counter, fmt::format("{}", c.count), fmt::format("{}", c.exact), size_text(c.scale, c.mean),
               error_text(c.scale, c.bias), error_text(c.scale, c.worst), c.condition});
  }
  std::string text = s.counters.empty() ? "" : table.text(palette);
  if (s.waiting) {
    text += paragraph(
        "  ", fmt::format("Largest waiting state right in {} of {}; a state's share of all waiting off by "
                          "up to {:.1f} points, {:.1f} in the mean.",
                          s.waiting->largest_right, s.waiting->count, s.waiting->worst_points, s.waiting->mean_points));
  }
  return text;
}

struct RowError {
  const app::ValidationRow* row = nullptr;
  app::Sample time;
  double error = 0.0;
};

/// Development rows of a kind of code with the chosen time on both sides, in their order.
std::vector<RowError> development_rows(const ValidationReport& report, app::CodeKind code) {
  std::vector<RowError> rows;
  for (const app::ValidationRow& row : report.rows) {
    const auto time = app::sample_of(row, report.metric);
    if (time && row.code == code && row.part == traces::Part::kDevelopment) {
      rows.push_back({&row, *time, app::relative_error(time->predicted, time->measured)});
    }
  }
  return rows;
}

std::string rows_text(const ValidationReport& report, app::CodeKind code, bool all, const cli::Palette& palette) {
  std::vector<RowError> rows = development_rows(report, code);
  if (rows.empty()) {
    return "";
  }
  if (!all) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const RowError& a, const RowError& b) { return std::abs(a.error) > std::abs(b.error); });
    rows.resize(std::min(rows.size(), kWorstRows));
  }
  Table table({false, false, true, true, true, true});
  table.add({all ? "run" : "worst runs", "", "predicted", "measured", "spread", "error"});
  for (const RowError& r : rows) {
    const auto spread = r.row->spread.find(report.metric);
    table.add({r.row->name, app::shape_text(*r.row), fmt::format("{:.0f}", r.time.predicted),
               fmt::format("{:.0f}", r.time.measured), spread == r.row->spread.end() ? "-" : share_text(spread->second),
               signed_percent(r.error)});
  }
  return table.text(palette);
}

std::string failures_text(const ValidationReport& report, const cli::Palette& palette) {
  constexpr std::size_t kShown = 5;
  std::string text;
  std::size_t failures = 0;
  for (const app::ValidationRow& row : report.rows) {
    if (row.failure && ++failures <= kShown) {
      const bool named = row.part == traces::Part::kDevelopment;
      text += paragraph(
          "  ", fmt::format("{} ({} code): {}{}", named ? row.name + " " + app::shape_text(row) : "a locked run",
                            to_string(row.code), row.failure->where.empty() ? "" : row.failure->where + ": ",
                            row.failure->message));
    }
  }
  if (failures == 0) {
    return "";
  }
  if (failures > kShown) {
    text += fmt::format("  and {} more; --json has them\n", failures - kShown);
  }
  return "\n" + palette.warning(fmt::format("{} could not be simulated", runs_text(failures))) + "\n" + text;
}

std::string gates_text(const ValidationReport& report, const cli::Palette& palette) {
  if (!report.gated) {
    return "";
  }
  if (report.failed_gates.empty()) {
    return "\nAll gates pass.\n";
  }
  std::string text = "\n" + palette.error("Gates failed") + "\n";
  for (const std::string& failure : report.failed_gates) {
    text += paragraph("  ", failure);
  }
  return text;
}

std::string metric_text(const std::string& metric) {
  for (const app::TimeMetric& known : app::time_metrics()) {
    if (known.name == metric) {
      return fmt::format("{} ({})", metric, known.label);
    }
  }
  return metric;
}

}  // namespace

std::string validate_text(const ValidationReport& report, bool all, const cli::Palette& palette) {
  std::string text = paragraph(
      "",
      fmt::format("Predictions for {} against {} on {}. Orders, rows and gates are about {}; errors are predicted / "
                  "measured - 1.{}",
                  report.gpu.id, report.recorded, report.recorded_gpu, metric_text(report.metric),
                  report.brief ? " Brief simulations: shorter runs than run and replay make." : ""));
  for (const app::PartSummary& s : report.summaries) {
    text +=
        "\n" +
        palette.bold(fmt::format("{} code, {} part", s.code == app::CodeKind::kEstimated ? "Estimated" : "Compiled",
                                 app::to_string(s.part))) +
        fmt::format(": {}{}{}\n", runs_text(s.runs), s.failed > 0 ? fmt::format(", {} not simulated", s.failed) : "",
                    s.part == traces::Part::kLocked ? "; totals only" : "");
    text += scores_text(s, report, palette) + ranks_text(s, palette) + counters_text(s, palette);
    if (s.part == traces::Part::kDevelopment) {
      text += rows_text(report, s.code, all, palette);
    }
  }
  return text + failures_text(report, palette) + gates_text(report, palette);
}

}  // namespace tilesim::reports
