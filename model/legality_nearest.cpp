// The search behind "the nearest legal choice is ...".
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "model/legality_checks.h"
#include "model/register_plan.h"
#include "model/roofline.h"

namespace tilesim::model::detail {
namespace {

// Prices of a change. A halved extent costs its weight; the rest is paid once. The order is what a user gives up last:
// thread tile and CTA tile (they set the intensity) before depth, then buffers, then how data moves.
constexpr double kPriceTile = 4.0;
constexpr double kPriceThreadTile = 3.0;
constexpr double kPriceDepth = 2.0;
constexpr double kPriceStages = 1.0;
constexpr double kPriceVector = 0.9;
constexpr double kPriceCopy = 1.5;
constexpr double kPriceLayout = 0.5;

double octaves(std::int64_t from, std::int64_t to) {
  return std::abs(std::log2(static_cast<double>(std::max<std::int64_t>(1, from))) -
                  std::log2(static_cast<double>(std::max<std::int64_t>(1, to))));
}

double distance(const TileConfig& from, const TileConfig& to) {
  double price =
      kPriceTile * (octaves(from.bm, to.bm) + octaves(from.bn, to.bn)) + kPriceDepth * octaves(from.bk, to.bk);
  if (to.family == Family::kSimt) price += kPriceThreadTile * (octaves(from.tm, to.tm) + octaves(from.tn, to.tn));
  if (to.family == Family::kMma) price += kPriceThreadTile * (octaves(from.wm, to.wm) + octaves(from.wn, to.wn));
  if (to.family == Family::kSimt && (from.wm != to.wm || from.wn != to.wn)) {
    price += kPriceLayout + kPriceLayout * (octaves(from.wm, to.wm) + octaves(from.wn, to.wn));
  }
  price += kPriceStages * octaves(from.stages, to.stages) + kPriceVector * octaves(from.vec, to.vec);
  if (from.copy != to.copy) price += kPriceCopy;
  if (from.pad_a != to.pad_a) price += kPriceLayout;
  if (from.pad_b != to.pad_b) price += kPriceLayout;
  if (from.swizzle != to.swizzle) price += kPriceLayout;
  return price;
}

// Values of one axis: the user's first (brought into range), then the usual ones.
std::vector<std::int64_t> axis(std::int64_t own, std::int64_t least, std::int64_t most,
                               std::initializer_list<std::int64_t> usual) {
  std::vector<std::int64_t> values{std::clamp(own, least, most)};
  for (const std::int64_t value : usual) {
    if (value >= least && value <= most && value != values.front()) values.push_back(value);
  }
  return values;
}

using Configs = std::vector<TileConfig>;

// Every configuration of `configs` with every value of one member.
void spread(Configs& configs, std::int64_t TileConfig::*member, const std::vector<std::int64_t>& values) {
  Configs result;
  result.reserve(configs.size() * values.size());
  for (const TileConfig& config : configs) {
    for (const std::int64_t value : values) {
      result.push_back(config);
      result.back().*member = value;
    }
  }
  configs = std::move(result);
}

void spread_copy(Configs& configs) {
  const std::size_t count = configs.size();
  configs.reserve(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    configs.push_back(configs[i]);
    configs.back().copy = configs[i].copy == CopyPath::kRegister ? CopyPath::kAsync : CopyPath::kRegister;
  }
}

/// SIMT with warp tiles: the ways in which 32 lanes may lie, and no warp tiles.
void spread_warp_tiles(Configs& configs) {
  const std::size_t count = configs.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!has_warp_tiles(configs[i]) && configs[i].wn == 0) continue;
    for (std::int64_t rows = 1; rows <= 32; rows *= 2) {
      configs.push_back(configs[i]);
      configs.back().wm = rows * configs[i].tm;
      configs.back().wn = 32 / rows * configs[i].tn;
    }
    configs.push_back(configs[i]);
    configs.back().wm = configs.back().wn = 0;
  }
}

std::optional<TileConfig> nearest_of(const TileConfig& question, Configs configs, const Problem* problem,
                                     const LegalityLimits& limits) {
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(configs.size());
  for (std::size_t i = 0; i < configs.size(); ++i) {
    order.emplace_back(distance(question, configs[i]), i);
  }
  std::sort(order.begin(), order.end());
  // A tile that spills is legal, but nobody's wish unless it is the question itself.
  std::optional<TileConfig> spilling;
  for (const auto& [price, index] : order) {
    if (!is_legal(configs[index], problem, limits)) continue;
    if (price == 0.0 || !spill_of(configs[index]).spills()) return configs[index];
    if (!spilling) spilling = configs[index];
  }
  return spilling;
}

