#include "tools/lib/measured_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "traces/profile/csv_records.h"
#include "traces/trace/text_stream.h"

namespace tilesim::app {

namespace {

constexpr const char* kHeading = "name,param,value,unit,spread";

std::optional<double> number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

tl::unexpected<Error> wrong(const std::string& what, const std::string& remedy, const std::string& file,
                            std::size_t line) {
  return fail(ErrorKind::kUsage, what, remedy, fmt::format("{}:{}", file, line));
}

/// `least..most`; nothing for a note. The ends are rounded like the value, so they may miss it by that.
Result<std::optional<model::Spread>> parse_spread(const std::string& text, double value, const std::string& file,
                                                  std::size_t line) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    return std::nullopt;
  }
  const auto least = number(std::string_view(text).substr(0, dots));
  const auto most = number(std::string_view(text).substr(dots + 2));
  if (!least || !most) {
    return wrong(fmt::format("spread \"{}\" is not of the form LEAST..MOST", text),
                 "write two numbers, or leave the field empty", file, line);
  }
  constexpr double kRounding = 1e-3;
  const double slack = kRounding * std::abs(value);
  if (*least > value + slack || *most < value - slack) {
    return wrong(fmt::format("the spread {} does not hold the value {}", text, value),
                 "give the smallest and the largest of the repeats", file, line);
  }
  return model::Spread{std::min(*least, value), std::max(*most, value)};
}

Result<MeasuredRow> parse_row(const traces::CsvRecord& record, const std::string& file) {
  constexpr std::size_t kFields = 5;
  if (record.fields.size() != kFields) {
    return wrong(fmt::format("{} fields in place of {}", record.fields.size(), kFields),
                 fmt::format("write rows {}, fields that hold a comma in quotes", kHeading), file, record.line);
  }
  MeasuredRow row{record.fields[0], record.fields[1], record.fields[3], 0.0, std::nullopt, record.line};
  if (row.name.empty() || row.unit.empty()) {
    return wrong(fmt::format("a row without {}", row.name.empty() ? "name" : "unit"),
                 fmt::format("write rows {}", kHeading), file, record.line);
  }
  const auto value = number(record.fields[2]);
  if (!value) {
    return wrong(fmt::format("value \"{}\" of {} is not a number", record.fields[2], row.name),
                 "write a finite number with a decimal point", file, record.line);
  }
  row.value = *value;
  const auto spread = parse_spread(record.fields[4], *value, file, record.line);
  if (!spread) {
    return tl::unexpected<Error>(spread.error());
  }
  row.spread = *spread;
  return row;
}

/// What the two repeats that are furthest apart say, if their spreads do not overlap. Without spreads they are single
/// measurements, which differ.
std::optional<std::string> contradiction(const std::vector<MeasuredRow>& repeats, const std::string& file) {
  if (!std::all_of(repeats.begin(), repeats.end(), [](const MeasuredRow& row) { return row.spread.has_value(); })) {
    return std::nullopt;
  }
  const auto high = std::max_element(repeats.begin(), repeats.end(), [](const MeasuredRow& a, const MeasuredRow& b) {
    return spread_of(a).least < spread_of(b).least;
  });
  const auto low = std::min_element(repeats.begin(), repeats.end(), [](const MeasuredRow& a, const MeasuredRow& b) {
    return spread_of(a).most < spread_of(b).most;
  });
  const model::Spread above = spread_of(*high);
  const model::Spread below = spread_of(*low);
  if (above.least <= below.most) {
    return std::nullopt;
  }
  return fmt::format("{}: {}, {} is {} ({}..{}) in line {} and {} ({}..{}) in line {}: their median is taken", file,
                     low->name, low->param, low->value, below.least, below.most, low->line, high->value, above.least,
                     above.most, high->line);
}

/// Rows of the same name and param as one, where the first of them stands.
MeasuredRow merged(const std::vector<MeasuredRow>& repeats) {
  MeasuredRow row = repeats.front();
  std::vector<double> values;
  for (const MeasuredRow& repeat : repeats) {
    values.push_back(repeat.value);
    const model::Spread own = spread_of(repeat);
    if (repeats.size() > 1) {
      const model::Spread all = spread_of(row);
      row.spread = model::Spread{std::min(all.least, own.least), std::max(all.most, own.most)};
    }
  }
  row.value = median_of(std::move(values));
  return row;
}

}  // namespace

model::Spread spread_of(const MeasuredRow& row) { return row.spread.value_or(model::Spread{row.value, row.value}); }

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
}

Result<MeasuredRun> parse_measured_rows(std::string_view text, const std::string& file) {
  traces::CsvRecords records(text, ',');
  traces::CsvRecord record;
  if (!records.next(record) || fmt::format("{}", fmt::join(record.fields, ",")) != kHeading) {
    return wrong("no rows of microbenchmarks", fmt::format("the first line has to be {}", kHeading), file, 1);
  }
  std::vector<std::vector<MeasuredRow>> groups;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  while (records.next(record)) {
    if (record.fields.size() == 1 && record.fields[0].empty()) {
      continue;
    }
    auto row = parse_row(record, file);
    if (!row) {
      return tl::unexpected<Error>(row.error());
    }
    const auto [place, fresh] = places.try_emplace({row->name, row->param}, groups.size());
    if (fresh) {
      groups.emplace_back();
    }
    std::vector<MeasuredRow>& group = groups[place->second];
    if (!group.empty() && group.front().unit != row->unit) {
      return wrong(fmt::format("{}, {} is in {} here and in {} in line {}", row->name, row->param, row->unit,
                               group.front().unit, group.front().line),
                   "give rows of one name and param one unit", file, row->line);
    }
    group.push_back(std::move(*row));
  }
  if (groups.empty()) {
    return wrong("no row below the heading", "give a file that 'kernels/microbench/run.sh measure' wrote", file, 1);
  }
  MeasuredRun run{file, {}, {}};
  for (const auto& group : groups) {
    run.rows.push_back(merged(group));
    if (auto told = contradiction(group, file)) {
      run.contradictions.push_back(std::move(*told));
    }
  }
  return run;
}

Result<MeasuredRun> read_measured_rows(const std::filesystem::path& path) {
  constexpr std::size_t kLongestFile = std::size_t{64} << 20;
  const auto text = traces::TextSource::read_all(path, kLongestFile);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  return parse_measured_rows(*text, path.string());
}

}  // namespace tilesim::app
