#include "tools/lib/calibration.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

namespace tilesim::app {

namespace {

struct Reduced {
  double value = 0.0;
  model::Spread spread;
};

std::string place_of(const MeasuredRun& run, const MeasuredRow& row) {
  return fmt::format("{}:{}", run.file, row.line);
}

std::vector<const MeasuredRow*> rows_for(const SpecRule& rule, const MeasuredRun& run) {
  std::vector<const MeasuredRow*> rows;
  for (const MeasuredRow& row : run.rows) {
    if (row.name == rule.row_name && ::fnmatch(rule.row_param.c_str(), row.param.c_str(), 0) == 0) {
      rows.push_back(&row);
    }
  }
  return rows;
}

/// "cycles" measures "cycles" and "cycles per load"; with a scale the table answers for the unit.
bool unit_fits(const SpecRule& rule, const std::string& unit, const std::string& row_unit) {
  return rule.scale != 1.0 || row_unit == unit || row_unit.starts_with(unit + " ");
}

Result<void> check_units(const SpecRule& rule, const std::string& unit, const MeasuredRun& run,
                         const std::vector<const MeasuredRow*>& rows) {
  for (const MeasuredRow* row : rows) {
    if (row->unit != rows.front()->unit) {
      return fail(ErrorKind::kUsage,
                  fmt::format("{}: row {}, {} is in {}, that of line {} in {}", rule.key, row->name, row->param,
                              row->unit, rows.front()->line, rows.front()->unit),
                  "give all rows of a number one unit", place_of(run, *row));
    }
    if (!unit_fits(rule, unit, row->unit)) {
      return fail(ErrorKind::kUsage,
                  fmt::format("{} is in {}, row {}, {} in {}", rule.key, unit, row->name, row->param, row->unit),
                  "measure in the unit of the spec, or give the scale in spec_rows.csv", place_of(run, *row));
    }
  }
  return {};
}

/// The first number of a text.
std::optional<double> number_in(const std::string& text) {
  const auto digit = std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (digit == text.end()) {
    return std::nullopt;
  }
  return std::strtod(text.c_str() + (digit - text.begin()), nullptr);
}

Result<Reduced> line_through(const SpecRule& rule, const MeasuredRun& run,
                             const std::vector<const MeasuredRow*>& rows) {
  double n = 0.0;
  double sx = 0.0;
  double sy = 0.0;
  double sxx = 0.0;
  double sxy = 0.0;
  std::vector<std::pair<double, const MeasuredRow*>> points;
  for (const MeasuredRow* row : rows) {
    const auto x = number_in(row->param);
    if (!x) {
      return fail(ErrorKind::kUsage, fmt::format("{}: no number in the param \"{}\"", rule.key, row->param),
                  "write the number that the value grows with into the param", place_of(run, *row));
    }
    points.emplace_back(*x, row);
    n += 1.0;
    sx += *x;
    sy += row->value;
    sxx += *x * *x;
    sxy += *x * row->value;
  }
  const double determinant = n * sxx - sx * sx;
  if (!(determinant > 0.0)) {
    return fail(ErrorKind::kUsage, fmt::format("{}: a line needs rows with two different numbers", rule.key),
                "measure at a second place", place_of(run, *rows.front()));
  }
  const double slope = (n * sxy - sx * sy) / determinant;
  const double intercept = (sy - slope * sx) / n;
  double below = 0.0;
  double above = 0.0;
  double reach = 0.0;
  for (const auto& [x, row] : points) {
    below = std::min(below, spread_of(*row).least - intercept - slope * x);
    above = std::max(above, spread_of(*row).most - intercept - slope * x);
    reach = std::max(reach, std::abs(x - sx / n));
  }
  if (rule.reduction == Reduction::kIntercept) {
    return Reduced{intercept, {intercept + below, intercept + above}};
  }
  return Reduced{slope, {slope + below / reach, slope + above / reach}};
}

Result<Reduced> reduce(const SpecRule& rule, const MeasuredRun& run, const std::vector<const MeasuredRow*>& rows) {
  if (rule.reduction == Reduction::kSlope || rule.reduction == Reduction::kIntercept) {
    return line_through(rule, run, rows);
  }
  const auto by_value = [](const MeasuredRow* a, const MeasuredRow* b) { return a->value < b->value; };
  const MeasuredRow& lowest = **std::min_element(rows.begin(), rows.end(), by_value);
  const MeasuredRow& highest = **std::max_element(rows.begin(), rows.end(), by_value);
  std::vector<double> values;
  model::Spread all = spread_of(lowest);
  double sum = 0.0;
  for (const MeasuredRow* row : rows) {
    values.push_back(row->value);
    sum += row->value;
    all = {std::min(all.least, spread_of(*row).least), std::max(all.most, spread_of(*row).most)};
  }
  switch (rule.reduction) {
    case Reduction::kLeast:
      return Reduced{lowest.value, spread_of(lowest)};
    case Reduction::kMost:
      return Reduced{highest.value, spread_of(highest)};
    case Reduction::kHalfRange:
      return Reduced{(highest.value - lowest.value) / 2.0,
                     {std::max(0.0, (spread_of(highest).least - spread_of(lowest).most) / 2.0),
                      (spread_of(highest).most - spread_of(lowest).least) / 2.0}};
    case Reduction::kMean:
      return Reduced{sum / static_cast<double>(rows.size()), all};
    case Reduction::kValue:
      if (rows.size() > 1) {
        return fail(ErrorKind::kUsage,
                    fmt::format("{}: {} rows fit {}, {}", rule.key, rows.size(), rule.row_name, rule.row_param),
                    "name one row in spec_rows.csv, or another reduction than value", place_of(run, *rows[1]));
      }
      break;
    case Reduction::kMedian:
    case Reduction::kSlope:
    case Reduction::kIntercept:
      break;
  }
  return Reduced{median_of(std::move(values)), all};
}

Reduced scaled(Reduced r, double scale) {
  r.value *= scale;
  r.spread = {r.spread.least * scale, r.spread.most * scale};
  if (scale < 0.0) {
    std::swap(r.spread.least, r.spread.most);
  }
  return r;
}

bool needs_several(Reduction reduction) {
  return reduction == Reduction::kSlope || reduction == Reduction::kIntercept || reduction == Reduction::kHalfRange;
}

/// The number of a rule over all runs; nothing if none has its rows, all that it takes.
Result<std::optional<model::Provenance>> measure(const SpecRule& rule, const std::string& unit,
                                                 const std::vector<MeasuredRun>& runs) {
  std::vector<double> values;
  model::Spread all;
  for (const MeasuredRun& run : runs) {
    const auto rows = rows_for(rule, run);
    if (rows.empty() || (needs_several(rule.reduction) && rows.size() < 2)) {
      continue;
    }
    if (const auto fine = check_units(rule, unit, run, rows); !fine) {
      return tl::unexpected<Error>(fine.error());
    }
    const auto reduced = reduce(rule, run, rows);
    if (!reduced) {
      return tl::unexpected<Error>(reduced.error());
    }
    const Reduced own = scaled(*reduced, rule.scale);
    all = values.empty() ? own.spread
                         : model::Spread{std::min(all.least, own.spread.least), std::max(all.most, own.spread.most)};
    values.push_back(own.value);
  }
  if (values.empty()) {
    return std::nullopt;
  }
  return model::Provenance{rule.key,
                           unit,
                           fmt::format("tilesim calibrate, {}: {}", rule.row_name, rule.row_param),
                           model::Confidence::kMeasured,
                           median_of(std::move(values)),
                           all};
}

std::string reason_to_keep(const CalibrationTable& table, const SpecRule* rule, const model::Provenance& shipped) {
  if (rule != nullptr) {
    return fmt::format("no row {}, {}{}", rule->row_name, rule->row_param,
                       needs_several(rule->reduction) ? ", or only one of those that it takes" : "");
  }
  const auto reason = table.not_remade.find(shipped.key);
  return reason != table.not_remade.end() ? reason->second
                                          : fmt::format("{}, not measured", to_string(shipped.confidence));
}

std::size_t rows_used(const CalibrationTable& table, const std::vector<MeasuredRun>& runs) {
  std::size_t used = 0;
  for (const MeasuredRun& run : runs) {
    std::vector<const MeasuredRow*> rows;
    for (const SpecRule& rule : table.rules) {
      for (const MeasuredRow* row : rows_for(rule, run)) {
        rows.push_back(row);
      }
    }
    std::sort(rows.begin(), rows.end());
    used += static_cast<std::size_t>(std::unique(rows.begin(), rows.end()) - rows.begin());
  }
  return used;
}

/// The spec with one number set, if it can hold it.
Result<model::GpuSpec> with_number(model::GpuSpec spec, const model::Provenance& number) {
  if (const auto set = model::set_gpu_number(spec, number); !set) {
    return tl::unexpected<Error>(set.error());
  }
  // Reading it checks the rules between numbers and rounds integers.
  return model::parse_gpu_spec(model::gpu_spec_text(spec), "the measured spec");
}

/// Puts every measured number into the spec, then those again that only fit beside one that came later; what never fits
/// is kept as shipped.
void fill(Calibration& result) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < result.numbers.size(); ++i) {
    if (result.numbers[i].measured) {
      open.push_back(i);
    }
  }
  bool more = true;
  while (more) {
    more = false;
    std::vector<std::size_t> refused;
    for (const std::size_t i : open) {
      CalibratedNumber& number = result.numbers[i];
      auto next = with_number(result.spec, *number.measured);
      if (next) {
        result.spec = std::move(*next);
        more = true;
      } else {
        number.kept_because = fmt::format("the rows do not fit: {}", next.error().message);
        refused.push_back(i);
      }
    }
    open = std::move(refused);
  }
  for (const std::size_t i : open) {
    result.numbers[i].measured.reset();
    result.numbers[i].unfit = true;
  }
  for (std::size_t i = 0; i < result.numbers.size(); ++i) {
    CalibratedNumber& number = result.numbers[i];
    if (number.measured) {
      number.measured = result.spec.provenance[i];
      number.kept_because.clear();
    }
  }
}

