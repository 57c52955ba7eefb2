#include "traces/generator/registers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>

#include "model/register_plan.h"
#include "model/tile_layout.h"
#include "traces/generator/mma_registers.h"

namespace tilesim::traces::generator {

namespace {

constexpr int kRegisters = 256;

/// Linear scan over a block: aligned groups of registers, lowest first.
class Allocator {
 public:
  explicit Allocator(int first) : first_(first), highest_(first - 1) {}

  int take(int width) {
    for (int r = (first_ + width - 1) / width * width; r + width <= kMost; r += width) {
      if (std::none_of(used_.begin() + r, used_.begin() + r + width, [](bool u) { return u; })) {
        std::fill_n(used_.begin() + r, width, true);
        highest_ = std::max(highest_, r + width - 1);
        return r;
      }
    }
    return kMost;
  }
  void free(int reg, int width) { std::fill_n(used_.begin() + reg, width, false); }
  [[nodiscard]] int highest() const { return highest_; }

 private:
  static constexpr int kMost = 4 * kRegisters;  // more than exist: what does not fit is spilled by the caller's count
  std::array<bool, kMost + 8> used_{};
  int first_;
  int highest_;
};

void set_reads(const std::vector<int>& place, Operation& op) {
  if (!is_product(op)) {
    return;
  }
  std::uint8_t slot = 0;
  for (const Use& use : std::span(op.uses).first(std::min(op.uses.size(), op.code.reads.size()))) {
    const int base = place[static_cast<std::size_t>(use.value)];
    const auto reg = static_cast<std::uint16_t>((base + use.part) % kRegisters);
    op.code.reads[slot] = {reg, slot, false};
    op.name += (slot == 0 ? " R" : ", R") + std::to_string(reg);
    ++slot;
  }
  op.code.read_count = slot;
}

/// A register that the next product reads in the same slot is kept in the operand cache.
void set_reuse(std::vector<Operation>& operations) {
  Operation* previous = nullptr;
  for (Operation& op : operations) {
    if (!is_product(op) || op.code.read_count < 2) {
      continue;
    }
    if (previous != nullptr) {
      for (std::size_t slot = 0; slot < 2; ++slot) {
        previous->code.reads[slot].reuse = previous->code.reads[slot].reg == op.code.reads[slot].reg;
      }
    }
    previous = &op;
  }
}

/// What ptxas 13.0 spends on the addresses of kernels that load straight from global memory (38 of
/// traces/calibration/ptxas/simt.csv): with one element of an operand across K a 64-bit product for each, else
/// additions to pointers, two for each step across K and each row along it. A load that may lie outside gets its
/// address and a zero apart.
LoopOverhead direct_overhead(const model::TileConfig& config, bool in_bounds) {
  std::int64_t across = 0, rows_along = 0;
  for (const bool is_b : {false, true}) {
    const bool along = model::k_contiguous(config, is_b);
    across += along ? 0 : 1;
    rows_along += along ? (is_b ? config.tn : config.tm) : 0;
  }
  constexpr double kOutsidePerLoad = 1.7;
  const double loads = static_cast<double>((config.tm + config.tn) * config.bk);
  const auto outside = in_bounds ? 0 : static_cast<int>(std::lround(kOutsidePerLoad * loads));
  if (config.tm * config.tn == 1) {
    constexpr int kPointers = 5;
    return {kPointers + outside, 0, static_cast<int>(across * config.bk)};
  }
  const double additions =
      -2.8 + 2.75 * static_cast<double>(across * config.bk) + 2.25 * static_cast<double>(rows_along);
  return {std::max(0, static_cast<int>(std::lround(additions))) + outside, 0, 0};
}

}  // namespace

LoopOverhead loop_overhead(const model::TileConfig& config, bool in_bounds) {
  if (config.family == model::Family::kMma) {
    return mma_loop_overhead(config);
  }
  if (!uses_shared_memory(config)) {
    return direct_overhead(config, in_bounds);
  }
  // A fit on what ptxas 13.0 spends on addresses, buffers and the counter (traces/calibration/ptxas/simt.csv), by
  // copies along K and across it; with a swizzle the fragments' addresses come to it.
  double along = 0.0;
  double across = 0.0;
  for (const bool is_b : {false, true}) {
    (model::k_contiguous(config, is_b) ? along : across) += static_cast<double>(model::copies_per_thread(config, is_b));
  }
  const double fragments =
      config.swizzle > 0
          ? static_cast<double>(config.bk * (model::ceil_div(config.tm, 4) + model::ceil_div(config.tn, 4)))
          : 0.0;
  const auto wide = static_cast<int>(along + across);
  const auto rest = [wide](double all) { return std::max(0, static_cast<int>(std::lround(all)) - wide); };
  if (config.copy == model::CopyPath::kAsync) {
    return {rest(10.3 + 10.0 * (along + across) + 1.7 * fragments), 10, wide};
  }
  return config.stages > 1 ? LoopOverhead{rest(2.0 + 5.5 * along + 11.2 * across + 0.65 * fragments), 6, wide}
                           : LoopOverhead{rest(-2.5 + 6.4 * along + 8.6 * across + 0.39 * fragments), 0, wide};
}

int prologue_integers(const model::TileConfig& config) {
  constexpr int kSimt = 36;
  return config.family == model::Family::kMma ? mma_prologue_integers(config) : kSimt;
}

int fragment_budget(const model::TileConfig& config) {
  if (config.family == model::Family::kMma) {
    return mma_fragment_budget(config);
  }
  const auto step = static_cast<int>(config.tm + config.tn);
  const auto room =
      static_cast<int>(model::registers_per_thread(config) - config.tm * config.tn) - address_registers(config);
  if (!uses_shared_memory(config)) {
    return std::max(step, room);
  }
  const bool staged = config.stages > 1 && config.copy == model::CopyPath::kRegister;
  const auto staging = static_cast<int>(
      staged ? config.vec * (model::copies_per_thread(config, false) + model::copies_per_thread(config, true)) : 0);
  // The next step's fragments beside the present ones, or more if the registers that ptxas would take leave room.
  return std::max(2 * step + staging, room);
}

int address_registers(const model::TileConfig& config) {
  if (config.family == model::Family::kMma) {
    return kMmaAddressRegisters;
  }
  if (!uses_shared_memory(config)) {
    constexpr int kLeast = 11;  // and the pointers of rows and columns; the sums lie beside them
    constexpr std::int64_t kMost = 32;
    return static_cast<int>(std::min(kMost, kLeast + 2 * (config.tm + config.tn)));
  }
  return config.stages > 1 ? 26 : 18;
}

int assign_registers(const model::TileConfig& config, const std::vector<Value>& values,
                     std::vector<Operation>& operations) {
  const bool swapped = config.family == model::Family::kSimt && config.tn > 1;
  const auto sums = static_cast<int>(model::accumulators_per_thread(config));
  std::vector<int> place(values.size(), 0);
  std::vector<std::size_t> last_use(values.size(), 0);
  for (int s = 0, first = 0; first < sums; ++s) {
    place[static_cast<std::size_t>(s)] = swapped ? first ^ 1 : first;
    first += values[static_cast<std::size_t>(s)].width;
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    for (const Use& use : operations[i].uses) {
      last_use[static_cast<std::size_t>(use.value)] = i;
    }
  }
  const int fixed = sums + address_registers(config);
  Allocator registers(fixed);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Operation& op = operations[i];
    for (const Use& use : op.uses) {
      const Value& value = values[static_cast<std::size_t>(use.value)];
      const auto at = static_cast<std::size_t>(use.value);
      if (!value.fixed && last_use[at] == i && place[at] != 0) {
        registers.free(place[at], value.width);
        last_use[at] = operations.size();  // once
      }
    }
    if (op.result >= 0 && !values[static_cast<std::size_t>(op.result)].fixed) {
      const auto at = static_cast<std::size_t>(op.result);
      place[at] = registers.take(values[at].width);
      if (last_use[at] == 0) {
        registers.free(place[at], values[at].width);
      }
    }
    set_reads(place, op);
  }
  set_reuse(operations);
  return std::max(fixed, registers.highest() + 1);
}

}  // namespace tilesim::traces::generator
