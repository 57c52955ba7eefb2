#include "model/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include "model/tile_layout.h"

namespace tilesim::model {
namespace {

constexpr std::int64_t kMaxParts = 65535;  // gridDim.z
constexpr std::int64_t kMaxElementBytes = 16;

std::optional<std::int64_t> checked_product(std::span<const std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) return std::nullopt;
  }
  return product;
}

std::optional<std::int64_t> checked_sum(std::span<const std::optional<std::int64_t>> terms) {
  std::int64_t sum = 0;
  for (const auto& term : terms) {
    if (!term || __builtin_add_overflow(sum, *term, &sum)) return std::nullopt;
  }
  return sum;
}

Result<void> validate_range(std::string_view name, std::int64_t value, std::int64_t maximum, std::string_view option) {
  if (value >= 1 && value <= maximum) return {};
  const std::string_view what = value == 0 ? "zero" : value < 0 ? "negative" : "too large";
  return fail(ErrorKind::kUsage, fmt::format("{} = {} is {}.", name, value, what),
              fmt::format("Pass {} from 1 to {}.", option, maximum));
}

std::optional<std::int64_t> flops_with(const Problem& p, std::int64_t k) {
  return checked_product(std::array<std::int64_t, 5>{2, p.m, p.n, k, p.batch});
}

std::optional<GemmBytes> checked_bytes(const Problem& p) {
  const std::int64_t bytes = element_bytes(p.dtype);
  const auto a = checked_product(std::array<std::int64_t, 4>{p.m, p.k, p.batch, bytes});
  const auto b = checked_product(std::array<std::int64_t, 4>{p.k, p.n, p.batch, bytes});
  const auto c = checked_product(std::array<std::int64_t, 4>{p.m, p.n, stored_products(p), output_bytes(p)});
  const std::optional<std::int64_t> c_read = p.beta != 0.0 ? c : 0;
  if (!checked_sum(std::array{a, b, c, c_read})) return std::nullopt;
  return GemmBytes{*a, *b, *c, *c_read};
}

Result<void> validate_products(const Problem& p) {
  constexpr std::string_view kRemedy = "Use smaller extents, or cut the problem into parts and ask for one of them.";
  if (!flops_with(p, p.k + 1)) {
    return fail(ErrorKind::kUsage,
                fmt::format("2*M*N*(K+1)*batch for M = {}, N = {}, K = {}, batch = {} exceeds {} FLOP.", p.m, p.n, p.k,
                            p.batch, std::numeric_limits<std::int64_t>::max()),
                std::string(kRemedy));
  }
  if (!checked_bytes(p)) {
    return fail(ErrorKind::kUsage,
                fmt::format("The matrices of M = {}, N = {}, K = {}, batch = {} exceed {} bytes.", p.m, p.n, p.k,
                            p.batch, std::numeric_limits<std::int64_t>::max()),
                std::string(kRemedy));
  }
  return {};
}

Intensity intensity_of(double flops, double elements_ab, double elements_c, double bytes, double c_bytes) {
  return {flops / (elements_ab * bytes + elements_c * c_bytes), flops / (elements_ab + elements_c)};
}

}  // namespace

Result<void> validate_problem(const Problem& problem) {
  struct Check {
    std::string_view name;
    std::int64_t value;
    std::int64_t maximum;
    std::string_view option;
  };
  const std::array<Check, 5> checks{{{"M", problem.m, kMaxProblemExtent, "--m"},
                                     {"N", problem.n, kMaxProblemExtent, "--n"},
                                     {"K", problem.k, kMaxProblemExtent, "--k"},
                                     {"split_k", problem.split_k, kMaxParts, "--split-k"},
                                     {"batch", problem.batch, kMaxParts, "--batch"}}};
  for (const auto& check : checks) {
    if (auto ok = validate_range(check.name, check.value, check.maximum, check.option); !ok) return ok;
  }
  if (problem.c_bytes < 0 || problem.c_bytes > kMaxElementBytes) {
    return fail(ErrorKind::kUsage, fmt::format("An element of C of {} bytes is not possible.", problem.c_bytes),
                fmt::format("Use 1 to {} bytes, or 0 for the size of A and B.", kMaxElementBytes));
  }
  return validate_products(problem);
}

Result<GemmFlops> gemm_flops(const Problem& problem) {
  if (auto ok = validate_problem(problem); !ok) return tl::unexpected(ok.error());
  return GemmFlops{flops_with(problem, problem.k).value_or(0), flops_with(problem, problem.k + 1).value_or(0)};
}

Result<GemmBytes> gemm_bytes(const Problem& problem) {
  if (auto ok = validate_problem(problem); !ok) return tl::unexpected(ok.error());
  return checked_bytes(problem).value_or(GemmBytes{});
}

