#include "model/gpu_spec.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <type_traits>
#include <utility>

#include "model/embedded_specs.h"
#include "model/nearest_name.h"

namespace tilesim::model {

namespace {

/// One number of the spec: how to name, check and store it.
struct Field {
  std::string key;
  std::string unit;
  double minimum = 0.0;
  double maximum = 0.0;
  bool integer = false;
  std::function<void(GpuSpec&, double)> store;
};

const std::vector<Field>& fields() {
  static const std::vector<Field> all = [] {
    std::vector<Field> list;
// clang-format off
#define TILESIM_DESCRIBE(name, type, unit, minimum, maximum, meaning)                                          \
  list.push_back(Field{section_name + "." #name, unit, static_cast<double>(minimum), static_cast<double>(maximum), \
                       std::is_same_v<GpuSpec::type, GpuSpec::Int>, [](GpuSpec& spec, double value) {          \
                         (spec.*section_member).name = static_cast<GpuSpec::type>(value);                      \
                       }});
#define TILESIM_DESCRIBE_SECTION(section, FIELDS)               \
  {                                                             \
    const std::string section_name = #section;                  \
    static constexpr auto section_member = &GpuSpec::section;   \
    FIELDS(TILESIM_DESCRIBE)                                    \
  }
    // clang-format on
    TILESIM_SPEC_SECTIONS(TILESIM_DESCRIBE_SECTION)
    return list;
  }();
  return all;
}

std::vector<std::string> known_keys() {
  std::vector<std::string> keys;
  for (const Field& field : fields()) {
    keys.push_back(field.key);
  }
  return keys;
}

const Field* find_field(std::string_view key) {
  for (const Field& field : fields()) {
    if (field.key == key) {
      return &field;
    }
  }
  return nullptr;
}

std::string position(const std::string& origin, const toml::node& node) {
  return fmt::format("{}:{}", origin, node.source().begin.line);
}

/// Where a missing field belongs: its section's line, or the first line if the file lacks the section.
std::string section_position(const toml::table& root, const Field& field, const std::string& origin) {
  const toml::node* section = root.get(field.key.substr(0, field.key.find('.')));
  return section == nullptr ? origin + ":1" : position(origin, *section);
}

Result<Confidence> parse_confidence(const std::string& text, const std::string& key, const std::string& where) {
  for (const Confidence c : {Confidence::kDatasheet, Confidence::kMeasured, Confidence::kFitted, Confidence::kGuess}) {
    if (to_string(c) == text) {
      return c;
    }
  }
  return fail(ErrorKind::kUsage, fmt::format("{}: confidence \"{}\" is unknown", key, text),
              "use datasheet, measured, fitted or guess", where);
}

Result<void> check_range(const Field& field, double value, const std::string& where) {
  if (!std::isfinite(value) || value < field.minimum || value > field.maximum) {
    return fail(ErrorKind::kUsage, fmt::format("{} = {} is out of range", field.key, value),
                fmt::format("give a value from {} to {} {}", field.minimum, field.maximum, field.unit), where);
  }
  return {};
}

/// Reads `spread = [LEAST, MOST]` of an entry, if it has one.
Result<std::optional<Spread>> read_spread(const Field& field, const toml::table& entry, double value,
                                          const std::string& origin) {
  const toml::node* node = entry.get("spread");
  if (node == nullptr) {
    return std::nullopt;
  }
  const toml::array* ends = node->as_array();
  const auto least = ends != nullptr && ends->size() == 2 ? (*ends)[0].value<double>() : std::nullopt;
  const auto most = ends != nullptr && ends->size() == 2 ? (*ends)[1].value<double>() : std::nullopt;
  if (!least || !most) {
    return fail(ErrorKind::kUsage, fmt::format("{}: spread is not two numbers", field.key),
                fmt::format("write spread = [LEAST, MOST] in {}, or leave it out", field.unit),
                position(origin, *node));
  }
  if (!(*least <= value && value <= *most) || !std::isfinite(*least) || !std::isfinite(*most)) {
    return fail(ErrorKind::kUsage,
                fmt::format("{}: the spread {} to {} does not hold the value {}", field.key, *least, *most, value),
                "give the least and the most that was measured", position(origin, *node));
  }
  return Spread{*least, *most};
}

/// Reads `{ value, unit, source, confidence }`, and `spread` if it is there, of one field.
Result<Provenance> read_entry(const Field& field, const toml::node& node, const std::string& origin) {
  const std::string where = position(origin, node);
  const toml::table* entry = node.as_table();
  if (entry == nullptr) {
    return fail(
        ErrorKind::kUsage, fmt::format("{} is not a table", field.key),
        fmt::format("write {{ value = ..., unit = \"{}\", source = \"...\", confidence = \"...\" }}", field.unit),
        where);
  }
  for (const auto& [key, child] : *entry) {
    const std::vector<std::string> parts{"value", "unit", "source", "confidence", "spread"};
    if (std::find(parts.begin(), parts.end(), key.str()) == parts.end()) {
      return fail(ErrorKind::kUsage, fmt::format("{} has an unknown part \"{}\"", field.key, key.str()),
                  suggestion(key.str(), parts, "\"", "known are value, unit, source, confidence, spread"),
                  position(origin, child));
    }
  }
  const toml::node* value = entry->get("value");
  const bool number = value != nullptr && (value->is_integer() || (!field.integer && value->is_floating_point()));
  if (!number) {
    return fail(ErrorKind::kUsage, fmt::format("{}: value is {}", field.key, value == nullptr ? "missing" : "mistyped"),
                fmt::format("give {} in {}", field.integer ? "an integer" : "a number", field.unit), where);
  }
  const double amount =
      value->is_integer() ? static_cast<double>(*value->value<std::int64_t>()) : *value->value<double>();
  if (const Result<void> ok = check_range(field, amount, position(origin, *value)); !ok) {
    return tl::unexpected<Error>(ok.error());
  }
  const auto spread = read_spread(field, *entry, amount, origin);
  if (!spread) {
    return tl::unexpected<Error>(spread.error());
  }
  Provenance provenance{field.key, "", "", Confidence::kGuess, amount, *spread};
  std::string confidence;
  for (const auto& [name, target] : {std::pair<const char*, std::string*>{"unit", &provenance.unit},
                                     {"source", &provenance.source},
                                     {"confidence", &confidence}}) {
    const auto text = (*entry)[name].value<std::string>();
    if (!text || text->empty()) {
      return fail(ErrorKind::kUsage, fmt::format("{}: {} is missing, empty or not a string", field.key, name),
                  fmt::format("add {} = \"...\"", name), where);
    }
    *target = *text;
  }
  if (provenance.unit != field.unit) {
    return fail(ErrorKind::kUsage, fmt::format("{}: unit \"{}\" is not the one expected", field.key, provenance.unit),
                fmt::format("give the value in \"{}\"", field.unit), where);
  }
  const Result<Confidence> parsed = parse_confidence(confidence, field.key, where);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  provenance.confidence = *parsed;
  return provenance;
}

/// Refuses sections and keys that no field has.
Result<void> check_unknown(const toml::table& root, const std::string& origin) {
  std::vector<std::string> sections{"id", "name", "note"};
#define TILESIM_NAME_SECTION(section, FIELDS) sections.emplace_back(#section);
  TILESIM_SPEC_SECTIONS(TILESIM_NAME_SECTION)
  for (const auto& [key, node] : root) {
    const std::string name(key.str());
    if (std::find(sections.begin(), sections.end(), name) == sections.end()) {
      return fail(ErrorKind::kUsage, fmt::format("unknown key \"{}\"", name),
                  suggestion(name, sections, "\"", "see `tilesim gpus show h200` for all sections"),
                  position(origin, node));
    }
    if (name == "id" || name == "name" || name == "note") {
      continue;
    }
    const toml::table* section = node.as_table();
    if (section == nullptr) {
      return fail(ErrorKind::kUsage, fmt::format("{} is not a section", name),
                  fmt::format("write [{}] on a line of its own and the keys below it", name), position(origin, node));
    }
    for (const auto& [child_key, child] : *section) {
      const std::string full = name + "." + std::string(child_key.str());
      if (find_field(full) == nullptr) {
        return fail(ErrorKind::kUsage, fmt::format("unknown key \"{}\"", full),
                    suggestion(full, known_keys(), "\"", "see `tilesim gpus show h200` for all keys"),
                    position(origin, child));
      }
    }
  }
  return {};
}

/// A latency is that of a whole instruction: at least its parts and a cycle.
Result<void> check_latencies(const GpuSpec& spec, const std::string& origin) {
  const double start = static_cast<double>(spec.mio.transfer_start_cycles);
  const double transfer = static_cast<double>(spec.mio.transfer_cycles_per_register);
  const double wavefront = static_cast<double>(spec.lsu.wavefront_interval);
  const double copied = start + 3 * transfer + wavefront + 3 * static_cast<double>(spec.lsu.request_wavefront_interval);
  struct Rule {
    const char* key;
    double value;
    double parts;
    const char* what;
  };
  const std::array<Rule, 5> rules{{
      {"lsu.lds_latency", static_cast<double>(spec.lsu.lds_latency), start + transfer,
       "mio.transfer_start_cycles and mio.transfer_cycles_per_register"},
      {"lsu.commit_latency", static_cast<double>(spec.lsu.commit_latency), start + transfer,
       "mio.transfer_start_cycles and mio.transfer_cycles_per_register"},
      {"lsu.copy_latency", static_cast<double>(spec.lsu.copy_latency), copied,
       "mio.transfer_start_cycles, 3 mio.transfer_cycles_per_register and four wavefronts"},
      {"l1.hit_latency", static_cast<double>(spec.l1.hit_latency), start + 2 * transfer + 2,
       "mio.transfer_start_cycles, 2 mio.transfer_cycles_per_register, a look-up and a return"},
      {"l2.hit_latency", spec.l2.hit_latency, static_cast<double>(spec.l1.hit_latency) + spec.l2.hit_latency_spread,
       "l1.hit_latency and l2.hit_latency_spread"},
  }};
  for (const Rule& rule : rules) {
    if (rule.value < rule.parts + 1) {
      return fail(ErrorKind::kUsage, fmt::format("{} = {} is too short", rule.key, rule.value),
                  fmt::format("give at least {}: it holds {}", rule.parts + 1, rule.what), origin);
    }
  }
  return {};
}

/// Rules between numbers. `origin` names the file or flag.
Result<void> check_consistency(const GpuSpec& spec, const std::string& origin) {
  if (spec.device.gpc_count > spec.device.sm_count) {
    return fail(ErrorKind::kUsage,
                fmt::format("device.gpc_count = {} is more than device.sm_count = {}", spec.device.gpc_count,
                            spec.device.sm_count),
                "give at most one GPC per SM", origin);
  }
  if (spec.l2.effective_bytes > spec.l2.capacity_bytes) {
    return fail(ErrorKind::kUsage,
                fmt::format("l2.effective_bytes = {} is more than l2.capacity_bytes = {}", spec.l2.effective_bytes,
                            spec.l2.capacity_bytes),
                "what all SMs can use is at most the capacity", origin);
  }
  return check_latencies(spec, origin);
}

}  // namespace

std::string_view to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::kDatasheet:
      return "datasheet";
    case Confidence::kMeasured:
      return "measured";
    case Confidence::kFitted:
      return "fitted";
    case Confidence::kGuess:
      break;
  }
  return "guess";
}

