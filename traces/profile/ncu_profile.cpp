#include "traces/profile/ncu_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "traces/profile/csv_records.h"
#include "traces/profile/ncu_labels.h"
#include "traces/profile/ncu_units.h"
#include "traces/trace/text_stream.h"

namespace tilesim::traces {

namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::size_t kNowhere = std::string::npos;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == kNowhere ? std::string_view() : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// "(32, 16, 1)".
std::optional<isa::Dim3> extents(std::string_view text) {
  std::array<std::uint32_t, 3> values{1, 1, 1};
  if (!text.starts_with('(') || !text.ends_with(')')) {
    return std::nullopt;
  }
  text = text.substr(1, text.size() - 2);
  for (std::uint32_t& value : values) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view number = trimmed(text.substr(0, comma));
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size() || value == 0) {
      return std::nullopt;
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return text.empty() ? std::optional(isa::Dim3{values[0], values[1], values[2]}) : std::nullopt;
}

/// A row as it is printed.
struct Row {
  std::size_t launch = 0;
  std::string label;
  std::string unit;
  std::string value;
  std::size_t line = 0;
  bool is_named = false;  ///< the label is the metric's name
};

/// What the forms have in common: launches by a key, rows, and what they come to.
class Collector {
 public:
  explicit Collector(std::string file) : file_(std::move(file)) {}

  /// The launch that a process calls `key`, new if it has not been seen; a number if the profile has none of its own.
  std::size_t launch(const std::string& process, const std::string& key, const std::string& kernel, bool numbered) {
    const auto [found, is_new] = numbers_.try_emplace({process, key}, profile_.launches.size());
    if (is_new) {
      const std::string id = numbered ? key : fmt::format("{}", profile_.launches.size());
      profile_.launches.push_back({id, kernel, std::nullopt, std::nullopt, {}});
      processes_.push_back(process);
    }
    return found->second;
  }
  ProfiledLaunch& at(std::size_t launch) { return profile_.launches[launch]; }
  [[nodiscard]] std::size_t launches() const { return profile_.launches.size(); }
  void add(Row row) { rows_.push_back(std::move(row)); }
  /// More of the value of the row that was added last.
  void extend(std::string_view value) { rows_.back().value += value; }

  [[nodiscard]] tl::unexpected<Error> wrong(std::size_t line, std::string what, std::string remedy) const {
    return fail(ErrorKind::kUsage, std::move(what), std::move(remedy), fmt::format("{}:{}", file_, line));
  }

  Result<NcuProfile> finish(ProfileForm form) {
    const auto punctuation = common_punctuation();
    if (!punctuation) {
      return tl::unexpected<Error>(punctuation.error());
    }
    for (const Row& row : rows_) {
      convert(row, *punctuation);
    }
    tell_processes_apart();
    std::erase_if(profile_.launches, [](const ProfiledLaunch& l) { return l.metrics.empty(); });
    if (profile_.launches.empty()) {
      return fail(ErrorKind::kUsage, "the profile holds no metric that is known",
                  "export the sections (ncu --set full) or metrics by name (ncu --metrics ...)", file_);
    }
    profile_.form = form;
    return std::move(profile_);
  }

 private:
  /// One file is printed in one locale.
  [[nodiscard]] Result<Punctuation> common_punctuation() const {
    std::array<const Row*, 2> first{};
    for (const Row& row : rows_) {
      if (const auto told = punctuation_of(row.value)) {
        const Row*& place = first[*told == Punctuation::kPoint ? 0 : 1];
        place = place == nullptr ? &row : place;
      }
    }
    if (first[0] != nullptr && first[1] != nullptr) {
      return wrong(std::max(first[0]->line, first[1]->line),
                   fmt::format("'{}' in line {} has a decimal point, '{}' in line {} a decimal comma", first[0]->value,
                               first[0]->line, first[1]->value, first[1]->line),
                   "export the profile again with LC_ALL=C");
    }
    return first[1] != nullptr ? Punctuation::kComma : Punctuation::kPoint;
  }

  void convert(const Row& row, Punctuation punctuation) {
    const auto number = printed_number(row.value, punctuation);
    if (!number) {
      ++profile_.without_number;
      return;
    }
    const auto unit = base_unit(row.unit);
    const double value = *number * (unit ? unit->factor : 1.0);
    const std::string name = row.is_named ? row.label : metric_of_label(row.label, unit ? unit->name : row.unit);
    if (!std::isfinite(value)) {
      ++profile_.without_number;
      return;
    }
    if (name.empty()) {
      ++profile_.unknown_labels;
      return;
    }
    const double half_digit = half_of_last_digit(row.value, punctuation) * (unit ? unit->factor : 1.0);
    profile_.launches[row.launch].metrics.try_emplace(
        name, ProfileMetric{value, unit ? unit->name : row.unit, unit.has_value(), half_digit});
  }

