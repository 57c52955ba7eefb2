#include "model/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tilesim::model {

namespace {

constexpr std::array kVolta{0, 8, 16, 32, 64, 96};
constexpr std::array kTuring{32, 64};
constexpr std::array kUpTo164{0, 8, 16, 32, 64, 100, 132, 164};
constexpr std::array kUpTo100{0, 8, 16, 32, 64, 100};
constexpr std::array kUpTo228{0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
constexpr int kKb = 1024;

// clang-format off
// major, minor, shared per SM, per CTA, reserved, warps, CTAs, barriers, tensor cores, carve-outs
const std::array<ComputeCapability, 12> kTable{{
    {7,  0,  96 * kKb,  96 * kKb,       0, 64, 32, 64, 8, kVolta},
    {7,  2,  96 * kKb,  96 * kKb,       0, 64, 32, 64, 8, kVolta},
    {7,  5,  64 * kKb,  64 * kKb,       0, 32, 16, 32, 8, kTuring},
    {8,  0, 164 * kKb, 163 * kKb, 1 * kKb, 64, 32, 64, 4, kUpTo164},
    {8,  6, 100 * kKb,  99 * kKb, 1 * kKb, 48, 16, 16, 4, kUpTo100},
    {8,  7, 164 * kKb, 163 * kKb, 1 * kKb, 48, 16, 16, 4, kUpTo164},
    {8,  9, 100 * kKb,  99 * kKb, 1 * kKb, 48, 24, 24, 4, kUpTo100},
    {9,  0, 228 * kKb, 227 * kKb, 1 * kKb, 64, 32, 64, 4, kUpTo228},
    {10, 0, 228 * kKb, 227 * kKb, 1 * kKb, 64, 32, 64, 4, kUpTo228},
    {10, 3, 228 * kKb, 227 * kKb, 1 * kKb, 64, 32, 64, 4, kUpTo228},
    {12, 0, 100 * kKb,  99 * kKb, 1 * kKb, 48, 24, 24, 4, kUpTo100},
    {12, 1, 100 * kKb,  99 * kKb, 1 * kKb, 48, 24, 24, 4, kUpTo100},
}};
// clang-format on

constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

/// The smallest carve-out of at least `bytes`; the largest if none.
int carveout_for(const ComputeCapability& cc, std::int64_t bytes) {
  for (const int kb : cc.carveouts_kb) {
    if (bytes <= std::int64_t{kb} * kKb) {
      return kb;
    }
  }
  return cc.carveouts_kb.back();
}

Result<void> check_range(const char* what, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) {
    return fail(ErrorKind::kUsage, fmt::format("{} = {} is out of range", what, value),
                fmt::format("give a value from {} to {}", low, high));
  }
  return {};
}

void add_reason(Occupancy& o, const std::string& reason) {
  o.cannot_launch += o.cannot_launch.empty() ? reason : "; " + reason;
}

void limit_by_registers(const OccupancyInput& input, Occupancy& o) {
  const std::int64_t per_warp = round_up(input.registers * 32, kRegisterAllocationUnit);
  o.registers_per_thread = per_warp / 32;
  o.registers_per_cta = per_warp * o.warps_per_cta;
  if (per_warp == 0) {
    o.by_registers = Occupancy::kUnlimited;
    return;
  }
  // The launch check assumes that a CTA's warps fill all sub-partitions alike.
  const std::int64_t assumed = per_warp * round_up(o.warps_per_cta, kSubPartitions);
  if (assumed > kRegistersPerSm) {
    o.by_registers = 0;
    add_reason(o, fmt::format("{} registers per thread x {} threads allocate {} registers, an SM has {}; at most {} "
                              "threads fit",
                              input.registers, o.warps_per_cta * 32, assumed, kRegistersPerSm,
                              largest_cta_for_registers(input.registers)));
    return;
  }
  o.by_registers = kRegistersPerSm / kSubPartitions / per_warp * kSubPartitions / o.warps_per_cta;
}

void limit_by_shared(const ComputeCapability& cc, const OccupancyInput& input, Occupancy& o) {
  const std::int64_t unit = cc.major == 7 ? 256 : 128;
  o.shared_bytes_per_cta = round_up(input.shared_bytes + cc.shared_reserved_per_cta, unit);
  const std::int64_t asked = std::int64_t{input.carveout_kb.value_or(cc.carveouts_kb.back())} * kKb;
  const int preferred = carveout_for(cc, asked);
  // A carve-out that does not hold one CTA is raised to the next that does.
  o.carveout_kb =
      std::int64_t{preferred} * kKb >= o.shared_bytes_per_cta ? preferred : carveout_for(cc, o.shared_bytes_per_cta);
  if (input.shared_bytes > cc.shared_bytes_per_cta ||
      o.shared_bytes_per_cta > cc.shared_bytes_per_cta + cc.shared_reserved_per_cta) {
    o.by_shared = 0;
    add_reason(o, fmt::format("{} bytes of shared memory per CTA, at most {} are available", input.shared_bytes,
                              cc.shared_bytes_per_cta));
  } else {
    o.by_shared = o.shared_bytes_per_cta == 0 ? Occupancy::kUnlimited
                                              : std::int64_t{o.carveout_kb} * kKb / o.shared_bytes_per_cta;
  }
}

}  // namespace

