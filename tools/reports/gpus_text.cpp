#include "tools/reports/gpus_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/reports/text.h"

namespace tilesim::reports {

std::string confidence_counts(const model::GpuSpec& spec) {
  using model::Confidence;
  std::string text;
  for (const Confidence c : {Confidence::kDatasheet, Confidence::kMeasured, Confidence::kFitted, Confidence::kGuess}) {
    const auto count = std::count_if(spec.provenance.begin(), spec.provenance.end(),
                                     [c](const model::Provenance& p) { return p.confidence == c; });
    if (count > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, to_string(c));
    }
  }
  return text;
}

std::string gpu_list(const cli::Palette& palette) {
  Table table({false, false, true, true, false});
  table.add({"name", "product", "SMs", "CC", "numbers"});
  for (const std::string& id : model::shipped_gpu_specs()) {
    const auto spec = model::find_gpu_spec(id);
    if (spec) {
      table.add({id, spec->name, fmt::format("{}", spec->device.sm_count),
                 fmt::format("{}.{}", spec->device.compute_capability_major, spec->device.compute_capability_minor),
                 confidence_counts(*spec)});
    }
  }
  return table.text(palette) +
         "\n'tilesim gpus show NAME' prints every number with its source; a copy of a spec file is a new GPU.\n";
}

std::string gpu_table(const model::GpuSpec& spec, const cli::Palette& palette) {
  std::string text = fmt::format("{} - {}\n", palette.bold(spec.id), spec.name);
  text += paragraph("", spec.note);
  text += fmt::format("{} numbers: {}\n\n", spec.provenance.size(), confidence_counts(spec));
  Table table({false, true, false, false, false});
  table.add({"key", "value", "unit", "confidence", "source"});
  for (const model::Provenance& p : spec.provenance) {
    const bool guess = p.confidence == model::Confidence::kGuess;
    const std::string confidence(to_string(p.confidence));
    table.add(
        {p.key, plain(p.value, 15), p.unit == "1" ? "" : p.unit, guess ? confidence + " (!)" : confidence, p.source});
  }
  return text + table.text(palette);
}

}  // namespace tilesim::reports