  /// Each process counts its launches from 0.
  void tell_processes_apart() {
    const bool several = std::any_of(processes_.begin(), processes_.end(),
                                     [this](const std::string& p) { return p != processes_.front(); });
    for (std::size_t i = 0; several && i < processes_.size(); ++i) {
      profile_.launches[i].id = processes_[i] + ":" + profile_.launches[i].id;
    }
  }

  std::string file_;
  NcuProfile profile_;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;
  std::vector<std::string> processes_;
  std::vector<Row> rows_;
};

/// True for a metric's name: one word with an underscore, most with two (sm__cycles_elapsed.max), some with one
/// (memory_l1_wavefronts_shared).
bool is_metric_name(std::string_view text) { return text.find('_') != kNowhere && text.find(' ') == kNowhere; }

/// Where the columns of a CSV are.
struct Header {
  std::size_t count = 0;
  bool quoted = false;
  std::size_t id = kNowhere, process = kNowhere, kernel = kNowhere, grid = kNowhere, block = kNowhere;
  std::size_t name = kNowhere, unit = kNowhere, value = kNowhere;
  std::vector<std::string> fields;
  [[nodiscard]] bool is_long() const { return name != kNowhere && value != kNowhere; }
  [[nodiscard]] bool is_wide() const {
    return kernel != kNowhere && !is_long() &&
           std::any_of(fields.begin(), fields.end(), [](const auto& f) { return f.find("__") != kNowhere; });
  }
};

Header header_of(const CsvRecord& record) {
  Header h;
  h.count = record.fields.size();
  h.quoted = record.quoted;
  h.fields = record.fields;
  const auto column = [&record](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      const auto found = std::find(record.fields.begin(), record.fields.end(), name);
      if (found != record.fields.end()) {
        return static_cast<std::size_t>(found - record.fields.begin());
      }
    }
    return kNowhere;
  };
  h.id = column({"ID"});
  h.process = column({"Process ID"});
  h.kernel = column({"Kernel Name"});
  h.grid = column({"Grid Size"});
  h.block = column({"Block Size"});
  h.name = column({"Metric Name", "metric"});
  h.unit = column({"Metric Unit", "unit"});
  h.value = column({"Metric Value", "value"});
  return h;
}

/// Either CSV form, once its header is known.
class CsvProfile {
 public:
  CsvProfile(Header header, Collector& collector) : header_(std::move(header)), collector_(collector) {}

  Result<void> add(const CsvRecord& record) {
    if (is_other_output(record)) {
      return {};
    }
    if (Header again = header_of(record); header_.is_long() ? again.is_long() : again.is_wide()) {
      header_ = std::move(again);  // several exports in one file
      units_.clear();
      return {};
    }
    return header_.is_long() ? add_long(record) : add_wide(record);
  }

 private:
  /// Lines of the profiled program and of the profiler.
  [[nodiscard]] bool is_other_output(const CsvRecord& record) const {
    return header_.quoted ? !record.quoted : record.fields.size() == 1 || record.fields.front().starts_with("==");
  }

  static std::string field(const CsvRecord& record, std::size_t column) {
    return column < record.fields.size() ? record.fields[column] : std::string();
  }

  std::size_t launch_of(const CsvRecord& record) {
    const std::string kernel = field(record, header_.kernel);
    const bool numbered = header_.id != kNowhere;
    // Without numbers, rows of the long form belong together by their kernel; in the wide form each is a launch.
    const std::string key = numbered            ? field(record, header_.id)
                            : header_.is_long() ? kernel
                                                : fmt::format("line {}", record.line);
    const std::size_t launch = collector_.launch(field(record, header_.process), key, kernel, numbered);
    ProfiledLaunch& l = collector_.at(launch);
    l.grid = l.grid ? l.grid : extents(field(record, header_.grid));
    l.block = l.block ? l.block : extents(field(record, header_.block));
    return launch;
  }

