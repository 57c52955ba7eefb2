#include "tools/lib/troubleshooting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/roofline.h"
#include "model/tile_layout.h"
#include "tools/lib/run.h"

namespace tilesim::app {

namespace {

double real(std::int64_t value) { return static_cast<double>(value); }
double percent(double part, double whole) { return whole > 0.0 ? 100.0 * part / whole : 0.0; }

void add_states(NamedMetrics& out, const KernelResult& kernel) {
  const auto shares = waiting_shares(kernel);
  double all = 0.0;
  for (const double state : kernel.state_per_issue) {
    all += state;
  }
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const auto name = sim::to_string(static_cast<sim::WarpState>(s));
    out[fmt::format("tilesim__waiting_share_{}.pct", name)] = 100.0 * shares[s];
    out[fmt::format("tilesim__time_share_{}.pct", name)] = percent(kernel.state_per_issue[s], all);
  }
  out["tilesim__barrier_share.pct"] = 100.0 * kernel.barrier_share;
}

void add_work(NamedMetrics& out, const KernelResult& kernel) {
  double wavefronts = 0.0;
  double loads = 0.0;
  double stores = 0.0;
  for (const SiteReport& site : kernel.sites) {
    if (site.shared) {
      wavefronts += site.wavefronts;
      (site.store ? stores : loads) += site.conflicts();
    }
  }
  out["tilesim__load_conflict_share.pct"] = percent(loads, wavefronts);
  out["tilesim__store_conflict_share.pct"] = percent(stores, wavefronts);
  const bool tensor = kernel.math != model::DataType::kF32;
  const double flops_per_product =
      2.0 * (tensor ? real(model::kMmaRows * model::kMmaColumns * model::mma_depth(kernel.math)) : isa::kWarpSize);
  out["tilesim__fma_share.pct"] = percent(kernel.flops / flops_per_product, kernel.instructions);
  out["tilesim__tensor"] = tensor ? 1.0 : 0.0;
  out["tilesim__percent_of_mma_sync_peak"] = tensor ? percent_of_peak(kernel) *
                                                          model::fma_per_cycle_and_sm(kernel.gpu, kernel.math) /
                                                          model::mma_sync_fma_per_cycle_and_sm(kernel.gpu, kernel.math)
                                                    : 0.0;
  out["tilesim__percent_of_peak"] = percent_of_peak(kernel);
  out["tilesim__idle_slots.pct"] = 100.0 - metric_value(kernel, "smsp__issue_active.avg.pct_of_peak_sustained_active");
  const auto& dram = kernel.gpu.dram;
  const double busy = metric_value(kernel, "dram__bytes_read.sum") / dram.read_bytes_per_second +
                      metric_value(kernel, "dram__bytes_write.sum") / dram.write_bytes_per_second;
  out["tilesim__dram_busy.pct"] = percent(busy, kernel.seconds);
}

void add_occupancy(NamedMetrics& out, const RunResult& r) {
  const model::Occupancy& o = r.kernel.occupancy;
  const auto limited_by = [&o](const char* name) {
    return std::find(o.limiters.begin(), o.limiters.end(), name) != o.limiters.end() ? 1.0 : 0.0;
  };
  out["tilesim__limited_by_registers"] = limited_by("registers");
  out["tilesim__limited_by_shared"] = limited_by("shared memory");
  out["tilesim__warps_per_scheduler"] = real(o.ctas * o.warps_per_cta) / real(r.kernel.gpu.issue.sub_partitions);
  out["tilesim__missing_ctas"] = std::max(0.0, real(r.sheet.residency.ctas_needed - o.ctas));
  out["tilesim__idle_sms.pct"] =
      100.0 - percent(real(r.sheet.whole.waves.working_sms), real(r.kernel.gpu.device.sm_count));
  out["tilesim__direct"] = model::uses_shared_memory(r.sheet.config) ? 0.0 : 1.0;
  out["tilesim__stages"] = real(r.sheet.config.stages);
  out["tilesim__spilled_bytes_per_thread"] = real(r.spilled_bytes);
}

void add_layouts(NamedMetrics& out, const model::TileSheet& sheet) {
  if (sheet.layouts.empty()) {
    return;
  }
  const auto best = std::min_element(sheet.layouts.begin(), sheet.layouts.end(),
                                     [](const auto& a, const auto& b) { return a.conflicts < b.conflicts; });
  const model::TileConfig& c = sheet.config;
  constexpr std::int64_t kColumns = 4;  // of FP32 in 16 bytes
  out["tilesim__bytes_between_columns"] = real(c.tn * model::element_bytes(c.dtype));
  out["tilesim__tall_rows"] = real(std::max<std::int64_t>(1, c.tm * c.tn / kColumns));
  out["tilesim__best_pad_a"] = real(best->pad_a);
  out["tilesim__best_pad_b"] = real(best->pad_b);
  out["tilesim__best_swizzle"] = real(best->swizzle);
  out["tilesim__best_conflicts"] = real(best->conflicts);
  out["tilesim__configured_conflicts"] = real(sheet.layouts.front().conflicts);
}

bool holds(const Condition& condition, const NamedMetrics& metrics) {
  const auto found = metrics.find(condition.metric);
  if (found == metrics.end()) {
    return false;
  }
  return condition.relation == Relation::kAtLeast ? found->second >= condition.threshold
                                                  : found->second < condition.threshold;
}

}  // namespace

