#include "traces/generator/mma_registers.h"

#include <algorithm>

#include "model/register_plan.h"
#include "model/tile_layout.h"

namespace tilesim::traces::generator {

namespace {

struct Copies {
  int a = 0, b = 0;
  [[nodiscard]] int all() const { return a + b; }
};

Copies copies_of(const model::TileConfig& config) {
  return {static_cast<int>(model::copies_per_thread(config, false)),
          static_cast<int>(model::copies_per_thread(config, true))};
}

}  // namespace

LoopOverhead mma_loop_overhead(const model::TileConfig& config) {
  const Copies copies = copies_of(config);
  const bool alike = model::k_contiguous(config, false) == model::k_contiguous(config, true);
  // The swizzle is worked out anew in every trip. The rest are pointers, buffer addresses and the counter.
  const int swizzle = config.swizzle > 0 ? 13 : 0;
  // Small tiles that get far fewer registers than they would take work values out again; not so where both operands run
  // along K.
  constexpr std::int64_t kFarFewer = 16;
  const bool tight = model::accumulators_per_thread(config) <= 32 && config.layout != model::Layout::kNT &&
                     model::estimate_registers(config).wanted - model::registers_per_thread(config) > kFarFewer;
  if (config.copy == model::CopyPath::kAsync) {
    constexpr int kUniform = 9;
    // ptxas unrolls short loops twice, which saves some.
    const int base = copies.all() <= 2               ? 26
                     : copies.a == copies.b && alike ? 31 + 12 * copies.all() / 5
                                                     : 29 + 4 * copies.all();
    return {base - kUniform + swizzle + (tight ? 10 : 0), kUniform};
  }
  return config.stages > 1 ? LoopOverhead{6 + 9 * copies.all() / 5 + swizzle + (tight ? 7 : 0), 4}
                           : LoopOverhead{4 + 7 * copies.all() / 5 + swizzle, 1};
}

int mma_prologue_integers(const model::TileConfig& config) {
  const Copies copies = copies_of(config);
  const int swizzle = config.swizzle > 0 ? 60 : 0;
  if (config.copy == model::CopyPath::kAsync && config.stages > 1) {
    const auto ahead = static_cast<int>(config.stages - 1);
    return 65 + 19 * copies.all() * ahead / 2 + swizzle;
  }
  return 90 + 3 * copies.all() + swizzle;
}

int mma_fragment_budget(const model::TileConfig& config) {
  constexpr std::int64_t kRowBlockRegisters = 4;
  const std::int64_t least = kRowBlockRegisters + config.wn / model::kMmaColumns * 2;
  const std::int64_t left =
      model::registers_per_thread(config) - model::accumulators_per_thread(config) - kMmaAddressRegisters;
  return static_cast<int>(std::max(least, left));
}

}  // namespace tilesim::traces::generator