  Result<void> add_long(const CsvRecord& record) {
    // Columns of rules follow the value; rows without a rule may leave them out.
    if (record.fields.size() <= header_.value || record.fields.size() > header_.count) {
      return wrong_count(record);
    }
    const std::size_t launch = launch_of(record);
    const std::string name = field(record, header_.name);
    const std::string value = field(record, header_.value);
    ProfiledLaunch& l = collector_.at(launch);
    if (name == "Kernel Name") {
      l.kernel = value;
    } else if (name == "Grid Size" && value.starts_with('(')) {
      l.grid = extents(value);
    } else if (name == "Block Size" && value.starts_with('(')) {
      l.block = extents(value);
    } else if (!name.empty()) {
      collector_.add({launch, name, field(record, header_.unit), value, record.line});
    }
    return {};
  }

  Result<void> add_wide(const CsvRecord& record) {
    if (record.fields.size() != header_.count) {
      return wrong_count(record);
    }
    if (units_.empty()) {
      if (!field(record, header_.kernel).empty()) {
        return collector_.wrong(record.line, "the row of units under the names is missing",
                                "export with 'ncu --csv --page raw' and leave its second row in place");
      }
      units_ = record.fields;
      return {};
    }
    const std::size_t launch = launch_of(record);
    for (std::size_t i = 0; i < header_.count; ++i) {
      if (is_metric_name(header_.fields[i])) {
        collector_.add({launch, header_.fields[i], units_[i], record.fields[i], record.line, true});
      }
    }
    return {};
  }

  [[nodiscard]] Result<void> wrong_count(const CsvRecord& record) const {
    return collector_.wrong(
        record.line, fmt::format("the record has {} fields, the header has {}", record.fields.size(), header_.count),
        "export the profile again");
  }

  Header header_;
  Collector& collector_;
  std::vector<std::string> units_;
};

/// The details page and the raw page: launches and tables of three columns.
class DetailsProfile {
 public:
  explicit DetailsProfile(Collector& collector) : collector_(collector) {}

  [[nodiscard]] static bool is_section(std::string_view line) { return trimmed(line).starts_with("Section: "); }

  [[nodiscard]] static bool is_launch(std::string_view line) {
    return line.find(", Context ") != kNowhere && line.find(", Stream ") != kNowhere;
  }

  void add(std::string_view line, std::size_t number) {
    if (is_launch(line)) {
      begin_launch(trimmed(line));
    } else if (is_section(line)) {
      state_ = State::kOutside;
    } else if (const auto columns = rule_of(line)) {
      pass_rule(*columns);
    } else if (state_ == State::kOutside) {
      begin_raw_page(line);
    } else if (trimmed(line).empty()) {
      state_ = State::kOutside;
    } else {
      add_inside(line, number);
    }
  }

 private:
  enum class State { kOutside, kHeading, kRows };
  /// First characters of the unit and of the value.
  struct Columns {
    std::size_t unit = 0;
    std::size_t value = 0;
  };

  [[nodiscard]] static bool is_heading(std::string_view line) {
    return line.find("Metric Name") != kNowhere && line.find("Metric Value") != kNowhere;
  }

  /// A heading of three columns that are other ones.
  [[nodiscard]] bool is_other_table(std::string_view line) const {
    const std::string_view value = line.size() > columns_.value ? trimmed(line.substr(columns_.value)) : "";
    return value.find_first_of("0123456789") == kNowhere && value.find("n/a") == kNowhere;
  }

  /// "KERNEL (32, 32, 1)x(256, 1, 1), Context 1, Stream 7, ..."; old versions have a date instead of the extents.
  void begin_launch(std::string_view line) {
    const std::string id = fmt::format("{}", collector_.launches());
    const std::string_view head = line.substr(0, line.rfind(", Context "));
    const std::size_t cross = head.rfind(")x(");
    const std::size_t open = cross == kNowhere ? kNowhere : head.rfind('(', cross);
    const std::size_t date = head.rfind(", 20");
    const std::string_view kernel = head.substr(0, open != kNowhere ? open : date);
    launch_ = collector_.launch("", id, std::string(trimmed(kernel)), true);
    if (open != kNowhere) {
      collector_.at(launch_).grid = extents(head.substr(open, cross + 1 - open));
      collector_.at(launch_).block = extents(trimmed(head.substr(cross + 2)));
    }
    has_launch_ = true;
    state_ = State::kOutside;
  }

