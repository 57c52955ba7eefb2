// The JSON envelope that every result shares.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "model/gpu_spec.h"
#include "model/occupancy.h"

namespace tilesim::reports {

using Json = nlohmann::ordered_json;

/// `{schema_version, meta}`, for answers that no GPU takes part in.
[[nodiscard]] Json json_envelope(std::string_view command);

/// `{schema_version, meta, gpu}`: version and commit of the tool, the spec with the provenance of each number. Holds
/// neither time nor host, so that the same question gives the same bytes.
[[nodiscard]] Json json_document(std::string_view command, const model::GpuSpec& gpu);

/// The spec alone.
[[nodiscard]] Json json_of(const model::GpuSpec& gpu);

/// A metric: `{value, unit, kind}`; a value that is not finite is null.
[[nodiscard]] Json json_metric(double value, std::string_view unit, std::string_view kind);

/// Limits and limiters of an occupancy.
[[nodiscard]] Json json_of(const model::Occupancy& occupancy);

/// Text of a document, with a final newline.
[[nodiscard]] std::string json_text(const Json& json);

}  // namespace tilesim::reports
