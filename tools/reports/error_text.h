// Errors of metrics on their scales, and fields of CSV files.
#pragma once

#include <string>
#include <string_view>

#include "tools/lib/counters.h"

namespace tilesim::reports {

/// "+4.20 %", "-1.30 pt" for points, "+2.00" for differences of counts.
[[nodiscard]] std::string error_text(app::ErrorScale scale, double error);
/// The same without a sign, for means of sizes.
[[nodiscard]] std::string size_text(app::ErrorScale scale, double size);
/// "fraction", "points", "difference": for files.
[[nodiscard]] const char* error_unit(app::ErrorScale scale);

/// A field of a CSV file, quoted where RFC 4180 wants it.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace tilesim::reports
