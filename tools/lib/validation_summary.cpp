#include "tools/lib/validation_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace tilesim::app {

namespace {

constexpr double kPercent = 100.0;
constexpr const char* kAll = "all";

std::string extents_text(const ValidationRow& row) {
  return fmt::format("{}x{}x{}", row.shape[0], row.shape[1], row.shape[2]);
}

std::string family_text(const ValidationRow& row) { return row.family + " " + row.dtype; }

/// What one chooses among: one shape, type and family. Kernels without shared memory, many times slower than the
/// others, would only add pairs that nobody gets wrong; they are ranked among themselves.
std::string candidates_text(const ValidationRow& row) {
  return family_text(row) + (row.form == traces::kDirectForm ? " direct " : " ") + extents_text(row);
}

/// The text without the words that hold the name: paths of its files, and the name itself.
std::string without_name(const std::string& text, const std::string& name) {
  if (name.empty()) {
    return text;
  }
  constexpr std::string_view kLeftOut = "...";
  constexpr const char* kEndsWord = " \t\n'\"";
  std::string left = text;
  for (std::size_t at = 0; (at = left.find(name, at)) != std::string::npos;) {
    const std::size_t before = left.find_last_of(kEndsWord, at);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::size_t end = std::min(left.find_first_of(kEndsWord, at + name.size()), left.size());
    left.replace(begin, end - begin, kLeftOut);
    at = begin + kLeftOut.size();
  }
  return left;
}

using Groups = std::map<std::string, std::vector<Sample>>;

void add_scores(const std::vector<const ValidationRow*>& rows, PartSummary& summary) {
  for (const TimeMetric& metric : time_metrics()) {
    Groups groups;
    std::vector<Sample> all;
    for (const ValidationRow* row : rows) {
      if (auto sample = sample_of(*row, metric.name)) {
        groups[family_text(*row)].push_back(*sample);
        all.push_back(std::move(*sample));
      }
    }
    if (auto errors = error_statistics(all)) {
      summary.scores.push_back({kAll, metric.name, std::move(*errors)});
    }
    for (const auto& [group, samples] : groups) {
      if (auto errors = groups.size() > 1 ? error_statistics(samples) : std::nullopt) {
        summary.scores.push_back({group, metric.name, std::move(*errors)});
      }
    }
  }
}

void add_ranks(const std::vector<const ValidationRow*>& rows, const std::string& metric, PartSummary& summary) {
  Groups groups;
  for (const ValidationRow* row : rows) {
    if (auto sample = sample_of(*row, metric)) {
      groups[candidates_text(*row)].push_back(std::move(*sample));
    }
  }
  for (const auto& [group, samples] : groups) {
    if (samples.size() >= kFewestRanked) {
      summary.ranks.push_back({group, samples.size(), kendall_tau(samples), *top1_regret(samples)});
    }
  }
}

void forget_names(PartSummary& summary) {
  for (GroupScore& score : summary.scores) {
    score.errors.worst_name.clear();
  }
  for (RankScore& rank : summary.ranks) {
    rank.regret.pick.clear();
    rank.regret.best.clear();
  }
}

/// A row that could not be simulated, without what tells which one it is.
ValidationRow nameless(const ValidationRow& row) {
  ValidationRow left;
  left.part = row.part;
  left.code = row.code;
  left.failure = Error{row.failure->kind, without_name(row.failure->message, row.name), "", ""};
  return left;
}

PartSummary summary_of(const std::vector<const ValidationRow*>& rows, traces::Part part, CodeKind code,
                       const std::string& metric) {
  PartSummary summary;
  summary.part = part;
  summary.code = code;
  summary.runs = rows.size();
  std::vector<CounterPair> pairs;
  for (const ValidationRow* row : rows) {
    summary.failed += row->failure ? 1 : 0;
    if (!row->failure) {
      pairs.push_back({row->predicted, row->measured});
    }
  }
  add_scores(rows, summary);
  add_ranks(rows, metric, summary);
  summary.counters = counter_scores(pairs);
  summary.waiting = waiting_score(pairs);
  if (part == traces::Part::kLocked) {
    forget_names(summary);
  }
  return summary;
}

/// A summary against the gates; `what` names it.
void judge(const PartSummary& summary, const Gates& gates, const std::string& metric,
           std::vector<std::string>& failures) {
  const std::string what = fmt::format("{} code, {} part", to_string(summary.code), to_string(summary.part));
  if (summary.failed > 0) {
    failures.push_back(fmt::format("{}: {} of {} runs could not be simulated", what, summary.failed, summary.runs));
  }
  const auto score = std::find_if(summary.scores.begin(), summary.scores.end(),
                                  [&metric](const GroupScore& s) { return s.group == kAll && s.metric == metric; });
  if (score == summary.scores.end()) {
    failures.push_back(fmt::format("{}: no run has {} on both sides", what, metric));
    return;
  }
  const auto above = [&](const char* name, const std::string& of, double value, const std::optional<double>& limit) {
    if (limit && !(value <= *limit)) {
      failures.push_back(
          fmt::format("{}: {} of {} is {:.2f} %, over {:g} %", what, name, of, kPercent * value, kPercent * *limit));
    }
  };
  above("MAPE", metric, score->errors.mape, gates.max_mape);
  above("worst error", metric, std::abs(score->errors.worst), gates.max_worst);
  if (summary.ranks.empty() && (gates.max_regret || gates.min_tau)) {
    failures.push_back(
        fmt::format("{}: no shape, type and family with {} configurations to rank", what, kFewestRanked));
  }
  for (const RankScore& rank : summary.ranks) {
    above("top-1 regret", rank.group, rank.regret.value, gates.max_regret);
    if (gates.min_tau && !(rank.tau.value_or(1.0) >= *gates.min_tau)) {
      failures.push_back(
          fmt::format("{}: tau of {} is {:.3f}, under {:g}", what, rank.group, *rank.tau, *gates.min_tau));
    }
  }
}

}  // namespace

