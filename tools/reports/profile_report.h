// A profile, and a prediction beside it, as text, JSON and CSV.
#pragma once

#include <string>

#include "tools/cli/colour.h"
#include "tools/lib/profile_comparison.h"

namespace tilesim::reports {

/// What a profile holds: its form, the launches, how many metrics each; `all` lists the metrics too.
[[nodiscard]] std::string profile_text(const traces::NcuProfile& profile, bool all, const cli::Palette& palette);
[[nodiscard]] std::string profile_json(const traces::NcuProfile& profile);

/// Metric by metric predicted, measured, error; `all` also names what is not predicted.
[[nodiscard]] std::string comparison_text(const app::KernelResult& predicted, const traces::ProfiledLaunch& measured,
                                          const app::ProfileComparison& comparison, bool all,
                                          const cli::Palette& palette);
[[nodiscard]] std::string comparison_json(const app::KernelResult& predicted, const traces::ProfiledLaunch& measured,
                                          const app::ProfileComparison& comparison);
[[nodiscard]] std::string comparison_csv(const app::ProfileComparison& comparison);

}  // namespace tilesim::reports