Result<GpuSpec> parse_gpu_spec(std::string_view text, const std::string& origin) {
  toml::table root;
  try {
    root = toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    return fail(ErrorKind::kUsage, std::string(error.description()), "correct the TOML syntax",
                fmt::format("{}:{}:{}", origin, error.source().begin.line, error.source().begin.column));
  }
  if (const Result<void> ok = check_unknown(root, origin); !ok) {
    return tl::unexpected<Error>(ok.error());
  }
  GpuSpec spec;
  for (const auto& [name, target] :
       {std::pair<const char*, std::string*>{"id", &spec.id}, {"name", &spec.name}, {"note", &spec.note}}) {
    const auto value = root[name].value<std::string>();
    if (!value) {
      return fail(ErrorKind::kUsage, fmt::format("key \"{}\" is missing or not a string", name),
                  fmt::format("add {} = \"...\" at the top", name), origin + ":1");
    }
    *target = *value;
  }
  for (const Field& field : fields()) {
    const toml::node_view<toml::node> node = root.at_path(field.key);
    if (!node) {
      return fail(ErrorKind::kUsage, fmt::format("key \"{}\" is missing", field.key),
                  fmt::format("add {} in {} to section [{}]", field.key.substr(field.key.find('.') + 1), field.unit,
                              field.key.substr(0, field.key.find('.'))),
                  section_position(root, field, origin));
    }
    Result<Provenance> entry = read_entry(field, *node.node(), origin);
    if (!entry) {
      return tl::unexpected<Error>(entry.error());
    }
    field.store(spec, entry->value);
    spec.provenance.push_back(std::move(*entry));
  }
  if (Result<void> consistent = check_consistency(spec, origin); !consistent) {
    return tl::unexpected<Error>(consistent.error());
  }
  return spec;
}