NamedMetrics named_metrics(const RunResult& r) {
  NamedMetrics out;
  for (const auto& [name, metric] : r.kernel.metrics) {
    out[name] = metric.value;
  }
  for (const model::SheetEntry& entry : model::sheet_entries(r.sheet)) {
    out[fmt::format("tilesim__{}", entry.key)] = entry.value;
  }
  for (const GapPart& part : r.gap.parts) {
    out[fmt::format("tilesim__gap_{}.pct", part.key)] = percent(part.seconds, r.gap.seconds);
  }
  add_states(out, r.kernel);
  add_work(out, r.kernel);
  add_occupancy(out, r);
  add_layouts(out, r.sheet);
  const auto& loads = r.sheet.global_loads;
  out["tilesim__worst_sector_efficiency"] = 100.0 * std::min(loads[0].efficiency(), loads[1].efficiency());
  out["tilesim__worst_row_alignment"] = real(std::min(loads[0].row_alignment_bytes, loads[1].row_alignment_bytes));
  const model::Roofline& roofline = r.sheet.intensity.roofline;
  out["tilesim__roofline_limit.pct"] = percent(roofline.attainable, roofline.peak_flops);
  return out;
}

namespace {

/// Four digits, and all of a larger number's before the point, with what is counted: "1 CTA", "1.5 barriers".
std::string number_of(double value, std::string_view thing) {
  constexpr double kFourDigits = 1e4;
  std::string text = std::abs(value) < kFourDigits ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
  const bool one = text == "1";
  return thing.empty() ? text : fmt::format("{} {}{}", text, thing, one ? "" : "s");
}

}  // namespace

std::vector<Trouble> find_trouble(const NamedMetrics& metrics) {
  std::vector<Trouble> found;
  const auto is = [&metrics](std::string_view name) {
    const auto metric = metrics.find(name);
    return metric != metrics.end() && metric->second != 0.0;
  };
  const bool on_tensor_cores = is("tilesim__tensor");
  const bool direct = is("tilesim__direct");
  for (const TroubleRow& row : troubleshooting_table()) {
    const std::string_view instead = on_tensor_cores ? row.tensor_remedy : direct ? row.direct_remedy : "";
    if (instead == kDoesNotApply) {
      continue;
    }
    if (!std::all_of(row.when.begin(), row.when.end(), [&](const Condition& c) { return holds(c, metrics); })) {
      continue;
    }
    const Condition& first = row.when.front();
    const auto weight = metrics.find(row.weight);
    found.push_back(Trouble{
        std::string(row.key), std::string(row.symptom), std::string(first.metric), metrics.find(first.metric)->second,
        first.threshold, std::string(first.unit), fill_in(row.cause, metrics), std::string(row.confirm),
        fill_in(instead.empty() ? row.remedy : instead, metrics), weight == metrics.end() ? 0.0 : weight->second});
  }
  std::stable_sort(found.begin(), found.end(), [](const Trouble& a, const Trouble& b) { return a.weight > b.weight; });
  return found;
}

std::string fill_in(std::string_view text, const NamedMetrics& metrics) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    const std::size_t close = text.find('}', open == std::string_view::npos ? open : open + 1);
    if (close == std::string_view::npos) {
      break;
    }
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const std::size_t bar = std::min(inside.find('|'), inside.size());
    const auto found = metrics.find(inside.substr(0, bar));
    out += text.substr(0, open);
    out += found == metrics.end() ? std::string(text.substr(open, close - open + 1))
                                  : number_of(found->second, inside.substr(std::min(bar + 1, inside.size())));
    text.remove_prefix(close + 1);
  }
  return out += text;
}

}  // namespace tilesim::app
