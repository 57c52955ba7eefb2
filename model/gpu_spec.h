// A GPU as data: every number that the analytic model and the simulator use, with unit, source and confidence.
// Specs are TOML files (model/specs/*.toml); a key is written  mio.queue_entries = { value = 12, unit = "requests",
// source = "...", confidence = "measured" }  under its [section]; a measured one may add  spread = [11, 12] , the least
// and the most that was measured. Numbers are read once; nothing looks a key up by name while simulating.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu_spec_fields.h"
#include "model/result.h"

namespace tilesim::model {

enum class Confidence { kDatasheet, kMeasured, kFitted, kGuess };
[[nodiscard]] std::string_view to_string(Confidence confidence);

/// The least and the most of repeated measurements, in the unit of their number.
struct Spread {
  double least = 0.0;
  double most = 0.0;
};

/// Where a number of a spec comes from.
struct Provenance {
  std::string key;  ///< "section.name"
  std::string unit;
  std::string source;
  Confidence confidence = Confidence::kGuess;
  double value = 0.0;
  std::optional<Spread> spread;  ///< holds `value`
};

struct GpuSpec {
  using Int = std::int64_t;
  using Real = double;
#define TILESIM_DECLARE_FIELD(name, type, unit, minimum, maximum, meaning) type name{};
#define TILESIM_DECLARE_SECTION(section, FIELDS) \
  struct {                                       \
    FIELDS(TILESIM_DECLARE_FIELD)                \
  } section;
  TILESIM_SPEC_SECTIONS(TILESIM_DECLARE_SECTION)
#undef TILESIM_DECLARE_SECTION
#undef TILESIM_DECLARE_FIELD

  std::string id;                      ///< the name users pass to --gpu
  std::string name;                    ///< the product's name
  std::string note;                    ///< one sentence on what the spec stands for
  std::vector<Provenance> provenance;  ///< one entry per number, in the order of the field list
};

/// Reads a spec file. Refuses unknown, missing, negative (out of range) and mistyped keys with file, line and key, and
/// names the nearest known key.
[[nodiscard]] Result<GpuSpec> load_gpu_spec(const std::string& path);

/// The same from text; `origin` stands for the file name in messages.
[[nodiscard]] Result<GpuSpec> parse_gpu_spec(std::string_view text, const std::string& origin);

/// A shipped spec by id ("h200"), or the file that `name_or_path` names. Shipped specs are compiled in.
[[nodiscard]] Result<GpuSpec> find_gpu_spec(std::string_view name_or_path);

/// Ids of the shipped specs, in a fixed order.
[[nodiscard]] std::vector<std::string> shipped_gpu_specs();

/// Overrides one number: key "section.name", as `--set gpu.section.name=VALUE` does. The provenance then says so.
[[nodiscard]] Result<void> override_gpu_spec(GpuSpec& spec, std::string_view key, std::string_view value);

/// Replaces one number with its provenance; `number.unit` may be left empty. A number that is an integer is rounded,
/// and its spread, if any, made to hold it. Errors (kUsage): an unknown key, another unit, a value out of range. Rules
/// between numbers are not checked: parse_gpu_spec(gpu_spec_text(spec)) does, when all are set.
[[nodiscard]] Result<void> set_gpu_number(GpuSpec& spec, Provenance number);

/// The spec as the text of a spec file. Numbers are written so that reading them gives the same value again.
[[nodiscard]] std::string gpu_spec_text(const GpuSpec& spec);

/// Whether a key names a number, and whether that is an integer.
[[nodiscard]] bool is_gpu_key(std::string_view key);
[[nodiscard]] bool is_integer_key(std::string_view key);

}  // namespace tilesim::model