  /// A line of three groups of dashes.
  [[nodiscard]] static std::optional<Columns> rule_of(std::string_view line) {
    if (trimmed(line).empty() || line.find_first_not_of(" -\r\t") != kNowhere) {
      return std::nullopt;
    }
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '-' && (i == 0 || line[i - 1] != '-')) {
        begins.push_back(i);
      }
    }
    return begins.size() == 3 ? std::optional(Columns{begins[1], begins[2]}) : std::nullopt;
  }

  /// The raw page has no rule above its heading.
  void begin_raw_page(std::string_view line) {
    is_raw_ = is_heading(line);
    state_ = is_raw_ ? State::kHeading : State::kOutside;
  }

  void pass_rule(const Columns& columns) {
    columns_ = columns;
    has_row_ = false;
    is_raw_ = is_raw_ && state_ == State::kHeading;
    state_ = state_ == State::kOutside ? State::kHeading : state_ == State::kHeading ? State::kRows : State::kOutside;
  }

  /// A line of a table: its heading, which old versions leave out, or a row.
  void add_inside(std::string_view line, std::size_t number) {
    if (state_ == State::kHeading && !is_heading(line)) {
      state_ = is_other_table(line) ? State::kOutside : State::kRows;
    }
    if (state_ == State::kRows) {
      add_row(line, number);
    }
  }

  void add_row(std::string_view line, std::size_t number) {
    if (line.size() <= columns_.value) {
      return;
    }
    if (!has_launch_) {  // a page that was cut out
      launch_ = collector_.launch("", "0", "", true);
      has_launch_ = true;
    }
    const std::string_view value = trimmed(line.substr(columns_.value));
    if (has_row_ && trimmed(line.substr(0, columns_.value)).empty()) {
      collector_.extend(value);  // what does not fit the raw page's 20 characters goes on in the next line
      return;
    }
    has_row_ = true;
    collector_.add({launch_, std::string(trimmed(line.substr(0, columns_.unit))),
                    std::string(trimmed(line.substr(columns_.unit, columns_.value - columns_.unit))),
                    std::string(value), number, is_raw_});
  }

  Collector& collector_;
  State state_ = State::kOutside;
  Columns columns_;
  std::size_t launch_ = 0;
  bool has_launch_ = false;
  bool has_row_ = false;  // in this table
  bool is_raw_ = false;   // names, not labels
};

Result<NcuProfile> parse_csv(std::string_view text, char separator, const std::string& file) {
  Collector collector(file);
  CsvRecords records(text, separator);
  CsvRecord record;
  std::optional<CsvProfile> profile;
  ProfileForm form = ProfileForm::kLong;
  while (records.next(record)) {
    if (profile) {
      if (const auto done = profile->add(record); !done) {
        return tl::unexpected<Error>(done.error());
      }
    } else if (Header header = header_of(record); header.is_long() || header.is_wide()) {
      form = header.is_long() ? ProfileForm::kLong : ProfileForm::kWide;
      profile.emplace(std::move(header), collector);
    }
  }
  return collector.finish(form);
}

template <class Visit>
void for_each_line(std::string_view text, Visit&& visit) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!visit(text.substr(0, end), number)) {
      return;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Separator of the first header of a CSV; none if there is none.
std::optional<char> csv_separator(std::string_view text) {
  std::optional<char> result;
  for_each_line(text, [&result](std::string_view line, std::size_t) {
    for (const char separator : {',', ';'}) {
      CsvRecords records(line, separator);
      CsvRecord record;
      if (!result && line.find(separator) != kNowhere && records.next(record)) {
        const Header header = header_of(record);
        result = header.is_long() || header.is_wide() ? std::optional(separator) : std::nullopt;
      }
    }
    return !result;
  });
  return result;
}

/// The raw page as text has launches, but no sections.
bool is_page(std::string_view text) {
  bool found = false;
  for_each_line(text, [&found](std::string_view line, std::size_t) {
    found = DetailsProfile::is_section(line) || DetailsProfile::is_launch(line);
    return !found;
  });
  return found;
}

std::string list_of(const std::vector<const ProfiledLaunch*>& launches) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, launches.size()); ++i) {
    const ProfiledLaunch& l = *launches[i];
    text += fmt::format("{}{} {}", i == 0 ? "" : "; ", l.id, l.kernel.empty() ? "(no name)" : l.kernel);
    if (l.grid && l.block) {
      text += fmt::format(" ({}, {}, {})x({}, {}, {})", l.grid->x, l.grid->y, l.grid->z, l.block->x, l.block->y,
                          l.block->z);
    }
  }
  return text + (launches.size() > kMost ? fmt::format("; and {} more", launches.size() - kMost) : std::string());
}

}  // namespace

