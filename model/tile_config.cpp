#include "model/tile_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "model/nearest_name.h"

namespace tilesim::model {
namespace {

template <class Enum>
struct Named {
  std::string_view name;
  Enum value;
};

constexpr std::array<Named<Family>, 2> kFamilies{{{"simt", Family::kSimt}, {"mma", Family::kMma}}};
constexpr std::array<Named<CopyPath>, 3> kCopyPaths{
    {{"reg", CopyPath::kRegister}, {"cpasync", CopyPath::kAsync}, {"direct", CopyPath::kDirect}}};
constexpr std::array<Named<DataType>, 4> kDataTypes{
    {{"f32", DataType::kF32}, {"tf32", DataType::kTf32}, {"f16", DataType::kF16}, {"bf16", DataType::kBf16}}};
constexpr std::array<Named<Layout>, 4> kLayouts{
    {{"nn", Layout::kNN}, {"nt", Layout::kNT}, {"tn", Layout::kTN}, {"tt", Layout::kTT}}};

template <class Enum, std::size_t N>
std::string_view name_of(const std::array<Named<Enum>, N>& table, Enum value) {
  for (const auto& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

template <class Enum, std::size_t N>
Result<Enum> parse(const std::array<Named<Enum>, N>& table, std::string_view what, std::string_view text) {
  std::vector<std::string> names;
  for (const auto& entry : table) {
    if (entry.name == text) return entry.value;
    names.emplace_back(entry.name);
  }
  return fail(ErrorKind::kUsage, fmt::format("'{}' is not a {}.", text, what),
              suggestion(text, names, "'", fmt::format("Known are: {}.", fmt::join(names, ", "))));
}

}  // namespace

std::string_view to_string(Family family) { return name_of(kFamilies, family); }
std::string_view to_string(CopyPath copy) { return name_of(kCopyPaths, copy); }
std::string_view to_string(DataType dtype) { return name_of(kDataTypes, dtype); }
std::string_view to_string(Layout layout) { return name_of(kLayouts, layout); }

std::string to_string(const Raster& raster) {
  switch (raster.kind) {
    case RasterKind::kAlongN:
      return "n";
    case RasterKind::kAlongM:
      return "m";
    case RasterKind::kGroup:
      break;
  }
  return fmt::format("group:{}", raster.group);
}

Result<Family> parse_family(std::string_view text) { return parse(kFamilies, "kernel family", text); }
Result<CopyPath> parse_copy_path(std::string_view text) { return parse(kCopyPaths, "copy path", text); }
Result<DataType> parse_data_type(std::string_view text) { return parse(kDataTypes, "data type", text); }
Result<Layout> parse_layout(std::string_view text) { return parse(kLayouts, "layout", text); }

Result<Raster> parse_raster(std::string_view text) {
  constexpr std::string_view kRemedy = "Use n, m, or group:G with G from 1 to 2147483647.";
  if (text == "n") return Raster{RasterKind::kAlongN, 1};
  if (text == "m") return Raster{RasterKind::kAlongM, 1};
  constexpr std::string_view kPrefix = "group:";
  if (text.starts_with(kPrefix)) {
    const std::string_view digits = text.substr(kPrefix.size());
    std::int64_t group = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), group);
    if (code == std::errc{} && end == digits.data() + digits.size() && group >= 1 && group <= 2147483647) {
      return Raster{RasterKind::kGroup, group};
    }
  }
  return fail(ErrorKind::kUsage, fmt::format("'{}' is not an order of CTAs.", text), std::string(kRemedy));
}

std::int64_t threads_per_cta(const TileConfig& config) {
  if (config.family == Family::kSimt) return (config.bm / config.tm) * (config.bn / config.tn);
  return (config.bm / config.wm) * (config.bn / config.wn) * 32;
}

std::int64_t accumulators_per_thread(const TileConfig& config) {
  return config.family == Family::kSimt ? config.tm * config.tn : ceil_div(config.wm * config.wn, 32);
}

SharedTile shared_tile_a(const TileConfig& config) {
  const bool k_major = config.family == Family::kSimt || a_transposed(config.layout);
  return {k_major ? config.bk : config.bm, k_major ? config.bm : config.bk, config.pad_a, element_bytes(config.dtype)};
}

SharedTile shared_tile_b(const TileConfig& config) {
  const bool k_major = config.family == Family::kSimt || !b_transposed(config.layout);
  return {k_major ? config.bk : config.bn, k_major ? config.bn : config.bk, config.pad_b, element_bytes(config.dtype)};
}

std::int64_t shared_bytes_per_stage(const TileConfig& config) {
  return uses_shared_memory(config) ? shared_tile_a(config).bytes() + shared_tile_b(config).bytes() : 0;
}

std::int64_t shared_bytes(const TileConfig& config) { return shared_bytes_per_stage(config) * config.stages; }

namespace {

// Direct loads: values under way are what room there is for. The coefficients are those that kernels/simt/fit-registers
// prints.
RegisterEstimate estimate_direct(const TileConfig& config) {
  const auto sums = static_cast<double>(accumulators_per_thread(config));
  const auto step = static_cast<double>(config.tm + config.tn);
  const double loads = step * static_cast<double>(config.bk);
  const double needed = 16.52 + 1.81 * sums - 2.01 * step + 4.03 * std::log2(loads);
  const double wanted = 7.17 + 0.19 * sums + 4.06 * step + 1.06 * loads;
  RegisterEstimate estimate;
  estimate.accumulators = accumulators_per_thread(config);
  estimate.operands = config.tm + config.tn;
  estimate.addresses = std::max<std::int64_t>(1, std::llround(needed) - estimate.accumulators - estimate.operands);
  estimate.wanted = std::max(estimate.total(), static_cast<std::int64_t>(std::llround(wanted)));
  return estimate;
}

// The coefficients are those that kernels/simt/fit-registers prints.
RegisterEstimate estimate_simt(const TileConfig& config) {
  const bool async = config.copy == CopyPath::kAsync;
  const bool several = config.stages > 1 && !async;
  const auto sums = static_cast<double>(accumulators_per_thread(config));
  const std::int64_t per_round = std::max<std::int64_t>(1, threads_per_cta(config) * config.vec);
  const auto copies =
      static_cast<double>(ceil_div(config.bm * config.bk, per_round) + ceil_div(config.bn * config.bk, per_round));
  const double staged = several ? copies * static_cast<double>(config.vec) : 0.0;
  const double swizzled = config.swizzle > 0 ? 1.0 : 0.0;
  const auto beyond = [sums](double bound) { return std::max(0.0, sums - bound); };

  const double addresses = 20.0 + 1.66 * copies + (async ? 5.88 : several ? 3.18 : 0.0) + 7.46 * swizzled;
  const double operands =
      22.83 + 0.61 * sums - 1.55 * std::max(0.0, 16.0 - sums) + 1.06 * beyond(32) - 0.41 * beyond(64);
  const double staging = 0.72 * staged;
  RegisterEstimate estimate;
  estimate.accumulators = accumulators_per_thread(config);
  estimate.staging = std::llround(staging);
  estimate.operands = std::max<std::int64_t>(1, std::llround(operands - sums));
  // What is left, so that the parts add up to the rounded sum.
  estimate.addresses =
      std::llround(addresses + operands + staging) - estimate.accumulators - estimate.staging - estimate.operands;
  const double wanted = 36.31 + 1.18 * sums + 1.00 * staged + 4.24 * copies +
                        (async ? 2.44 + (sums >= 64 ? 2.02 : 0.0) : 0.0) + 12.95 * swizzled;
  estimate.wanted = std::max(estimate.total(), static_cast<std::int64_t>(std::llround(wanted)));
  return estimate;
}

// The coefficients are those that kernels/mma/fit-registers prints.
RegisterEstimate estimate_mma(const TileConfig& config) {
  constexpr std::int64_t kAddresses = 20;  // most of the kernels
  const std::int64_t threads = std::max<std::int64_t>(1, threads_per_cta(config));
  const auto sums = static_cast<double>(accumulators_per_thread(config));
  // Of one step of mma.sync along K: 4 registers for 16 rows of A, 2 for 8 columns of B.
  const auto fragments = static_cast<double>(config.wm / 16 * 4 + config.wn / 8 * 2);
  const std::int64_t copies = (config.bm + config.bn) * config.bk / (threads * std::max<std::int64_t>(1, config.vec));
  const std::int64_t per_copy = std::max<std::int64_t>(1, config.vec * element_bytes(config.dtype) / 4);
  const std::int64_t staged = config.stages > 1 && config.copy == CopyPath::kRegister ? copies * per_copy : 0;
  const bool alike = a_transposed(config.layout) != b_transposed(config.layout);  // K runs the same way in both

  const double needed = 9.77 + 1.19 * sums + 1.37 * std::max(0.0, 16.0 - sums) + 1.52 * fragments +
                        0.97 * static_cast<double>(std::max<std::int64_t>(0, copies - 8));
  const double wanted = 23.39 + 0.93 * sums + 2.01 * fragments + 0.84 * static_cast<double>(copies) +
                        1.22 * static_cast<double>(staged) + (config.swizzle > 0 ? 6.88 : 0.0) + (alike ? 0.0 : 5.82);
  RegisterEstimate estimate;
  estimate.accumulators = accumulators_per_thread(config);
  const std::int64_t rest = std::max<std::int64_t>(0, std::llround(needed) - estimate.accumulators);
  estimate.addresses = std::min(rest, kAddresses);
  estimate.operands = rest - estimate.addresses;
  estimate.wanted = std::max(estimate.total(), static_cast<std::int64_t>(std::llround(wanted)));
  return estimate;
}

}  // namespace

RegisterEstimate estimate_registers(const TileConfig& config) {
  if (config.family == Family::kMma) return estimate_mma(config);
  return uses_shared_memory(config) ? estimate_simt(config) : estimate_direct(config);
}

std::int64_t register_demand(const TileConfig& config) {
  return config.registers > 0 ? config.registers : estimate_registers(config).total();
}

}  // namespace tilesim::model
