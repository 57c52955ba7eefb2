#include "tools/lib/calibration_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include "model/gpu_spec.h"
#include "model/nearest_name.h"
#include "traces/profile/csv_records.h"
#include "traces/trace/text_stream.h"

namespace tilesim::app {

namespace {

constexpr std::array<std::pair<const char*, Reduction>, 8> kReductions{{
    {"value", Reduction::kValue},
    {"median", Reduction::kMedian},
    {"mean", Reduction::kMean},
    {"least", Reduction::kLeast},
    {"most", Reduction::kMost},
    {"half_range", Reduction::kHalfRange},
    {"slope", Reduction::kSlope},
    {"intercept", Reduction::kIntercept},
}};

std::vector<std::string> reduction_names() {
  std::vector<std::string> names(kReductions.size());
  std::transform(kReductions.begin(), kReductions.end(), names.begin(), [](const auto& entry) { return entry.first; });
  return names;
}

std::optional<Reduction> reduction_named(const std::string& text) {
  for (const auto& [name, reduction] : kReductions) {
    if (text == name) {
      return reduction;
    }
  }
  return std::nullopt;
}

std::vector<std::string> gpu_keys() {
  std::vector<std::string> keys;
  if (const auto spec = model::find_gpu_spec("h200")) {
    for (const model::Provenance& p : spec->provenance) {
      keys.push_back(p.key);
    }
  }
  return keys;
}

/// The records below a heading, each with as many fields; keys that are known, in order, each once.
Result<std::vector<traces::CsvRecord>> keyed_records(std::string_view text, const std::string& heading,
                                                     const std::string& file) {
  traces::CsvRecords reader(text, ',');
  traces::CsvRecord record;
  if (!reader.next(record) || fmt::format("{}", fmt::join(record.fields, ",")) != heading) {
    return fail(ErrorKind::kUsage, "not the heading that is expected", fmt::format("begin with {}", heading),
                file + ":1");
  }
  const std::size_t fields = record.fields.size();
  std::vector<traces::CsvRecord> records;
  while (reader.next(record)) {
    if (record.fields.size() == 1 && record.fields[0].empty()) {
      continue;
    }
    const std::string where = fmt::format("{}:{}", file, record.line);
    if (record.fields.size() != fields) {
      return fail(ErrorKind::kUsage, fmt::format("{} fields in place of {}", record.fields.size(), fields),
                  fmt::format("write {}, fields that hold a comma in quotes", heading), where);
    }
    if (!model::is_gpu_key(record.fields[0])) {
      return fail(ErrorKind::kUsage, fmt::format("unknown GPU key \"{}\"", record.fields[0]),
                  suggestion(record.fields[0], gpu_keys(), "\"", "`tilesim gpus show h200` lists all keys"), where);
    }
    if (!records.empty() && !(records.back().fields[0] < record.fields[0])) {
      return fail(ErrorKind::kUsage, fmt::format("{} stands behind {}", record.fields[0], records.back().fields[0]),
                  "keep keys in alphabetical order, each once", where);
    }
    records.push_back(record);
  }
  return records;
}

Result<SpecRule> parse_rule(const traces::CsvRecord& record, const std::string& file) {
  const std::string where = fmt::format("{}:{}", file, record.line);
  const auto reduction = reduction_named(record.fields[3]);
  if (!reduction) {
    return fail(ErrorKind::kUsage, fmt::format("unknown reduction \"{}\"", record.fields[3]),
                suggestion(record.fields[3], reduction_names(), "\"",
                           fmt::format("known: {}", fmt::join(reduction_names(), ", "))),
                where);
  }
  SpecRule rule{record.fields[0], record.fields[1], record.fields[2], *reduction, 0.0};
  const std::string& scale = record.fields[4];
  const auto [end, error] = std::from_chars(scale.data(), scale.data() + scale.size(), rule.scale);
  if (error != std::errc{} || end != scale.data() + scale.size() || !std::isfinite(rule.scale) || rule.scale == 0.0) {
    return fail(ErrorKind::kUsage, fmt::format("scale \"{}\" is not a number other than zero", scale),
                "write what the rows' unit is multiplied with to be the spec's, 1 if they are the same", where);
  }
  return rule;
}

}  // namespace

Result<CalibrationTable> parse_calibration_table(std::string_view spec_rows, std::string_view not_remade,
                                                 const std::filesystem::path& folder) {
  CalibrationTable table;
  const std::string rules_file = (folder / "spec_rows.csv").string();
  const auto rules = keyed_records(spec_rows, "spec_key,row_name,row_param,reduction,scale", rules_file);
  if (!rules) {
    return tl::unexpected<Error>(rules.error());
  }
  for (const traces::CsvRecord& record : *rules) {
    auto rule = parse_rule(record, rules_file);
    if (!rule) {
      return tl::unexpected<Error>(rule.error());
    }
    table.rules.push_back(std::move(*rule));
  }
  const auto reasons = keyed_records(not_remade, "spec_key,reason", (folder / "not_remade.csv").string());
  if (!reasons) {
    return tl::unexpected<Error>(reasons.error());
  }
  for (const traces::CsvRecord& record : *reasons) {
    table.not_remade[record.fields[0]] = record.fields[1];
  }
  return table;
}

Result<CalibrationTable> read_calibration_table(const std::filesystem::path& folder) {
  constexpr std::size_t kLongestFile = std::size_t{1} << 20;
  std::error_code ignored;
  for (const char* name : {"spec_rows.csv", "not_remade.csv"}) {
    if (!std::filesystem::exists(folder / name, ignored)) {
      return fail(ErrorKind::kAbsent, fmt::format("{} is not there", (folder / name).string()),
                  "set TILESIM_KERNELS to the folder kernels/ of a source tree");
    }
  }
  const auto rules = traces::TextSource::read_all(folder / "spec_rows.csv", kLongestFile);
  if (!rules) {
    return tl::unexpected<Error>(rules.error());
  }
  const auto reasons = traces::TextSource::read_all(folder / "not_remade.csv", kLongestFile);
  if (!reasons) {
    return tl::unexpected<Error>(reasons.error());
  }
  return parse_calibration_table(*rules, *reasons, folder);
}

}  // namespace tilesim::app
