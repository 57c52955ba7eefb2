#include "tools/reports/gpus_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/reports/text.h"

namespace tilesim::reports {

namespace {

constexpr int kWholeDigits = 15;

}  // namespace

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

std::string spread_text(const model::Spread& spread) {
  return fmt::format("{}..{}", plain(spread.least), plain(spread.most));
}

std::string gpu_table(const model::GpuSpec& spec, const cli::Palette& palette) {
  std::string text = fmt::format("{} - {}\n", palette.bold(spec.id), spec.name);
  text += paragraph("", spec.note);
  text += fmt::format("{} numbers: {}\n\n", spec.provenance.size(), confidence_counts(spec));
  const bool spreads = std::any_of(spec.provenance.begin(), spec.provenance.end(),
                                   [](const model::Provenance& p) { return p.spread.has_value(); });
  const auto row = [spreads](std::vector<std::string> cells) {
    if (!spreads) {
      cells.erase(cells.begin() + 2);
    }
    return cells;
  };
  Table table(spreads ? std::vector<bool>{false, true, true, false, false, false}
                      : std::vector<bool>{false, true, false, false, false});
  table.add(row({"key", "value", "spread", "unit", "confidence", "source"}));
  for (const model::Provenance& p : spec.provenance) {
    const bool guess = p.confidence == model::Confidence::kGuess;
    const std::string confidence(to_string(p.confidence));
    table.add(row({p.key, plain(p.value, kWholeDigits), p.spread ? spread_text(*p.spread) : "",
                   p.unit == "1" ? "" : p.unit, guess ? confidence + " (!)" : confidence, p.source}));
  }
  return text + table.text(palette);
}

}  // namespace tilesim::reports