Result<GpuSpec> load_gpu_spec(const std::string& path) {
  constexpr std::uintmax_t kLongestSpec = std::uintmax_t{1} << 20;
  std::error_code error;
  const auto refuse = [&path](std::string_view what) {
    return fail(ErrorKind::kUsage, fmt::format("GPU spec \"{}\" {}", path, what),
                "give a TOML file; model/specs/h200.toml is an example to copy, 'tilesim gpus' lists the shipped ones");
  };
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return refuse("does not exist");
  }
  if (!std::filesystem::is_regular_file(status)) {
    return refuse("is not a file");
  }
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error || bytes > kLongestSpec) {
    return refuse(error ? "cannot be read" : "is larger than 1 MiB");
  }
  if (bytes == 0) {
    return refuse("is empty");
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return refuse("cannot be read: check its permissions");
  }
  return parse_gpu_spec(text.str(), path);
}

std::vector<std::string> shipped_gpu_specs() {
  std::vector<std::string> ids;
  for (const EmbeddedSpec& spec : embedded_specs()) {
    ids.emplace_back(spec.id);
  }
  return ids;
}

Result<GpuSpec> find_gpu_spec(std::string_view name_or_path) {
  for (const EmbeddedSpec& spec : embedded_specs()) {
    if (spec.id == name_or_path) {
      return parse_gpu_spec(spec.text, fmt::format("{}.toml", spec.id));
    }
  }
  const std::string name(name_or_path);
  if (name.find('/') != std::string::npos || name.ends_with(".toml")) {
    return load_gpu_spec(name);
  }
  const std::vector<std::string> ids = shipped_gpu_specs();
  return fail(ErrorKind::kUsage, fmt::format("unknown GPU \"{}\"", name),
              suggestion(name, ids, "\"",
                         fmt::format("known: {}; or give the path of a spec file (*.toml)", fmt::join(ids, ", "))));
}