Result<Intensity> problem_intensity(const Problem& problem) {
  const auto flops = gemm_flops(problem);
  if (!flops) return tl::unexpected(flops.error());
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  return intensity_of(static_cast<double>(flops->products), (m + n) * k * static_cast<double>(problem.batch),
                      m * n * static_cast<double>(stored_products(problem)) * (problem.beta != 0.0 ? 2.0 : 1.0),
                      static_cast<double>(element_bytes(problem.dtype)), static_cast<double>(output_bytes(problem)));
}

Intensity tile_intensity(const TileConfig& config, std::int64_t k_steps, std::int64_t c_bytes) {
  const auto m = static_cast<double>(config.bm);
  const auto n = static_cast<double>(config.bn);
  const double k = static_cast<double>(config.bk) * static_cast<double>(k_steps);
  const std::int64_t bytes = element_bytes(config.dtype);
  return intensity_of(2.0 * m * n * k, (m + n) * k, m * n, static_cast<double>(bytes),
                      static_cast<double>(c_bytes != 0 ? c_bytes : bytes));
}

Intensity tile_intensity_limit(const TileConfig& config) {
  const auto m = static_cast<double>(config.bm);
  const auto n = static_cast<double>(config.bn);
  return intensity_of(2.0 * m * n, m + n, 0.0, static_cast<double>(element_bytes(config.dtype)), 0.0);
}

double fma_per_cycle_and_sm(const GpuSpec& gpu, DataType dtype) {
  if (dtype == DataType::kF32) return static_cast<double>(gpu.peak.fp32_fma_lanes_per_sm);
  if (dtype != DataType::kTf32) return gpu.peak.tensor_f16_fma_per_sm;
  if (gpu.peak.tensor_f16_tflops <= 0.0) return 0.0;
  return gpu.peak.tensor_f16_fma_per_sm * gpu.peak.tensor_tf32_tflops / gpu.peak.tensor_f16_tflops;
}

double mma_sync_fma_per_cycle_and_sm(const GpuSpec& gpu, DataType dtype) {
  const auto product = static_cast<double>(kMmaRows * kMmaColumns * mma_depth(dtype));
  const double rate =
      product * static_cast<double>(gpu.issue.sub_partitions) / static_cast<double>(gpu.pipe.hmma_16816_interval);
  return std::min(rate, fma_per_cycle_and_sm(gpu, dtype));
}

double default_clock_mhz(const GpuSpec& gpu, DataType dtype) {
  return dtype == DataType::kF32 ? gpu.device.clock_fp32_mhz : gpu.device.clock_tensor_mhz;
}

double peak_flops_per_second(const GpuSpec& gpu, DataType dtype, double clock_mhz) {
  const double clock = clock_mhz > 0.0 ? clock_mhz : default_clock_mhz(gpu, dtype);
  return peak_flops_per_second(fma_per_cycle_and_sm(gpu, dtype), gpu.device.sm_count, clock);
}

double datasheet_flops_per_second(const GpuSpec& gpu, DataType dtype) {
  if (dtype == DataType::kF32) return peak_flops_per_second(gpu, dtype, gpu.device.clock_max_mhz);
  return 1e12 * (dtype == DataType::kTf32 ? gpu.peak.tensor_tf32_tflops : gpu.peak.tensor_f16_tflops);
}

std::string_view to_string(Bound bound) { return bound == Bound::kCompute ? "compute-bound" : "memory-bound"; }

Result<Roofline> roofline(const Problem& problem, const GpuSpec& gpu, double clock_mhz) {
  const auto flops = gemm_flops(problem);
  const auto intensity = problem_intensity(problem);
  if (!flops) return tl::unexpected(flops.error());
  if (!intensity) return tl::unexpected(intensity.error());
  Roofline result;
  result.clock_mhz = clock_mhz > 0.0 ? clock_mhz : default_clock_mhz(gpu, problem.dtype);
  result.peak_flops = peak_flops_per_second(gpu, problem.dtype, result.clock_mhz);
  if (!(result.peak_flops > 0.0)) {
    return fail(ErrorKind::kUsage, fmt::format("{} has no pipe for {}.", gpu.name, to_string(problem.dtype)),
                "Use --dtype f32, or another GPU.");
  }
  result.dram_bytes_per_second = gpu.dram.peak_bytes_per_second;
  result.ridge = ridge_flop_per_byte(result.peak_flops, result.dram_bytes_per_second);
  result.intensity = *intensity;
  result.attainable = attainable_flops(intensity->flop_per_byte, result.peak_flops, result.dram_bytes_per_second);
  result.seconds = static_cast<double>(flops->products) / result.attainable;
  result.bound = intensity->flop_per_byte < result.ridge ? Bound::kMemory : Bound::kCompute;
  return result;
}

}  // namespace tilesim::model
