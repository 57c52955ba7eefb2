#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/reports/calibrate_report.h"
#include "tools/reports/gpus_text.h"
#include "tools/reports/text.h"

namespace tilesim::reports {

namespace {

constexpr double kPercent = 100.0;

std::string count_of(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string headline(const CalibrationReport& report) {
  const app::Calibration& c = report.calibration;
  const auto measured = std::count_if(c.numbers.begin(), c.numbers.end(),
                                      [](const app::CalibratedNumber& n) { return n.measured.has_value(); });
  const auto within = std::count_if(c.numbers.begin(), c.numbers.end(),
                                    [](const app::CalibratedNumber& n) { return n.within_spread(); });
  return paragraph(
      "",
      fmt::format("{} of {} numbers measured by {} of {} in {}; in {} of them {} lies within the spread, but for "
                  "rounding (integers by a half, others by {:g} %).",
                  measured, c.numbers.size(), c.rows_used, count_of(c.rows, "row"), count_of(report.runs.size(), "run"),
                  within, report.shipped.id, kPercent * app::CalibratedNumber::kWrittenTo));
}

std::string numbers_text(const CalibrationReport& report, const cli::Palette& palette) {
  Table table({false, true, true, true, false, true, false});
  table.add({"key", report.shipped.id, "measured", "spread", "unit", "difference", ""});
  bool any = false;
  for (const app::CalibratedNumber& n : report.calibration.numbers) {
    if (!n.measured) {
      continue;
    }
    any = true;
    const auto difference = n.difference();
    table.add({n.shipped.key, plain(n.shipped.value), plain(n.measured->value),
               n.measured->spread ? spread_text(*n.measured->spread) : "", n.shipped.unit == "1" ? "" : n.shipped.unit,
               difference ? fmt::format("{:+.1f} %", kPercent * *difference) : "-",
               n.within_spread() ? "" : "outside"});
  }
  return any ? "\n" + table.text(palette) : "";
}

/// Numbers that were kept: those that were measured once by name, with `all` every one by its reason.
std::string kept_text(const CalibrationReport& report, bool all) {
  std::vector<std::string> measured_once;
  std::size_t others = 0;
  std::map<std::string, std::vector<std::string>> keys;  // by reason
  for (const app::CalibratedNumber& n : report.calibration.numbers) {
    if (n.measured) {
      continue;
    }
    if (n.unfit) {
      continue;  // told by itself
    }
    if (n.shipped.confidence == model::Confidence::kMeasured) {
      measured_once.push_back(n.shipped.key);
    } else {
      ++others;
    }
    keys[n.kept_because].push_back(n.shipped.key);
  }
  const std::string text =
      "\n" +
      paragraph("", fmt::format("Kept as in {}: {} from documents, fits and guesses, and {} that no row makes.{}",
                                report.shipped.id, others, count_of(measured_once.size(), "measured number"),
                                all ? "" : " --all says why."));
  if (!all) {
    return text + (measured_once.empty() ? "" : paragraph("  ", fmt::format("{}", fmt::join(measured_once, ", "))));
  }
  std::string reasons;
  for (const auto& [reason, group] : keys) {
    reasons += paragraph("  ", fmt::format("{}: {}", reason, fmt::join(group, ", ")));
  }
  return text + reasons;
}

/// Numbers that rows make but the spec cannot hold.
std::string unfit_text(const CalibrationReport& report, const cli::Palette& palette) {
  std::string lines;
  std::size_t count = 0;
  for (const app::CalibratedNumber& n : report.calibration.numbers) {
    if (n.unfit) {
      ++count;
      lines += paragraph("  ", fmt::format("{}: {}", n.shipped.key, n.kept_because));
    }
  }
  if (count == 0) {
    return "";
  }
  return "\n" +
         palette.warning(fmt::format("{} cannot be what the rows say; kept as in {} (exit code 1)",
                                     count_of(count, "number"), report.shipped.id)) +
         "\n" + lines;
}

/// Which rows a run lacks, by name; numbers that they make rest on the other runs.
std::string lacking_text(const app::LackingRun& run, bool all) {
  constexpr std::size_t kShown = 8;
  std::string text = fmt::format("{} lacks {} that others have", run.file, count_of(run.rows, "row"));
  if (!run.names.empty()) {
    const std::size_t shown = all ? run.names.size() : std::min(run.names.size(), kShown);
    text +=
        fmt::format(", all of {}{}", fmt::join(run.names.begin(), run.names.begin() + static_cast<long>(shown), ", "),
                    shown < run.names.size() ? fmt::format(" and {} more", run.names.size() - shown) : "");
  }
  return paragraph("  ", text + ": their numbers rest on the other runs.");
}

/// The rows whose spreads do not overlap, those furthest apart first.
std::string apart_text(const app::Agreement& agreement, bool all, const cli::Palette& palette) {
  std::vector<const app::RepeatedRow*> apart;
  for (const app::RepeatedRow& row : agreement.rows) {
    if (row.gap > 0.0) {
      apart.push_back(&row);
    }
  }
  if (apart.empty()) {
    return "";
  }
  std::stable_sort(apart.begin(), apart.end(),
                   [](const app::RepeatedRow* a, const app::RepeatedRow* b) { return a->gap > b->gap; });
  constexpr std::size_t kShown = 8;
  const std::size_t shown = all ? apart.size() : std::min(apart.size(), kShown);
  Table table({false, false, true, false, true});
  table.add({shown < apart.size() ? "furthest apart" : "apart", "", "values", "unit", "gap"});
  for (std::size_t i = 0; i < shown; ++i) {
    const app::RepeatedRow& row = *apart[i];
    std::vector<std::string> values;
    for (const double value : row.values) {
      values.push_back(plain(value));
    }
    table.add({row.name, row.param, fmt::format("{}", fmt::join(values, "  ")), row.unit,
               fmt::format("{:.2f} %", kPercent * row.gap)});
  }
  return table.text(palette);
}

std::string agreement_text(const CalibrationReport& report, bool all, const cli::Palette& palette) {
  if (!report.agreement) {
    return "";
  }
  const app::Agreement& agreement = *report.agreement;
  std::string text =
      "\n" +
      paragraph("", fmt::format("{} in several runs: the spreads of {} overlap, of {} they do not; {} in one run "
                                "only.",
                                count_of(agreement.rows.size(), "row"), agreement.overlapping,
                                agreement.rows.size() - agreement.overlapping, agreement.in_one_run));
  for (const app::LackingRun& run : agreement.lacking) {
    text += lacking_text(run, all);
  }
  return text + apart_text(agreement, all, palette);
}

std::string beside_text(const CalibrationReport& report, bool all, const cli::Palette& palette) {
  std::string text;
  for (const BesideRows& beside : report.beside) {
    const std::size_t both = beside.agreement.rows.size();
    text += "\n" +
            paragraph("", fmt::format("{} of {} in {} measured again: the spreads of {} overlap, of {} they do not.",
                                      both, count_of(beside.rows, "row"), beside.file, beside.agreement.overlapping,
                                      both - beside.agreement.overlapping)) +
            apart_text(beside.agreement, all, palette);
  }
  return text;
}

}  // namespace

std::string calibrate_text(const CalibrationReport& report, bool all, const cli::Palette& palette) {
  std::string text = headline(report) + numbers_text(report, palette) + unfit_text(report, palette) +
                     kept_text(report, all) + agreement_text(report, all, palette) + beside_text(report, all, palette);
  if (!report.notes.empty()) {
    text += "\n" + palette.warning("Not everything is as it should be") + "\n";
    for (const std::string& note : report.notes) {
      text += paragraph("  ", note);
    }
  }
  return text;
}

}  // namespace tilesim::reports
