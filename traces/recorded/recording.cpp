#include "traces/recorded/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "traces/emulator/launch.h"
#include "traces/recorded/sha256.h"
#include "traces/trace/text_stream.h"

namespace tilesim::traces {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t kSchemaVersion = 1;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::int64_t kMostExtent = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostTile = 4096;
constexpr std::int64_t kMostSharedBytes = std::int64_t{1} << 20;
constexpr const char* kRemedy = "record it again (traces/recorded/README.md has the format)";

std::string quoted(const Json& json) {
  if (json.is_structured()) {  // may be nested without end
    return json.is_array() ? "a list" : "an object";
  }
  constexpr std::size_t kLongest = 40;
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

enum class May { kBeEmpty, kNotBeEmpty };

/// Typed access to one object; the first thing that is wrong is kept, so that a list of reads needs one check.
class Reader {
 public:
  Reader(const Json& json, std::string where, Error& error) : json_(json), where_(std::move(where)), error_(error) {
    if (!json_.is_object()) {
      wrong(where_, "is no object");
    }
  }

  [[nodiscard]] bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
  [[nodiscard]] std::string at(const std::string& key) const { return where_.empty() ? key : where_ + "." + key; }
  [[nodiscard]] bool failed() const { return !error_.message.empty(); }

  std::string text(const char* key, May may = May::kNotBeEmpty) {
    const Json* value = find(key);
    if (value != nullptr && value->is_string() &&
        (may == May::kBeEmpty || !value->get_ref<const std::string&>().empty())) {
      return value->get<std::string>();
    }
    if (value != nullptr) {
      wrong(at(key), fmt::format("is {}, not a text", quoted(*value)));
    }
    return {};
  }

  std::int64_t integer(const char* key, std::int64_t least, std::int64_t most) {
    const Json* value = find(key);
    return value == nullptr ? least : integer(*value, at(key), least, most);
  }

  double real(const char* key, double least, double most) {
    const Json* value = find(key);
    if (value == nullptr) {
      return least;
    }
    const double number = value->is_number() ? value->get<double>() : std::nan("");
    if (!(number >= least && number <= most)) {
      wrong(at(key), fmt::format("is {}, not a number from {} to {}", quoted(*value), least, most));
      return least;
    }
    return number;
  }

  Reader object(const char* key) {
    static const Json kNothing = Json::object();
    const Json* value = find(key);
    return {value == nullptr ? kNothing : *value, at(key), error_};
  }

  /// Three integers, for grids and blocks.
  isa::Dim3 extents(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) {
      return {};
    }
    if (!value->is_array() || value->size() != 3) {
      wrong(at(key), fmt::format("is {}, not three numbers", quoted(*value)));
      return {};
    }
    std::array<std::uint32_t, 3> extent{};
    for (std::size_t i = 0; i < extent.size(); ++i) {
      extent[i] = static_cast<std::uint32_t>(integer((*value)[i], fmt::format("{}[{}]", at(key), i), 1, kMostExtent));
    }
    return {extent[0], extent[1], extent[2]};
  }

  const Json* array(const char* key) {
    const Json* value = find(key);
    if (value != nullptr && (!value->is_array() || value->empty())) {
      wrong(at(key), "is no list, or an empty one");
      return nullptr;
    }
    return value;
  }

  /// A name as `parser` takes it.
  template <class T>
  void name(const char* key, Result<T> (*parser)(std::string_view), T& field) {
    const std::string given = text(key);
    if (failed()) {
      return;
    }
    const auto value = parser(given);
    if (value) {
      field = *value;
    } else {
      wrong(at(key), fmt::format("is \"{}\": {}", given, value.error().message));
    }
  }

  void wrong(const std::string& key, const std::string& what) {
    if (!failed()) {
      error_ = Error{ErrorKind::kUsage, fmt::format("key {} {}", key.empty() ? "(top)" : key, what), kRemedy, ""};
    }
  }

  [[nodiscard]] const Json& json() const { return json_; }
  Error& error() { return error_; }

 private:
  const Json* find(const char* key) {
    if (!json_.is_object()) {
      return nullptr;
    }
    const auto found = json_.find(key);
    if (found == json_.end()) {
      wrong(at(key), "is missing");
      return nullptr;
    }
    return &*found;
  }

  std::int64_t integer(const Json& value, const std::string& where, std::int64_t least, std::int64_t most) {
    const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                                                 : value.is_number_integer();
    if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
      wrong(where, fmt::format("is {}, not a whole number from {} to {}", quoted(value), least, most));
      return least;
    }
    return value.get<std::int64_t>();
  }

