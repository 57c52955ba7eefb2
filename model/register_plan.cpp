#include "model/register_plan.h"

#include <algorithm>
#include <cmath>

#include "model/legality.h"
#include "model/occupancy.h"
#include "model/tile_layout.h"

namespace tilesim::model {

namespace {

constexpr std::int64_t kRegisterUnit = 8;
constexpr int kBuiltForMajor = 9;
constexpr int kBuiltForMinor = 0;

std::int64_t user_cap(const TileConfig& config) {
  return config.register_cap > 0 ? config.register_cap : kMaxRegistersPerThread;
}

}  // namespace

std::int64_t register_share(std::int64_t threads, std::int64_t ctas, std::int64_t registers_per_sm) {
  const std::int64_t warps = std::max<std::int64_t>(1, ceil_div(threads, 32)) * std::max<std::int64_t>(1, ctas);
  const std::int64_t warps_per_part = ceil_div(warps, kSubPartitions);
  const std::int64_t share = registers_per_sm / kSubPartitions / warps_per_part / 32 / kRegisterUnit * kRegisterUnit;
  return std::min<std::int64_t>(share, kMaxRegistersPerThread);
}

std::int64_t planned_ctas(const TileConfig& config) {
  if (config.min_ctas > 0) return config.min_ctas;
  if (config.register_cap > 0 || config.registers > 0) return 0;
  const auto cc = find_compute_capability(kBuiltForMajor, kBuiltForMinor);
  OccupancyInput input;
  input.threads = threads_per_cta(config);
  input.registers = std::min(register_demand(config), register_share(input.threads, 1));
  input.shared_bytes = shared_bytes(config);
  const auto found = occupancy(*cc, input);
  return found.has_value() ? std::max<std::int64_t>(1, found->ctas) : 1;
}

std::int64_t register_limit(const TileConfig& config, std::int64_t registers_per_sm) {
  return std::min(register_share(threads_per_cta(config), planned_ctas(config), registers_per_sm), user_cap(config));
}

std::int64_t registers_per_thread(const TileConfig& config) {
  if (config.registers > 0) return std::min(config.registers, register_limit(config));
  return std::min(estimate_registers(config).wanted, register_limit(config));
}

std::int64_t least_registers(const TileConfig& config) {
  constexpr std::int64_t kAddresses = 14;
  const RegisterEstimate estimate = estimate_registers(config);
  if (config.registers > 0) return config.registers;
  if (config.family == Family::kMma) {
    // A row block of A beside all of B, for one step of mma.sync: 4 registers and 2 for 8 columns.
    constexpr std::int64_t kMmaAddresses = 20;
    return std::min(estimate.total(), estimate.accumulators + 4 + config.wn / kMmaColumns * 2 + kMmaAddresses);
  }
  const bool staged = config.stages > 1 && config.copy == CopyPath::kRegister;
  const std::int64_t slice =
      staged ? config.vec * (copies_per_thread(config, false) + copies_per_thread(config, true)) : 0;
  return std::min(estimate.total(), estimate.accumulators + config.tm + config.tn + slice + kAddresses);
}

Spill spill_of(const TileConfig& config) {
  Spill spill;
  spill.demand = least_registers(config);
  spill.limit = register_limit(config);
  const auto missing = static_cast<double>(std::max<std::int64_t>(0, spill.demand - spill.limit));
  spill.registers = std::llround(1.5 * missing + missing * missing / 20.0);
  // A few: values that the loop only reads. Beyond, sums go out and in around their products.
  constexpr std::int64_t kOnlyRead = 32;
  const bool few = spill.registers <= kOnlyRead;
  const auto spilled = static_cast<double>(spill.registers);
  spill.loads_per_k_step = std::llround((few ? 0.75 : 2.4) * spilled);
  spill.stores_per_k_step = std::llround((few ? 0.15 : 2.3) * spilled);
  spill.bytes_per_cta = spill.registers * 4 * threads_per_cta(config);
  spill.bytes_per_k_step = (spill.loads_per_k_step + spill.stores_per_k_step) * 4 * threads_per_cta(config);
  return spill;
}

}  // namespace tilesim::model
