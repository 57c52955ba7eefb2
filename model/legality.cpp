#include "model/legality.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "model/legality_checks.h"
#include "model/occupancy.h"
#include "model/roofline.h"

namespace tilesim::model {
namespace {

constexpr std::int64_t kRegisterUnit = 8;
constexpr std::int64_t kWarpgroupThreads = 128;
constexpr std::int64_t kWarpgroupExtraRegisters = 25;  // beside the accumulators; CUTLASS pull request 2219

Result<detail::LegalityLimits> limits_of(const GpuSpec& gpu) {
  const auto limits = find_compute_capability(static_cast<int>(gpu.device.compute_capability_major),
                                              static_cast<int>(gpu.device.compute_capability_minor));
  if (!limits) return tl::unexpected(limits.error());
  detail::LegalityLimits result;
  result.gpu = gpu.name.empty() ? gpu.id : gpu.name;
  result.shared_bytes_per_cta = limits->shared_bytes_per_cta;
  result.shared_bytes_per_sm = limits->shared_bytes_per_sm;
  result.shared_reserved_per_cta = limits->shared_reserved_per_cta;
  result.warps_per_sm = limits->warps_per_sm;
  result.ctas_per_sm = limits->ctas_per_sm;
  result.registers_per_sm = kRegistersPerSm;
  result.has_async_copy = gpu.device.compute_capability_major >= 8;
  return result;
}

bool has_illegal(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity == Severity::kIllegal; });
}

bool in_range(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.rule == "range"; });
}

}  // namespace

bool Legality::legal() const { return !has_illegal(findings); }

Result<Legality> check_legality(const TileConfig& config, const Problem& problem, const GpuSpec& gpu) {
  const auto limits = limits_of(gpu);
  if (!limits) return tl::unexpected(limits.error());
  Legality result;
  const auto valid = validate_problem(problem);
  const Problem* known = valid ? &problem : nullptr;
  result.findings = detail::find_problems(config, known, *limits, false);
  if (in_range(result.findings)) result.shared = detail::shared_fit(config, *limits);
  if (!valid) {  // no tile can mend the problem
    result.findings.insert(result.findings.begin(),
                           {Severity::kIllegal, "problem", valid.error().message, valid.error().remedy});
  } else if (result.legal()) {
    result.nearest = config;
  } else {
    result.nearest = detail::nearest_legal(config, known, *limits);
  }
  return result;
}

Error to_error(const Legality& legality) {
  Error error;
  std::size_t more = 0;
  for (const Finding& finding : legality.findings) {
    if (finding.severity != Severity::kIllegal) continue;
    if (error.message.empty()) {
      error.message = finding.message;
      error.remedy = finding.remedy;
    } else {
      ++more;
    }
  }
  if (more > 0) error.message += fmt::format(" {} more problem{} of this kind.", more, more == 1 ? "" : "s");
  if (legality.nearest) error.remedy += fmt::format(" The nearest legal choice: {}", describe(*legality.nearest));
  return error;
}

std::string describe(const TileConfig& config) {
  std::string text =
      fmt::format("--family {} --tile {}x{}x{}", to_string(config.family), config.bm, config.bn, config.bk);
  text += config.family == Family::kSimt ? fmt::format(" --thread-tile {}x{}", config.tm, config.tn)
                                         : fmt::format(" --wm {} --wn {}", config.wm, config.wn);
  if (has_warp_tiles(config)) text += fmt::format(" --warp-tile {}x{}", config.wm, config.wn);
  text += fmt::format(" --stages {} --copy {} --vec {}", config.stages, to_string(config.copy), config.vec);
  if (config.pad_a != 0) text += fmt::format(" --pad-a {}", config.pad_a);
  if (config.pad_b != 0) text += fmt::format(" --pad-b {}", config.pad_b);
  if (config.swizzle != 0) text += fmt::format(" --swizzle {}", config.swizzle);
  if (config.register_cap != 0) text += fmt::format(" --regs {}", config.register_cap);
  if (config.min_ctas != 0) text += fmt::format(" --min-ctas {}", config.min_ctas);
  return text + fmt::format(" --raster {} --dtype {} --layout {}", to_string(config.raster), to_string(config.dtype),
                            to_string(config.layout));
}

std::int64_t row_alignment(std::int64_t leading_dimension, std::int64_t bytes_per_element) {
  constexpr std::int64_t kWidest = 16;
  if (leading_dimension < 1) return kWidest;
  const auto unit = static_cast<std::int64_t>(1) << std::countr_zero(static_cast<std::uint64_t>(leading_dimension));
  return std::min(kWidest, std::min(unit, kWidest) * bytes_per_element);
}

LeadingDimensions leading_dimensions(const Problem& problem, Layout layout) {
  return {a_transposed(layout) ? problem.m : problem.k, b_transposed(layout) ? problem.k : problem.n, problem.n};
}

WarpgroupBudget warpgroup_budget(std::int64_t tile_m, std::int64_t tile_n, std::int64_t consumers,
                                 std::int64_t producer_registers, std::int64_t consumer_registers) {
  WarpgroupBudget budget;
  const std::int64_t threads = std::max<std::int64_t>(1, consumers) * kWarpgroupThreads;
  budget.accumulators = ceil_div(tile_m * tile_n, threads);
  budget.demand = ceil_div(budget.accumulators + kWarpgroupExtraRegisters, kRegisterUnit) * kRegisterUnit;
  budget.total = kWarpgroupThreads * producer_registers + threads * consumer_registers;
  const std::int64_t left = std::int64_t{kRegistersPerSm} - kWarpgroupThreads * producer_registers;
  budget.most = std::clamp<std::int64_t>(left / threads / kRegisterUnit * kRegisterUnit, 0, kMaxRegistersPerThread);
  budget.launches = budget.total <= std::int64_t{kRegistersPerSm};
  budget.enough = budget.demand <= consumer_registers && consumer_registers <= kMaxRegistersPerThread;
  return budget;
}

}  // namespace tilesim::model