  const Json& json_;
  std::string where_;
  Error& error_;
};

bool has_tile_configuration(const std::string& family) { return family == "simt" || family == "mma"; }

model::TileConfig read_configuration(Reader& reader) {
  model::TileConfig c;
  reader.name("family", model::parse_family, c.family);
  reader.name("dtype", model::parse_data_type, c.dtype);
  reader.name("layout", model::parse_layout, c.layout);
  reader.name("copy", model::parse_copy_path, c.copy);
  reader.name("raster", model::parse_raster, c.raster);
  const bool mma = c.family == model::Family::kMma;
  c.bm = reader.integer("bm", 1, kMostTile);
  c.bn = reader.integer("bn", 1, kMostTile);
  c.bk = reader.integer("bk", 1, kMostTile);
  if (!mma) {
    c.tm = reader.integer("tm", 1, kMostTile);
    c.tn = reader.integer("tn", 1, kMostTile);
  }
  if (mma || reader.has("wm") || reader.has("wn")) {
    c.wm = reader.integer("wm", mma ? 1 : 0, kMostTile);
    c.wn = reader.integer("wn", mma ? 1 : 0, kMostTile);
  }
  c.stages = reader.integer("stages", 1, kMostTile);
  c.vec = reader.integer("vec", 1, 16);
  c.pad_a = reader.integer("pad_a", 0, kMostTile);
  c.pad_b = reader.integer("pad_b", 0, kMostTile);
  c.swizzle = reader.integer("swizzle", 0, 3);
  c.register_cap = reader.integer("register_cap", 0, 255);
  c.min_ctas = reader.integer("min_ctas", 0, 32);
  return c;
}

RecordedCode read_code(Reader reader, const std::filesystem::path& folder) {
  RecordedCode code;
  const std::string file = reader.text("code");
  if (file.find('/') != std::string::npos || file == "..") {
    reader.wrong(reader.at("code"), fmt::format("is \"{}\", not a file of the same folder", file));
  }
  code.file = folder / file;
  code.sha256 = reader.text("sha256");
  constexpr std::size_t kDigits = 64;
  if (code.sha256.size() != kDigits || code.sha256.find_first_not_of("0123456789abcdef") != std::string::npos) {
    reader.wrong(reader.at("sha256"), "is no SHA-256 of 64 lower-case hexadecimal digits");
  }
  code.registers = static_cast<int>(reader.integer("registers", 1, 255));
  code.static_shared_bytes = reader.integer("static_shared_bytes", 0, kMostSharedBytes);
  code.dynamic_shared_bytes = reader.integer("dynamic_shared_bytes", 0, kMostSharedBytes);
  return code;
}

void read_metrics(Reader reader, std::map<std::string, RecordedMetric>& metrics) {
  if (!reader.json().is_object()) {
    return;
  }
  constexpr double kMost = 1e300;
  for (const auto& [name, json] : reader.json().items()) {
    Reader metric(json, reader.at(name), reader.error());
    RecordedMetric& m = metrics[name];
    m.value = metric.real("value", -kMost, kMost);
    m.unit = metric.text("unit", May::kBeEmpty);
    m.spread = metric.real("spread", 0.0, kMost);
    m.repeats = static_cast<int>(metric.integer("repeats", 1, kMostExtent));
  }
}

/// The event median of "timing"; absent where it was not measured.
std::optional<double> read_median(Reader& timing, const char* key) {
  constexpr double kMost = 1e12;
  return timing.has(key) ? std::optional(timing.object(key).real("median", 0.0, kMost)) : std::nullopt;
}