const std::vector<TimeMetric>& time_metrics() {
  static const std::vector<TimeMetric> all{{"sm__cycles_elapsed.max", "kernel, launch included, caches flushed"},
                                           {"sm__cycles_active.avg", "SM model: mean over all SMs, caches flushed"},
                                           {kEventFlushed, "CUDA-event median, caches flushed"}};
  return all;
}

std::string shape_text(const ValidationRow& row) {
  return extents_text(row) + (row.split_k == 1 ? "" : fmt::format(" split-K {}", row.split_k));
}

std::optional<Sample> sample_of(const ValidationRow& row, const std::string& metric) {
  const auto predicted = row.predicted.find(metric);
  const auto measured = row.measured.find(metric);
  if (predicted == row.predicted.end() || measured == row.measured.end() || !(predicted->second > 0.0) ||
      !(measured->second > 0.0)) {
    return std::nullopt;
  }
  return Sample{row.name + " " + shape_text(row), predicted->second, measured->second};
}

std::vector<ValidationRow> shown_rows(const std::vector<ValidationRow>& rows) {
  std::vector<ValidationRow> shown;
  for (const ValidationRow& row : rows) {
    if (row.part == traces::Part::kDevelopment) {
      shown.push_back(row);
    } else if (row.failure) {
      shown.push_back(nameless(row));
    }
  }
  return shown;
}

std::vector<PartSummary> summarise(const std::vector<ValidationRow>& rows, const std::string& metric) {
  std::vector<PartSummary> summaries;
  for (const CodeKind code : {CodeKind::kEstimated, CodeKind::kCompiled}) {
    for (const traces::Part part : {traces::Part::kDevelopment, traces::Part::kLocked}) {
      std::vector<const ValidationRow*> members;
      for (const ValidationRow& row : rows) {
        if (row.code == code && row.part == part) {
          members.push_back(&row);
        }
      }
      if (!members.empty()) {
        summaries.push_back(summary_of(members, part, code, metric));
      }
    }
  }
  return summaries;
}

std::vector<std::string> failed_gates(const std::vector<PartSummary>& summaries, const Gates& gates,
                                      const std::string& metric) {
  std::vector<std::string> failures;
  if (!gates.any()) {
    return failures;
  }
  const bool has_locked = std::any_of(summaries.begin(), summaries.end(),
                                      [](const PartSummary& s) { return s.part == traces::Part::kLocked; });
  for (const PartSummary& summary : summaries) {
    if (!has_locked || summary.part == traces::Part::kLocked) {
      judge(summary, gates, metric, failures);
    }
  }
  return failures;
}

}  // namespace tilesim::app