// What has one obvious answer.
TileConfig mended(TileConfig config, const Problem* problem) {
  if (problem != nullptr) config.dtype = problem->dtype;
  const Family asked = config.family;
  config.family = config.dtype == DataType::kF32 ? Family::kSimt : Family::kMma;
  if (config.family != asked) {
    config.wm = config.family == Family::kMma ? kUsualMmaWarpRows : 0;
    config.wn = config.family == Family::kMma ? kUsualMmaWarpColumns : 0;
  }
  if (config.family == Family::kMma && config.copy == CopyPath::kDirect) config.copy = CopyPath::kRegister;
  config.raster.group = std::clamp<std::int64_t>(config.raster.group, 1, kMaxProblemExtent);
  if (config.register_cap != 0) config.register_cap = std::clamp<std::int64_t>(config.register_cap, 16, 255);
  if (config.register_cap != 0) config.min_ctas = 0;
  if (config.registers < 0 || config.registers > kMaxRegistersPerThread) config.registers = 0;
  return config;
}

}  // namespace

std::optional<TileConfig> nearest_legal(const TileConfig& config, const Problem* problem,
                                        const LegalityLimits& limits) {
  const TileConfig start = mended(config, problem);
  const std::int64_t widest = 16 / element_bytes(start.dtype);
  Configs near{start};
  if (start.family == Family::kSimt) spread_warp_tiles(near);
  spread(near, &TileConfig::min_ctas, axis(start.min_ctas, 0, limits.ctas_per_sm, {0}));
  spread(near, &TileConfig::bk, axis(start.bk, 1, kMaxTileExtent, {8, 16, 32, 64}));
  spread(near, &TileConfig::stages, axis(start.stages, 1, kMaxStages, {1, 2, 3, 4, 5, 6, 7, 8}));
  spread(near, &TileConfig::vec, axis(start.vec, 1, widest, {1, 2, 4, 8}));
  spread_copy(near);
  const std::int64_t pad_a = std::clamp<std::int64_t>(start.pad_a, 0, 1024) / widest * widest;
  const std::int64_t pad_b = std::clamp<std::int64_t>(start.pad_b, 0, 1024) / widest * widest;
  spread(near, &TileConfig::pad_a, axis(start.pad_a, 0, 1024, {0, pad_a}));
  spread(near, &TileConfig::pad_b, axis(start.pad_b, 0, 1024, {0, pad_b}));
  spread(near, &TileConfig::swizzle, axis(start.swizzle, 0, 3, {0, 1, 2}));
  if (auto found = nearest_of(start, std::move(near), problem, limits)) return found;

  TileConfig plain = start;
  plain.pad_a = plain.pad_b = plain.swizzle = plain.registers = plain.min_ctas = 0;
  if (plain.family == Family::kSimt) plain.wm = plain.wn = 0;
  Configs far{plain};
  spread(far, &TileConfig::bm, axis(plain.bm, 1, kMaxTileExtent, {16, 32, 64, 128, 256}));
  spread(far, &TileConfig::bn, axis(plain.bn, 1, kMaxTileExtent, {16, 32, 64, 128, 256}));
  spread(far, &TileConfig::bk, axis(plain.bk, 1, kMaxTileExtent, {8, 16, 32}));
  if (plain.family == Family::kSimt) {
    spread(far, &TileConfig::tm, axis(plain.tm, 1, kMaxTileExtent, {1, 2, 4, 8, 16}));
    spread(far, &TileConfig::tn, axis(plain.tn, 1, kMaxTileExtent, {1, 2, 4, 8, 16}));
  } else {
    spread(far, &TileConfig::wm, axis(plain.wm, 1, kMaxTileExtent, {16, 32, 64}));
    spread(far, &TileConfig::wn, axis(plain.wn, 1, kMaxTileExtent, {8, 16, 32, 64}));
  }
  spread(far, &TileConfig::vec, axis(plain.vec, 1, widest, {1, 4}));
  spread(far, &TileConfig::stages, axis(plain.stages, 1, kMaxStages, {1, 2}));
  if (plain.copy == CopyPath::kAsync) spread_copy(far);
  return nearest_of(start, std::move(far), problem, limits);
}

}  // namespace tilesim::model::detail