RecordedRun read_run(Reader reader, const Recording& recording) {
  RecordedRun run;
  Reader problem = reader.object("problem");
  run.problem.m = problem.integer("m", 1, kMostExtent);
  run.problem.n = problem.integer("n", 1, kMostExtent);
  run.problem.k = problem.integer("k", 1, kMostExtent);
  constexpr double kLargestFactor = std::numeric_limits<float>::max();
  run.problem.alpha = problem.real("alpha", -kLargestFactor, kLargestFactor);
  run.problem.beta = problem.real("beta", -kLargestFactor, kLargestFactor);
  constexpr std::int64_t kMostSplits = 65535;
  run.problem.split_k = problem.integer("split_k", 1, kMostSplits);
  if (recording.configuration) {
    run.problem.dtype = recording.configuration->dtype;
    constexpr std::int64_t kSumBytes = 4;  // kernels/mma stores FP32
    run.problem.c_bytes = recording.configuration->family == model::Family::kMma ? kSumBytes : 0;
  }
  Reader launch = reader.object("launch");
  run.grid = launch.extents("grid");
  run.block = launch.extents("block");
  run.shared_bytes = launch.integer("shared_bytes", 0, kMostSharedBytes);
  const LaunchParameters asked{run.grid, run.block, static_cast<std::uint64_t>(run.shared_bytes), {}};
  if (const auto allowed = check_launch(asked); !allowed) {
    reader.wrong(reader.at("launch"), "is none that CUDA allows: " + allowed.error().message);
  }
  run.arguments = launch.text("arguments");
  run.code = reader.text("code");
  if (!reader.failed() && !recording.codes.contains(run.code)) {
    reader.wrong(reader.at("code"), fmt::format("names \"{}\", which is not among the codes", run.code));
  }
  if (!reader.failed() && run.shared_bytes < recording.codes.at(run.code).static_shared_bytes) {
    reader.wrong(launch.at("shared_bytes"), "is less than the static shared memory of the code");
  }
  read_metrics(reader.object("metrics"), run.metrics);
  if (reader.has("timing")) {
    Reader timing = reader.object("timing");
    run.flushed_us = read_median(timing, "flushed_us");
    run.warm_us = read_median(timing, "warm_us");
  }
  return run;
}

Recording read_all(Reader& top, const std::filesystem::path& path) {
  Recording r;
  r.path = path;
  Reader meta = top.object("meta");
  r.gpu = meta.text("gpu");
  constexpr double kMostMhz = 10000.0;
  r.sm_mhz = meta.object("clocks").real("sm_mhz", 1.0, kMostMhz);
  Reader kernel = top.object("kernel");
  r.name = kernel.text("name");
  r.symbol = kernel.text("symbol");
  Reader configuration = top.object("configuration");
  r.family = configuration.text("family");
  r.dtype = configuration.text("dtype");
  if (has_tile_configuration(r.family)) {
    r.configuration = read_configuration(configuration);
  }
  Reader codes = top.object("codes");
  if (codes.json().is_object()) {
    for (const auto& [label, json] : codes.json().items()) {
      r.codes[label] = read_code(Reader(json, codes.at(label), top.error()), path.parent_path());
    }
  }
  if (const Json* runs = top.array("runs"); runs != nullptr && !top.failed()) {
    for (std::size_t i = 0; i < runs->size(); ++i) {
      r.runs.push_back(read_run(Reader((*runs)[i], fmt::format("runs[{}]", i), top.error()), r));
    }
  }
  return r;
}

}  // namespace

double Recording::clock_mhz(const RecordedRun& run) const {
  const auto cycles = run.metrics.find("sm__cycles_elapsed.max");
  const auto time = run.metrics.find("gpu__time_duration.sum");
  constexpr double kMhzPerGhz = 1000.0;
  return cycles != run.metrics.end() && time != run.metrics.end() && cycles->second.value > 0.0 &&
                 time->second.value > 0.0
             ? kMhzPerGhz * cycles->second.value / time->second.value
             : sm_mhz;
}