std::vector<LackingRun> lacking_runs(const std::vector<MeasuredRun>& runs) {
  std::set<std::pair<std::string, std::string>> all;
  for (const MeasuredRun& run : runs) {
    for (const MeasuredRow& row : run.rows) {
      all.emplace(row.name, row.param);
    }
  }
  std::vector<LackingRun> lacking;
  for (const MeasuredRun& run : runs) {
    std::set<std::string> own;
    for (const MeasuredRow& row : run.rows) {
      own.insert(row.name);
    }
    LackingRun here{run.file, all.size() - run.rows.size(), {}};
    for (const auto& [name, param] : all) {
      if (!own.contains(name) && (here.names.empty() || here.names.back() != name)) {
        here.names.push_back(name);
      }
    }
    if (here.rows > 0) {
      lacking.push_back(std::move(here));
    }
  }
  return lacking;
}

}  // namespace

std::optional<double> CalibratedNumber::difference() const {
  return measured && shipped.value != 0.0 ? std::optional(measured->value / shipped.value - 1.0) : std::nullopt;
}

bool CalibratedNumber::within_spread() const {
  if (!measured || !measured->spread) {
    return false;
  }
  constexpr double kHalf = 0.5;
  const double rounding =
      std::max(model::is_integer_key(shipped.key) ? kHalf : 0.0, kWrittenTo * std::abs(shipped.value));
  const model::Spread own = shipped.spread.value_or(model::Spread{shipped.value, shipped.value});
  return measured->spread->least - rounding <= own.most && own.least <= measured->spread->most + rounding;
}

