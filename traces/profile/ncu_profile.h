// Profiles that users export from Nsight Compute, in any of the forms that `ncu` prints them in:
//   --csv                one row per metric and launch ("Metric Name","Metric Unit","Metric Value"), by the names of
//                        metrics or by the labels of the report's sections
//   --csv --page raw     one row per launch, one column per metric, a row of units above
//   (text)               the details page, tables of three columns under "Section: ...", or the raw page, one table per
//                        launch, whose long numbers go on in the next line
// Also `metric,unit,value` of one launch, as in traces/calibration/h200.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "sim/isa/stream.h"

namespace tilesim::traces {

enum class ProfileForm { kLong, kWide, kDetails };
/// "CSV, a row per metric", ...
[[nodiscard]] const char* to_string(ProfileForm form);

struct ProfileMetric {
  double value = 0.0;  ///< in the base unit, if that is known
  std::string unit;    ///< base unit, or as printed if it is not known
  bool unit_known = true;
  double half_digit = 0.0;  ///< half of the last digit that is printed, in the unit: what two forms may differ by
};

struct ProfiledLaunch {
  std::string id;      ///< as the profile numbers it, else counted from 0
  std::string kernel;  ///< as printed: demangled, with or without parameters
  std::optional<isa::Dim3> grid;
  std::optional<isa::Dim3> block;
  std::map<std::string, ProfileMetric> metrics;  ///< by Nsight Compute's names; the first of several rows
};

struct NcuProfile {
  ProfileForm form = ProfileForm::kLong;
  std::vector<ProfiledLaunch> launches;  ///< at least one, each with at least one metric
  std::size_t without_number = 0;        ///< rows that say n/a, or a text
  std::size_t unknown_labels = 0;        ///< rows whose label is not known
};

/// Reads a file, which may be compressed. What a program printed in between and lines of the profiler itself
/// ("==PROF== ...") are passed over. Errors (kUsage) with file and line: no such form in it, records with too many or
/// too few fields, a missing row of units, numbers with decimal points beside such with decimal commas, UTF-16.
[[nodiscard]] Result<NcuProfile> read_ncu_profile(const std::filesystem::path& path);

/// The same from text; `file` is for messages.
[[nodiscard]] Result<NcuProfile> parse_ncu_profile(std::string_view text, const std::string& file);

/// The launch whose kernel's name holds `kernel` and whose id is `id`, as far as they are given. Errors (kUsage): none
/// or several do; the message lists what there is.
[[nodiscard]] Result<const ProfiledLaunch*> choose_launch(const NcuProfile& profile, const std::string& kernel,
                                                          const std::string& id);

/// The whole number that prints as this one and has the most factors of two: sizes of shared memory are printed in
/// Kbyte (49.15), and what a kernel is launched with (49,152) is rounder than what that reads as. For values up to
/// 2^53.
[[nodiscard]] std::int64_t printed_size(const ProfileMetric& metric);

/// SM clock in MHz: the frequency, which ncu takes from one pass; without it elapsed cycles over time, which may be of
/// two (a clock of 1,993 MHz on a card of 1,980); none without either.
[[nodiscard]] std::optional<double> clock_mhz(const ProfiledLaunch& launch);

}  // namespace tilesim::traces