Result<Recording> parse_recording(const std::string& text, const std::filesystem::path& path) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    return fail(ErrorKind::kUsage, "is not JSON", kRemedy, path.string());
  }
  Error error;
  Reader top(json, "", error);
  if (const std::string kind = top.text("kind"); !top.failed() && kind != "tilesim-recording") {
    top.wrong("kind", fmt::format("is \"{}\", not \"tilesim-recording\"", kind));
  }
  (void)top.integer("schema_version", kSchemaVersion, kSchemaVersion);
  Recording recording;
  if (!top.failed()) {
    recording = read_all(top, path);
  }
  if (top.failed()) {
    error.where = path.string();
    return tl::unexpected<Error>(std::move(error));
  }
  return recording;
}

Result<Recording> read_recording(const std::filesystem::path& path) {
  const auto text = TextSource::read_all(path, kMostBytes);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  return parse_recording(*text, path);
}

Result<std::vector<Recording>> read_recordings(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (std::error_code ignored; entry->path().extension() == ".json" && entry->is_regular_file(ignored)) {
      files.push_back(entry->path());
    }
  }
  if (error) {
    return fail(ErrorKind::kUsage, fmt::format("cannot read the folder {}: {}", folder.string(), error.message()),
                "pass a folder of recordings");
  }
  if (files.empty()) {
    return fail(ErrorKind::kUsage, fmt::format("no recording (*.json) in {}", folder.string()),
                "pass a folder that holds some");
  }
  std::sort(files.begin(), files.end());
  std::vector<Recording> recordings;
  for (const std::filesystem::path& file : files) {
    auto recording = read_recording(file);
    if (!recording) {
      return tl::unexpected<Error>(recording.error());
    }
    const auto same = std::find_if(recordings.begin(), recordings.end(),
                                   [&](const Recording& other) { return other.name == recording->name; });
    if (same != recordings.end()) {
      return fail(ErrorKind::kUsage, fmt::format("key kernel.name is that of {} too", same->path.string()),
                  "remove one of them", file.string());
    }
    recordings.push_back(std::move(*recording));
  }
  return recordings;
}

Result<void> check_code(const RecordedCode& code) {
  if (std::error_code ignored; !std::filesystem::is_regular_file(code.file, ignored)) {
    return fail(ErrorKind::kUsage, "the recorded code is not there", kRemedy, code.file.string());
  }
  const auto bytes = TextSource::read_all(code.file, kMostBytes);
  if (!bytes) {
    return tl::unexpected<Error>(bytes.error());
  }
  if (const std::string digest = sha256(std::as_bytes(std::span(*bytes))); digest != code.sha256) {
    return fail(ErrorKind::kUsage,
                fmt::format("is not the code that was measured: its SHA-256 is {}, not {}", digest, code.sha256),
                kRemedy, code.file.string());
  }
  return {};
}

std::string form_of(const Recording& recording) {
  if (!recording.configuration || recording.configuration->family != model::Family::kSimt) {
    return "";
  }
  if (!model::uses_shared_memory(*recording.configuration)) {
    return kDirectForm;
  }
  return model::has_warp_tiles(*recording.configuration) ? "warp tiles" : "";
}

std::vector<Part> split(const std::vector<Recording>& recordings) {
  std::map<std::array<std::string, 3>, std::vector<std::pair<std::string, std::size_t>>> groups;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    const Recording& r = recordings[i];
    groups[{r.family, r.dtype, form_of(r)}].emplace_back(sha256(std::as_bytes(std::span(r.name))), i);
  }
  std::vector<Part> parts(recordings.size(), Part::kDevelopment);
  for (auto& [key, members] : groups) {
    std::sort(members.begin(), members.end());
    for (std::size_t i = 2; i < members.size(); i += 3) {
      parts[members[i].second] = Part::kLocked;
    }
  }
  return parts;
}

}  // namespace tilesim::traces