const char* to_string(ProfileForm form) {
  switch (form) {
    case ProfileForm::kLong:
      return "CSV, a row per metric";
    case ProfileForm::kWide:
      return "CSV, a row per launch";
    case ProfileForm::kDetails:
      break;
  }
  return "text of a page";
}

Result<NcuProfile> parse_ncu_profile(std::string_view text, const std::string& file) {
  if (text.find_first_not_of(" \t\r\n") == kNowhere) {
    return fail(ErrorKind::kUsage, "the file is empty", "export a profile with 'ncu --csv --page raw'", file);
  }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    return fail(ErrorKind::kUsage, "the file is UTF-16 text", "save it as UTF-8, or use ncu's --log-file", file);
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    text.remove_prefix(3);
  }
  if (const auto separator = csv_separator(text)) {
    return parse_csv(text, *separator, file);
  }
  if (!is_page(text)) {
    return fail(ErrorKind::kUsage, "this is no profile: neither CSV nor the details page of Nsight Compute",
                "export one with 'ncu --csv', 'ncu --csv --page raw' or 'ncu --page details'; a report (.ncu-rep) "
                "becomes one with 'ncu --import FILE --csv --page raw'",
                file);
  }
  Collector collector(file);
  DetailsProfile details(collector);
  for_each_line(text, [&details](std::string_view line, std::size_t number) {
    details.add(line, number);
    return true;
  });
  return collector.finish(ProfileForm::kDetails);
}

Result<NcuProfile> read_ncu_profile(const std::filesystem::path& path) {
  const auto text = TextSource::read_all(path, kMostBytes);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  return parse_ncu_profile(*text, path.string());
}

Result<const ProfiledLaunch*> choose_launch(const NcuProfile& profile, const std::string& kernel,
                                            const std::string& id) {
  std::vector<const ProfiledLaunch*> all;
  std::vector<const ProfiledLaunch*> fitting;
  for (const ProfiledLaunch& launch : profile.launches) {
    all.push_back(&launch);
    if ((kernel.empty() || launch.kernel.find(kernel) != kNowhere) && (id.empty() || launch.id == id)) {
      fitting.push_back(&launch);
    }
  }
  if (fitting.size() == 1) {
    return fitting.front();
  }
  const std::string asked = fmt::format("{}{}", kernel.empty() ? "" : fmt::format(" of a kernel '{}'", kernel),
                                        id.empty() ? "" : fmt::format(" with the number {}", id));
  if (fitting.empty()) {
    return fail(ErrorKind::kUsage, fmt::format("the profile holds no launch{}", asked),
                fmt::format("it holds {}", list_of(all)));
  }
  return fail(ErrorKind::kUsage,
              fmt::format("the profile holds {} launches{}: {}", fitting.size(), asked, list_of(fitting)),
              "choose one with --launch NUMBER, or by --kernel NAME");
}

std::int64_t printed_size(const ProfileMetric& metric) {
  constexpr double kFinest = 1.0;
  constexpr double kCoarsest = 1024.0 * 1024.0;
  for (double multiple = kCoarsest; multiple >= kFinest; multiple /= 2.0) {
    const double size = std::ceil((metric.value - metric.half_digit) / multiple) * multiple;
    if (size <= metric.value + metric.half_digit) {
      return static_cast<std::int64_t>(size);
    }
  }
  return std::llround(metric.value);
}

std::optional<double> clock_mhz(const ProfiledLaunch& launch) {
  const auto value = [&launch](const char* name) -> std::optional<double> {
    const auto found = launch.metrics.find(name);
    const bool usable = found != launch.metrics.end() && found->second.unit_known && found->second.value > 0.0;
    return usable ? std::optional(found->second.value) : std::nullopt;
  };
  constexpr double kMhzPerGhz = 1000.0;
  constexpr double kHzPerMhz = 1e6;
  // In this order: those of SMs can be of two passes, too, and above the card's clock.
  for (const char* name : {"gpc__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second",
                           "smsp__cycles_elapsed.avg.per_second"}) {
    if (const auto rate = value(name)) {
      return *rate / kHzPerMhz;
    }
  }
  const auto time = value("gpu__time_duration.sum");
  auto cycles = value("sm__cycles_elapsed.max");
  cycles = cycles ? cycles : value("gpc__cycles_elapsed.max");
  return time && cycles ? std::optional(kMhzPerGhz * *cycles / *time) : std::nullopt;
}

}  // namespace tilesim::traces
