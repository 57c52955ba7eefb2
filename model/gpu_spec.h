// A GPU as data: every number that the analytic model and the simulator use, with unit, source and confidence.
// Specs are TOML files (model/specs/*.toml); a key is written  mio.queue_entries = { value = 12, unit = "requests",
// source = "...", confidence = "measured" }  under its [section]. Numbers are read once; nothing looks a key up by name
// while simulating.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu_spec_fields.h"
#include "model/result.h"

namespace tilesim::model {

enum class Confidence { kDatasheet, kMeasured, kFitted, kGuess };
[[nodiscard]] std::string_view to_string(Confidence confidence);

/// Where a number of a spec comes from.
struct Provenance {
  std::string key;  ///< "section.name"
  std::string unit;
  std::string source;
  Confidence confidence = Confidence::kGuess;
  double value = 0.0;
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

}  // namespace tilesim::model
