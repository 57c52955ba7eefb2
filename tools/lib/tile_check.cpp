#include "tools/lib/tile_check.h"

#include <fmt/format.h>

#include "model/legality.h"

namespace tilesim::app {

namespace {

Error illegal(const model::Legality& legality, const model::GpuSpec& gpu) {
  Error error{ErrorKind::kUsage, fmt::format("the configuration is illegal on {}:", gpu.id), "", ""};
  for (const model::Finding& finding : legality.findings) {
    if (finding.severity == model::Severity::kIllegal) {
      error.message += fmt::format("\n  - {}{}{}", finding.message, finding.remedy.empty() ? "" : " ", finding.remedy);
    }
  }
  error.remedy = legality.nearest ? fmt::format("the nearest legal choice: {}", model::describe(*legality.nearest))
                                  : "no legal configuration is near; see the reasons above";
  return error;
}

}  // namespace

Result<model::TileSheet> check_tile(const model::TileConfig& config, const model::Problem& problem,
                                    const model::GpuSpec& gpu, std::optional<double> clock_mhz,
                                    std::optional<int> carveout_kb) {
  const auto legality = model::check_legality(config, problem, gpu);
  if (!legality) {
    return tl::unexpected<Error>(legality.error());
  }
  if (!legality->legal()) {
    return tl::unexpected<Error>(illegal(*legality, gpu));
  }
  return model::make_tile_sheet(config, problem, gpu, clock_mhz.value_or(0.0), carveout_kb);
}

std::string tile_name(const model::TileConfig& c) {
  const bool simt = c.family == model::Family::kSimt;
  return fmt::format("{}x{}x{} tile with {}x{} per {}{}{}", c.bm, c.bn, c.bk, simt ? c.tm : c.wm, simt ? c.tn : c.wn,
                     simt ? "thread" : "warp",
                     model::has_warp_tiles(c) ? fmt::format(", {}x{} per warp", c.wm, c.wn) : std::string(),
                     model::uses_shared_memory(c) ? "" : ", no shared memory");
}

}  // namespace tilesim::app