Result<void> override_gpu_spec(GpuSpec& spec, std::string_view key, std::string_view value) {
  const Field* field = find_field(key);
  if (field == nullptr) {
    return fail(ErrorKind::kUsage, fmt::format("unknown GPU key \"{}\"", key),
                suggestion(key, known_keys(), "\"", fmt::format("`tilesim gpus show {}` lists all keys", spec.id)));
  }
  const std::string text(value);
  char* end = nullptr;
  const double amount = std::strtod(text.c_str(), &end);
  const bool whole = text.empty() || *end != '\0' || (field->integer && amount != std::floor(amount));
  if (whole) {
    return fail(ErrorKind::kUsage,
                fmt::format("gpu.{} = \"{}\" is not {}", key, value, field->integer ? "an integer" : "a number"),
                fmt::format("give {} in {}", field->integer ? "an integer" : "a number", field->unit));
  }
  if (Result<void> ok = check_range(*field, amount, ""); !ok) {
    return ok;
  }
  GpuSpec changed = spec;
  field->store(changed, amount);
  if (Result<void> consistent = check_consistency(changed, "--set gpu." + std::string(key)); !consistent) {
    return consistent;
  }
  field->store(spec, amount);
  for (Provenance& provenance : spec.provenance) {
    if (provenance.key == key) {
      provenance.value = amount;
      provenance.source = "set on the command line";
      provenance.confidence = Confidence::kGuess;
      provenance.spread.reset();
    }
  }
  return {};
}

Result<void> set_gpu_number(GpuSpec& spec, Provenance number) {
  const Field* field = find_field(number.key);
  if (field == nullptr) {
    return fail(ErrorKind::kUsage, fmt::format("unknown GPU key \"{}\"", number.key),
                suggestion(number.key, known_keys(), "\"", "`tilesim gpus show h200` lists all keys"));
  }
  if (!number.unit.empty() && number.unit != field->unit) {
    return fail(ErrorKind::kUsage, fmt::format("{}: unit \"{}\" is not the one expected", number.key, number.unit),
                fmt::format("give the value in \"{}\"", field->unit));
  }
  number.unit = field->unit;
  if (field->integer) {
    number.value = std::round(number.value);
  }
  if (Result<void> ok = check_range(*field, number.value, ""); !ok) {
    return ok;
  }
  if (number.spread) {
    number.spread->least = std::min(number.spread->least, number.value);
    number.spread->most = std::max(number.spread->most, number.value);
  }
  field->store(spec, number.value);
  for (Provenance& provenance : spec.provenance) {
    if (provenance.key == number.key) {
      provenance = std::move(number);
      break;
    }
  }
  return {};
}

bool is_gpu_key(std::string_view key) { return find_field(key) != nullptr; }

bool is_integer_key(std::string_view key) {
  const Field* field = find_field(key);
  return field != nullptr && field->integer;
}

}  // namespace tilesim::model