Result<ComputeCapability> find_compute_capability(int major, int minor) {
  for (const ComputeCapability& cc : kTable) {
    if (cc.major == major && cc.minor == minor) {
      return cc;
    }
  }
  return fail(ErrorKind::kUsage, fmt::format("compute capability {}.{} is unsupported", major, minor),
              fmt::format("supported: {}", fmt::join(supported_compute_capabilities(), ", ")));
}

std::vector<std::string> supported_compute_capabilities() {
  std::vector<std::string> names;
  names.reserve(std::size(kTable));
  for (const ComputeCapability& cc : kTable) {
    names.push_back(fmt::format("{}.{}", cc.major, cc.minor));
  }
  return names;
}

std::int64_t largest_cta_for_registers(std::int64_t registers) {
  const std::int64_t per_warp = round_up(registers * 32, kRegisterAllocationUnit);
  if (per_warp == 0) {
    return 1024;
  }
  const std::int64_t warps = kRegistersPerSm / (per_warp * kSubPartitions) * kSubPartitions;
  return std::min<std::int64_t>(warps * 32, 1024);
}

Result<Occupancy> occupancy(const ComputeCapability& cc, const OccupancyInput& input) {
  for (const Result<void>& ok : {check_range("threads per CTA", input.threads, 1, 1024),
                                 check_range("registers per thread", input.registers, 0, 255),
                                 check_range("shared memory bytes", input.shared_bytes, 0, 1 << 30),
                                 check_range("carve-out KB", input.carveout_kb.value_or(0), 0, cc.carveouts_kb.back()),
                                 check_range("barriers", input.barriers, 0, 16)}) {
    if (!ok) {
      return tl::unexpected<Error>(ok.error());
    }
  }
  Occupancy o;
  o.warps_per_cta = (input.threads + 31) / 32;
  limit_by_shared(cc, input, o);
  limit_by_registers(input, o);
  o.by_warps = cc.warps_per_sm / o.warps_per_cta;
  o.by_ctas = cc.ctas_per_sm;
  // cuda_occupancy.h counts barriers from Hopper on only.
  const bool counts_barriers = cc.major >= 9 && input.barriers > 0;
  o.by_barriers = counts_barriers ? cc.barriers_per_sm / input.barriers : Occupancy::kUnlimited;
  o.by_barriers_capped = std::min(o.by_barriers, o.by_ctas);
  o.ctas = std::min({o.by_registers, o.by_shared, o.by_warps, o.by_ctas, o.by_barriers});
  const std::array<std::pair<std::int64_t, const char*>, 5> limits{{{o.by_registers, "registers"},
                                                                    {o.by_shared, "shared memory"},
                                                                    {o.by_warps, "warps"},
                                                                    {o.by_ctas, "CTAs"},
                                                                    {o.by_barriers, "barriers"}}};
  for (const auto& [limit, name] : limits) {
    if (limit == o.ctas) {
      o.limiters.emplace_back(name);
    }
  }
  o.fraction = static_cast<double>(o.ctas * o.warps_per_cta) / cc.warps_per_sm;
  return o;
}

}  // namespace tilesim::model
