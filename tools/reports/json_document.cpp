#include "tools/reports/json_document.h"

#include <cmath>

#include "tools/cli/version.h"

namespace tilesim::reports {

namespace {

constexpr std::string_view kSchemaVersion = "1.0.0";
constexpr double kLargestExactInteger = 9007199254740992.0;  // 2^53

/// Whole numbers without a fraction, so that counts look like counts; null for what JSON cannot hold.
Json number(double value) {
  if (!std::isfinite(value)) {
    return nullptr;
  }
  if (std::floor(value) == value && std::abs(value) < kLargestExactInteger) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

Json limit_value(std::int64_t value) { return value >= model::Occupancy::kUnlimited ? Json(nullptr) : Json(value); }

}  // namespace

Json json_metric(double value, std::string_view unit, std::string_view kind) {
  return Json{{"value", number(value)}, {"unit", unit}, {"kind", kind}};
}

Json json_of(const model::GpuSpec& gpu) {
  Json json{{"id", gpu.id}, {"name", gpu.name}, {"note", gpu.note}};
  Json& numbers = json["numbers"] = Json::object();
  for (const model::Provenance& p : gpu.provenance) {
    numbers[p.key] = Json{
        {"value", number(p.value)}, {"unit", p.unit}, {"source", p.source}, {"confidence", to_string(p.confidence)}};
    if (p.spread) {
      numbers[p.key]["spread"] = Json::array({number(p.spread->least), number(p.spread->most)});
    }
  }
  return json;
}

Json json_of(const model::Occupancy& o) {
  return Json{{"resident_ctas_per_sm", o.ctas},
              {"limit_registers", limit_value(o.by_registers)},
              {"limit_shared_mem", limit_value(o.by_shared)},
              {"limit_warps", limit_value(o.by_warps)},
              {"limit_blocks", limit_value(o.by_ctas)},
              {"limit_barriers", limit_value(o.by_barriers_capped)},
              {"limit_barriers_uncapped", limit_value(o.by_barriers)},
              {"limiters", o.limiters},
              {"warps_per_cta", o.warps_per_cta},
              {"registers_per_thread_allocated", o.registers_per_thread},
              {"registers_per_cta_allocated", o.registers_per_cta},
              {"shared_bytes_per_cta_allocated", o.shared_bytes_per_cta},
              {"carveout_kb", o.carveout_kb},
              {"occupancy_percent", number(100.0 * o.fraction)}};
}

Json json_envelope(std::string_view command) {
  const cli::Version version = cli::version();
  Json json;
  json["schema_version"] = kSchemaVersion;
  json["meta"] = Json{{"tool", "tilesim"},
                      {"command", command},
                      {"version", version.version},
                      {"git", version.git},
                      {"dirty", version.dirty}};
  return json;
}

Json json_document(std::string_view command, const model::GpuSpec& gpu) {
  Json json = json_envelope(command);
  json["gpu"] = json_of(gpu);
  return json;
}

std::string json_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace tilesim::reports
