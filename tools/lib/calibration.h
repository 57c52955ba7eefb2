// A GPU spec from rows of microbenchmarks. Pure functions; tools/tilesim/calibrate.cpp runs the programs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/gpu_spec.h"
#include "model/result.h"
#include "tools/lib/calibration_table.h"
#include "tools/lib/measured_rows.h"

namespace tilesim::app {

/// One number of the spec: what the shipped spec says, and what the rows say.
struct CalibratedNumber {
  model::Provenance shipped;
  std::optional<model::Provenance> measured;  ///< with its spread; none if no row makes it
  std::string kept_because;                   ///< why it was not measured; empty if it was
  bool unfit = false;                         ///< rows make it, but the spec cannot hold what they say

  /// measured / shipped - 1; none where that is not defined.
  [[nodiscard]] std::optional<double> difference() const;
  /// The shipped value, with the spread that the spec gives it, overlaps what was measured: rounded as the number is,
  /// and by kWrittenTo, to which specs are written.
  [[nodiscard]] bool within_spread() const;
  static constexpr double kWrittenTo = 1e-3;
};

struct Calibration {
  model::GpuSpec spec;                    ///< the shipped one with every measured number replaced
  std::vector<CalibratedNumber> numbers;  ///< one per number of the spec, in its order
  std::size_t rows = 0;                   ///< of all runs
  std::size_t rows_used = 0;              ///< that a rule fits
};

/// Applies the rules to every run. A number is the median over the runs that have its rows, its spread the least and
/// the most of them. Errors (kUsage) with file and line: rows of one rule in several units, a unit that the scale does
/// not explain, several rows for a rule of one, params without a number or one number only for a line. A number that
/// the spec cannot hold (out of range, or against another number) is no error: the shipped one stays, `unfit`, with the
/// reason.
[[nodiscard]] Result<Calibration> calibrate(const model::GpuSpec& shipped, const CalibrationTable& table,
                                            const std::vector<MeasuredRun>& runs, const std::string& id);

/// A row that several runs have.
struct RepeatedRow {
  std::string name;
  std::string param;
  std::string unit;
  std::vector<double> values;  ///< one per run that has it
  /// The gap between the spreads of the runs furthest apart, over their mean; 0 if all of them overlap.
  double gap = 0.0;
};

/// What a run lacks of the rows that others have.
struct LackingRun {
  std::string file;
  std::size_t rows = 0;
  std::vector<std::string> names;  ///< of which it has no row at all, in alphabetical order
};

struct Agreement {
  std::vector<RepeatedRow> rows;    ///< in the order of the first run
  std::vector<LackingRun> lacking;  ///< runs that lack rows
  std::size_t overlapping = 0;      ///< rows with no gap
  std::size_t in_one_run = 0;       ///< rows that only one run has
};

/// How far runs repeat each other. Errors (kUsage): a row with two units.
[[nodiscard]] Result<Agreement> agreement_of(const std::vector<MeasuredRun>& runs);

/// Several runs as one: of each row the median, and all of the spread. `runs` is not empty.
[[nodiscard]] MeasuredRun combined(const std::vector<MeasuredRun>& runs, const std::string& name);

}  // namespace tilesim::app
