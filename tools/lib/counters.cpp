#include "tools/lib/counters.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "tools/lib/statistics.h"

namespace tilesim::app {

namespace {

constexpr std::string_view kStatePrefix = "smsp__average_warps_issue_stalled_";
constexpr std::string_view kStateSuffix = "_per_issue_active.ratio";
constexpr const char* kInstructions = "smsp__inst_executed.sum";
constexpr const char* kConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
constexpr const char* kDramRead = "dram__bytes_read.sum";
constexpr const char* kDramWrite = "dram__bytes_write.sum";
constexpr double kPercent = 100.0;

std::optional<double> value_of(const Counters& counters, const std::string& name) {
  const auto found = counters.find(name);
  return found == counters.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> dram_bytes(const Counters& counters) {
  const auto read = value_of(counters, kDramRead);
  const auto write = value_of(counters, kDramWrite);
  return read && write ? std::optional(*read + *write) : std::nullopt;
}

/// A counter that is reported, and which runs count.
struct Rule {
  std::string counter;
  std::string condition;
  std::function<std::optional<double>(const Counters&)> value;
  std::function<bool(const Counters& measured, double value)> counts;
};

std::vector<Rule> rules() {
  const auto plain = [](const char* name) {
    return Rule{name, "", [name](const Counters& c) { return value_of(c, name); },
                [](const Counters&, double) { return true; }};
  };
  constexpr double kLeastConflicts = 0.01;
  constexpr double kLeastDramBytes = 50e6;
  return {plain(kInstructions),
          plain("launch__registers_per_thread"),
          {kConflicts, "measured >= 1 % of the instructions", [](const Counters& c) { return value_of(c, kConflicts); },
           [](const Counters& measured, double value) {
             const auto instructions = value_of(measured, kInstructions);
             return instructions && value >= kLeastConflicts * *instructions;
           }},
          {"dram__bytes_read.sum + dram__bytes_write.sum", "measured > 50 MB", dram_bytes,
           [](const Counters&, double value) { return value > kLeastDramBytes; }},
          plain("lts__t_sector_op_read_hit_rate.pct"),
          plain("l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"),
          plain("sm__warps_active.avg.pct_of_peak_sustained_active"),
          plain("smsp__issue_active.avg.pct_of_peak_sustained_active")};
}

/// Largest distance of a share, 0 to 1.
double worst_distance(const Counters& a, const Counters& b) {
  double worst = 0.0;
  for (const auto& [state, share] : a) {
    worst = std::max(worst, std::abs(share - value_of(b, state).value_or(0.0)));
  }
  return worst;
}

}  // namespace

Counters predicted_counters(const KernelResult& r) {
  Counters c;
  for (const auto& [name, metric] : r.metrics) {
    c[name] = metric.value;
  }
  const auto sub_partitions = static_cast<double>(r.gpu.issue.sub_partitions);
  const auto sms = static_cast<double>(r.gpu.device.sm_count);
  const double issue_share = c["smsp__issue_active.avg.pct_of_peak_sustained_active"] / kPercent;
  double latency = 0.0;
  for (const double state : r.state_per_issue) {
    latency += state;
  }
  const double elapsed_rate = r.cycles_elapsed_max > 0.0 ? r.instructions / sms / r.cycles_elapsed_max : 0.0;
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, double>>{
           {"gpc__cycles_elapsed.max", r.cycles_elapsed_max},
           {"sm__cycles_active.sum", r.cycles_active_avg * sms},
           {"smsp__cycles_active.avg", r.cycles_active_avg},
           {"sm__inst_executed.sum", r.instructions},
           {"smsp__inst_executed.avg", r.instructions / (sms * sub_partitions)},
           {"smsp__issue_active.avg.per_cycle_active", issue_share},
           {"smsp__issue_inst0.avg.pct_of_peak_sustained_active", kPercent * (1.0 - issue_share)},
           {"sm__inst_executed.avg.per_cycle_active", sub_partitions * issue_share},
           {"sm__inst_executed.avg.per_cycle_elapsed", elapsed_rate},
           {"smsp__average_warp_latency_per_inst_issued.ratio", latency},
           {"dram__bytes.sum", c[kDramRead] + c[kDramWrite]},
           {"dram__bytes.sum.per_second", r.seconds > 0.0 ? (c[kDramRead] + c[kDramWrite]) / r.seconds : 0.0},
           {"sm__maximum_warps_avg_per_active_cycle",
            static_cast<double>(r.occupancy.ctas * r.occupancy.warps_per_cta)},
           {"sm__maximum_warps_per_active_cycle_pct", kPercent * r.occupancy.fraction},
           {"launch__grid_size", static_cast<double>(r.launch.grid.count())},
           {"launch__block_size", static_cast<double>(r.launch.block.count())},
           {"launch__shared_mem_config_size", static_cast<double>(r.occupancy.carveout_kb) * 1024.0}}) {
    c[name] = value;
  }
  return c;
}

ErrorScale scale_of(const std::string& metric) {
  if (metric.starts_with("launch__") && metric != "launch__waves_per_multiprocessor") {
    return ErrorScale::kCount;
  }
  return metric.ends_with(".pct") || metric.find(".pct_of_") != std::string::npos || metric.ends_with("_pct")
             ? ErrorScale::kPoints
             : ErrorScale::kRelative;
}

double error_on(ErrorScale scale, double predicted, double measured) {
  return scale == ErrorScale::kRelative ? relative_error(predicted, measured) : predicted - measured;
}

std::vector<CounterScore> counter_scores(std::span<const CounterPair> pairs) {
  std::vector<CounterScore> scores;
  for (const Rule& rule : rules()) {
    CounterScore score{rule.counter, scale_of(rule.counter), 0, 0, 0.0, 0.0, 0.0, rule.condition};
    for (const CounterPair& pair : pairs) {
      const auto predicted = rule.value(pair.predicted);
      const auto measured = rule.value(pair.measured);
      if (!predicted || !measured || !rule.counts(pair.measured, *measured) ||
          (score.scale == ErrorScale::kRelative && *measured <= 0.0)) {
        continue;
      }
      const double error = error_on(score.scale, *predicted, *measured);
      ++score.count;
      score.exact += std::abs(error) <= (score.scale == ErrorScale::kRelative ? kExact : 0.0) ? 1 : 0;
      score.mean += std::abs(error);
      score.bias += error;
      score.worst = std::abs(error) > std::abs(score.worst) ? error : score.worst;
    }
    if (score.count > 0) {
      score.mean /= static_cast<double>(score.count);
      score.bias /= static_cast<double>(score.count);
      scores.push_back(std::move(score));
    }
  }
  return scores;
}

Counters waiting_shares(const Counters& counters) {
  Counters shares;
  double whole = 0.0;
  for (const auto& [name, value] : counters) {
    if (!name.starts_with(kStatePrefix) || !name.ends_with(kStateSuffix)) {
      continue;
    }
    const std::string state = name.substr(kStatePrefix.size(), name.size() - kStatePrefix.size() - kStateSuffix.size());
    if (state != "selected" && state != "not_selected") {
      whole += shares[state] = value;
    }
  }
  if (whole <= 0.0) {
    return {};
  }
  for (auto& [state, share] : shares) {
    share /= whole;
  }
  return shares;
}

std::string largest_wait(const Counters& shares) {
  const auto largest =
      std::max_element(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return largest == shares.end() ? std::string() : largest->first;
}

std::optional<WaitingScore> waiting_score(std::span<const CounterPair> pairs) {
  WaitingScore score;
  for (const CounterPair& pair : pairs) {
    const Counters predicted = waiting_shares(pair.predicted);
    const Counters measured = waiting_shares(pair.measured);
    if (predicted.empty() || measured.empty()) {
      continue;
    }
    const double points = kPercent * std::max(worst_distance(predicted, measured), worst_distance(measured, predicted));
    ++score.count;
    score.largest_right += largest_wait(predicted) == largest_wait(measured) ? 1 : 0;
    score.worst_points = std::max(score.worst_points, points);
    score.mean_points += points;
  }
  if (score.count == 0) {
    return std::nullopt;
  }
  score.mean_points /= static_cast<double>(score.count);
  return score;
}

}  // namespace tilesim::app
