// FLOPs, compulsory bytes, arithmetic intensity, ridge point and attainable rate (rule: Williams, Waterman, Patterson,
// "Roofline", CACM 2009: attainable = min(peak, intensity * bandwidth)).
// Conventions: a multiply-add is 2 FLOP; peaks are dense; intensity always says per byte or per element.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/gpu_spec.h"
#include "model/result.h"
#include "model/tile_config.h"

namespace tilesim::model {

/// Largest M, N or K: kernels index with 32-bit integers.
inline constexpr std::int64_t kMaxProblemExtent = 2147483647;

/// Refuses extents that are not 1 to 2^31-1, split_k or batch that are not 1 to 65,535, a C element that is not 0 to 16
/// bytes, and problems whose FLOPs or bytes do not fit 63 bits. All other functions here expect a valid problem.
[[nodiscard]] Result<void> validate_problem(const Problem& problem);

/// FLOPs of a GEMM under the two usual conventions; reports must say which one they use (TileSim: 2MNK).
struct GemmFlops {
  std::int64_t products = 0;           ///< 2*M*N*K: what most people quote
  std::int64_t products_and_beta = 0;  ///< 2*M*N*(K+1): adds alpha*AB + beta*C, as the CUTLASS profiler does
};
[[nodiscard]] Result<GemmFlops> gemm_flops(const Problem& problem);

/// Bytes that must move if each element of A and B is read once and each of C, of every part of K, is written once, and
/// read once where beta is not 0.
struct GemmBytes {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
  std::int64_t c_read = 0;
  [[nodiscard]] constexpr std::int64_t total() const { return a + b + c + c_read; }
};
[[nodiscard]] Result<GemmBytes> gemm_bytes(const Problem& problem);

/// FLOP over traffic, with both denominators, since sketches mix them up.
struct Intensity {
  double flop_per_byte = 0.0;
  double flop_per_element = 0.0;
};
/// Of the whole problem: 2MNK over A + B + C (twice if it is read).
[[nodiscard]] Result<Intensity> problem_intensity(const Problem& problem);
/// Of a CTA that runs `k_steps` K-steps and writes its C tile once; `c_bytes` per element of C, 0 = as A and B.
/// k_steps = 1 is the sketch that counts C in every K-step.
[[nodiscard]] Intensity tile_intensity(const TileConfig& config, std::int64_t k_steps, std::int64_t c_bytes = 0);
/// Its limit for long K: 2*BM*BN/((BM+BN)*bytes).
[[nodiscard]] Intensity tile_intensity_limit(const TileConfig& config);

/// FLOP/s of `sm_count` SMs that each do `fma_per_cycle` multiply-adds at `clock_mhz`. A peak without a clock is
/// meaningless: A100 FP16 is 242, 289 or 312 TFLOP/s at its base, sustained and boost clock.
[[nodiscard]] constexpr double peak_flops_per_second(double fma_per_cycle, std::int64_t sm_count, double clock_mhz) {
  return 2.0 * fma_per_cycle * static_cast<double>(sm_count) * clock_mhz * 1e6;
}

/// Multiply-adds per cycle and SM of the pipe that `dtype` uses: FP32 lanes, or the tensor cores (TF32: the FP16 rate
/// times the ratio of the datasheet peaks).
[[nodiscard]] double fma_per_cycle_and_sm(const GpuSpec& gpu, DataType dtype);

/// What of that mma.sync reaches, at most: one product per issue interval and sub-partition. On sm_90 only wgmma
/// reaches the peak.
[[nodiscard]] double mma_sync_fma_per_cycle_and_sm(const GpuSpec& gpu, DataType dtype);

/// The SM clock that the spec gives for this pipe.
[[nodiscard]] double default_clock_mhz(const GpuSpec& gpu, DataType dtype);

/// Dense peak of the pipe at a clock; `clock_mhz` = 0 takes the default.
[[nodiscard]] double peak_flops_per_second(const GpuSpec& gpu, DataType dtype, double clock_mhz = 0.0);

/// Peak of the pipe as the datasheet states it (FP32: at the highest clock; tensor cores: dense), in FLOP/s.
[[nodiscard]] double datasheet_flops_per_second(const GpuSpec& gpu, DataType dtype);

/// FLOP/byte at which the DRAM stops being the bottleneck.
[[nodiscard]] constexpr double ridge_flop_per_byte(double peak_flops, double bytes_per_second) {
  return bytes_per_second > 0.0 ? peak_flops / bytes_per_second : 0.0;
}

/// FLOP/s that the roofline allows at an intensity.
[[nodiscard]] constexpr double attainable_flops(double flop_per_byte, double peak_flops, double bytes_per_second) {
  const double by_memory = flop_per_byte * bytes_per_second;
  return by_memory < peak_flops ? by_memory : peak_flops;
}

enum class Bound { kCompute, kMemory };
[[nodiscard]] std::string_view to_string(Bound bound);

/// The verdict for a problem on a GPU.
struct Roofline {
  double clock_mhz = 0.0;              ///< the clock that the peak assumes
  double peak_flops = 0.0;             ///< FLOP/s, dense, all SMs
  double dram_bytes_per_second = 0.0;  ///< datasheet bandwidth
  double ridge = 0.0;                  ///< FLOP/B
  Intensity intensity;                 ///< of the whole problem
  double attainable = 0.0;             ///< FLOP/s
  double seconds = 0.0;                ///< least time: 2MNK at the attainable rate
  Bound bound = Bound::kCompute;
};
[[nodiscard]] Result<Roofline> roofline(const Problem& problem, const GpuSpec& gpu, double clock_mhz = 0.0);

/// Percent of a peak. Datasheets print tensor peaks with 2:4 sparsity, twice the dense ones; a share without this word
/// is off by two.
struct PeakShare {
  double dense_percent = 0.0;
  double sparse_percent = 0.0;
};
[[nodiscard]] constexpr PeakShare share_of_peak(double flops_per_second, double dense_peak) {
  if (dense_peak <= 0.0) return {};
  return {100.0 * flops_per_second / dense_peak, 50.0 * flops_per_second / dense_peak};
}

}  // namespace tilesim::model
