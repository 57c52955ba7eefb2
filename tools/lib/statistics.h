// Figures of merit of predictions against measurements. Pure functions; both numbers of a sample are positive.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace tilesim::app {

struct Sample {
  std::string name;
  double predicted = 0.0;
  double measured = 0.0;
};

/// predicted / measured - 1.
[[nodiscard]] double relative_error(double predicted, double measured);

/// Of relative errors; all are fractions, 0.05 is 5 %.
struct ErrorStatistics {
  std::size_t count = 0;
  double mape = 0.0;    ///< mean of the absolute errors
  double median = 0.0;  ///< of the absolute errors; the mean of the middle two where there are two
  double bias = 0.0;    ///< mean of the errors with their signs
  double worst = 0.0;   ///< error that is largest in size, with its sign
  std::string worst_name;
  std::optional<double> pearson;  ///< of the logarithms; none for fewer than three samples or without any spread
};

/// None without samples.
[[nodiscard]] std::optional<ErrorStatistics> error_statistics(std::span<const Sample> samples);

/// Measured numbers within 2 % of each other are not told apart.
inline constexpr double kTie = 0.02;

/// Kendall's tau: of all pairs that are measured apart, those predicted in the measured order less those predicted in
/// the opposite order, over their number. A pair that is predicted equal counts in the number only. None if no pair is
/// measured apart.
[[nodiscard]] std::optional<double> kendall_tau(std::span<const Sample> samples, double tie = kTie);

struct Regret {
  double value = 0.0;  ///< measured time of our pick over the least measured one, less 1
  std::string pick;    ///< least predicted; of equal ones the slowest, so that luck does not count
  std::string best;    ///< least measured
};

/// What taking the least predicted sample costs. None without samples.
[[nodiscard]] std::optional<Regret> top1_regret(std::span<const Sample> samples);

}  // namespace tilesim::app
