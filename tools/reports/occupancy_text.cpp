#include "tools/reports/occupancy_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/reports/text.h"

namespace tilesim::reports {

std::string occupancy_sentence(const model::Occupancy& o) {
  const std::string limiters = o.limiters.empty() ? "nothing" : fmt::format("{}", fmt::join(o.limiters, " and "));
  return fmt::format("{} {} per SM ({} of its warps), limited by {}", o.ctas, o.ctas == 1 ? "CTA" : "CTAs",
                     percent(100.0 * o.fraction), limiters);
}

std::string occupancy_table(const model::Occupancy& o, const cli::Palette& palette) {
  Table table({false, true, false, false});
  table.add({"resource", "CTAs", "", "a CTA takes"});
  const auto row = [&](const std::string& name, const std::string& ctas, const std::string& takes) {
    const bool limits = std::find(o.limiters.begin(), o.limiters.end(), name) != o.limiters.end();
    table.add({name, ctas, limits ? "<- limiter" : "", takes});
  };
  row("registers", limit(o.by_registers),
      fmt::format("{} ({} per thread)", o.registers_per_cta, o.registers_per_thread));
  row("shared memory", limit(o.by_shared),
      fmt::format("{} B of {} KB, with what the system reserves", o.shared_bytes_per_cta, o.carveout_kb));
  row("warps", limit(o.by_warps), fmt::format("{}", o.warps_per_cta));
  row("CTAs", limit(o.by_ctas), "1");
  const std::string uncapped = o.by_barriers == o.by_barriers_capped
                                   ? ""
                                   : fmt::format("; {} if not capped at the CTA limit", limit(o.by_barriers));
  row("barriers", limit(o.by_barriers_capped), fmt::format("named barriers{}", uncapped));
  return table.text(palette);
}

}  // namespace tilesim::reports