Result<Calibration> calibrate(const model::GpuSpec& shipped, const CalibrationTable& table,
                              const std::vector<MeasuredRun>& runs, const std::string& id) {
  Calibration result;
  result.spec = shipped;
  result.spec.id = id;
  result.spec.note =
      fmt::format("Measured by tilesim calibrate; numbers that no row makes are those of {}.", shipped.id);
  for (const MeasuredRun& run : runs) {
    result.rows += run.rows.size();
  }
  result.rows_used = rows_used(table, runs);
  for (const model::Provenance& own : shipped.provenance) {
    const auto rule =
        std::find_if(table.rules.begin(), table.rules.end(), [&own](const SpecRule& r) { return r.key == own.key; });
    CalibratedNumber number{own, std::nullopt, "", false};
    if (rule != table.rules.end()) {
      auto measured = measure(*rule, own.unit, runs);
      if (!measured) {
        return tl::unexpected<Error>(measured.error());
      }
      number.measured = std::move(*measured);
    }
    if (!number.measured) {
      number.kept_because = reason_to_keep(table, rule != table.rules.end() ? &*rule : nullptr, own);
    }
    result.numbers.push_back(std::move(number));
  }
  fill(result);
  return result;
}

Result<Agreement> agreement_of(const std::vector<MeasuredRun>& runs) {
  struct Seen {
    const MeasuredRun* run;
    const MeasuredRow* row;
  };
  std::vector<std::vector<Seen>> groups;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const MeasuredRun& run : runs) {
    for (const MeasuredRow& row : run.rows) {
      const auto [place, fresh] = places.try_emplace({row.name, row.param}, groups.size());
      if (fresh) {
        groups.emplace_back();
      }
      groups[place->second].push_back({&run, &row});
    }
  }
  Agreement agreement;
  agreement.lacking = lacking_runs(runs);
  for (const auto& group : groups) {
    if (group.size() == 1) {
      ++agreement.in_one_run;
      continue;
    }
    const MeasuredRow& first = *group.front().row;
    RepeatedRow repeated{first.name, first.param, first.unit, {}, 0.0};
    model::Spread inner = spread_of(first);  // what all spreads have in common, if least <= most
    double sum = 0.0;
    for (const Seen& seen : group) {
      if (seen.row->unit != first.unit) {
        return fail(ErrorKind::kUsage,
                    fmt::format("{}, {} is in {} here and in {} in {}", first.name, first.param, seen.row->unit,
                                first.unit, place_of(*group.front().run, first)),
                    "compare runs of one version of the microbenchmarks", place_of(*seen.run, *seen.row));
      }
      repeated.values.push_back(seen.row->value);
      const model::Spread own = spread_of(*seen.row);
      inner = {std::max(inner.least, own.least), std::min(inner.most, own.most)};
      sum += std::abs(seen.row->value);
    }
    const double mean = sum / static_cast<double>(group.size());
    repeated.gap = inner.least > inner.most && mean > 0.0 ? (inner.least - inner.most) / mean : 0.0;
    agreement.overlapping += repeated.gap == 0.0 ? 1 : 0;
    agreement.rows.push_back(std::move(repeated));
  }
  return agreement;
}

MeasuredRun combined(const std::vector<MeasuredRun>& runs, const std::string& name) {
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  MeasuredRun all{name, {}, {}};
  std::vector<std::vector<double>> values;
  for (const MeasuredRun& run : runs) {
    for (const MeasuredRow& row : run.rows) {
      const auto [place, fresh] = places.try_emplace({row.name, row.param}, all.rows.size());
      if (fresh) {
        all.rows.push_back(row);
        values.emplace_back();
      }
      MeasuredRow& one = all.rows[place->second];
      const model::Spread before = spread_of(one);
      const model::Spread own = spread_of(row);
      one.spread = model::Spread{std::min(before.least, own.least), std::max(before.most, own.most)};
      values[place->second].push_back(row.value);
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    all.rows[i].value = median_of(std::move(values[i]));
  }
  return all;
}

}  // namespace tilesim::app
