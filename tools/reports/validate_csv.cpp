#include <fmt/format.h>

#include "tools/reports/error_text.h"
#include "tools/reports/validate_report.h"

namespace tilesim::reports {

std::string validate_csv(const ValidationReport& report) {
  std::string text =
      "name,family,dtype,m,n,k,split_k,code,clock_mhz,metric,predicted,measured,spread,error,error_unit\n";
  for (const app::ValidationRow& row : report.rows) {
    if (row.part != traces::Part::kDevelopment) {
      continue;
    }
    for (const auto& [name, measured] : row.measured) {
      const auto predicted = row.predicted.find(name);
      if (predicted == row.predicted.end()) {
        continue;
      }
      const app::ErrorScale scale = app::scale_of(name);
      const bool relative = scale == app::ErrorScale::kRelative;
      const auto spread = row.spread.find(name);
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(row.name), csv_field(row.family),
          csv_field(row.dtype), row.shape[0], row.shape[1], row.shape[2], row.split_k, to_string(row.code),
          row.clock_mhz, csv_field(name), predicted->second, measured,
          spread == row.spread.end() ? "" : fmt::format("{}", spread->second),
          relative && measured == 0.0 ? "" : fmt::format("{}", app::error_on(scale, predicted->second, measured)),
          error_unit(scale));
    }
  }
  return text;
}

}  // namespace tilesim::reports
