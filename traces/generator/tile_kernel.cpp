#include "traces/generator/tile_kernel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/waves.h"
#include "traces/generator/tile_accesses.h"
#include "traces/generator/tile_code.h"

namespace tilesim::traces {

namespace {

using generator::AccessKind;
using generator::TileAccesses;
using generator::TileCode;
using generator::TilePosition;

}  // namespace

struct TileKernel::Impl {
  Impl(const model::TileConfig& config, const model::Problem& p)
      : problem(p), accesses(config, p), code(generator::make_tile_code(config, accesses)) {
    tiles_m = model::ceil_div(problem.m, config.bm);
    tiles_n = model::ceil_div(problem.n, config.bn);
    slices = model::ceil_div(model::ceil_div(problem.k, problem.split_k), config.bk);
    trips = slices - code.peeled;
    next_global.resize(code.references.size() + 1, static_cast<std::uint32_t>(code.references.size()));
    for (std::size_t i = code.references.size(); i-- > 0;) {
      const bool global = isa::is_global(code.program.instructions[i].memory) &&
                          accesses.at(code.references[i].access).kind != AccessKind::kLocal;
      next_global[i] = global ? static_cast<std::uint32_t>(i) : next_global[i + 1];
    }
    estimate.registers = code.registers;
    estimate.spilled_bytes = code.spilled_bytes;
    estimate.shared_bytes = model::shared_bytes(config);
  }

  [[nodiscard]] TilePosition position(std::uint64_t cta) const {
    const std::int64_t tiles = tiles_m * tiles_n;
    const auto id = static_cast<std::int64_t>(cta);
    const auto [row, column] = model::tile_of_rank(config().raster, id % tiles, tiles_m, tiles_n);
    TilePosition at;
    at.row = row * config().bm;
    at.column = column * config().bn;
    at.part = id / tiles % problem.split_k;
    at.k = at.part * slices * config().bk;
    at.k_end = std::min(problem.k, at.k + slices * config().bk);
    at.batch = id / tiles / problem.split_k;
    at.cta = id;
    return at;
  }
  [[nodiscard]] const model::TileConfig& config() const { return accesses.config(); }

  model::Problem problem;
  TileAccesses accesses;
  TileCode code;
  std::int64_t tiles_m = 0, tiles_n = 0, slices = 0, trips = 0;
  std::int64_t skip_after = 0, skip = 0;
  std::vector<std::uint32_t> next_global;  ///< by instruction: the first global access from it on
  CodeEstimate estimate;
};

namespace {

template <class Impl>
class TileWarp final : public isa::WarpStream {
 public:
  void start(const Impl& impl, const TilePosition& position, int warp) {
    impl_ = &impl;
    position_ = position;
    warp_ = warp;
    trip_ = 0;
    next_index_ = 0;
    exited_ = false;
    executed_ = 0;
  }

  [[nodiscard]] bool step(isa::DynamicInstruction& out) override {
    const TileCode& code = impl_->code;
    const isa::Instruction& inst = code.program.instructions[next_index_];
    out.index = next_index_;
    out.active_mask = ~0U;
    out.branch_taken = false;
    ++executed_;
    if (inst.memory != isa::MemoryOp::kNone) {
      describe(out);
    }
    exited_ = inst.control == isa::ControlOp::kExit;
    advance(out.branch_taken);
    return true;
  }

  [[nodiscard]] bool step_to_global(const isa::Program&, isa::DynamicInstruction& out) override {
    while (!exited_) {
      const std::uint32_t global = impl_->next_global[next_index_];
      if (next_index_ < impl_->code.loop_begin && global >= impl_->code.loop_begin && impl_->trips == 0) {
        pass_to(impl_->code.loop_begin);
        next_index_ = impl_->code.loop_end;
        continue;
      }
      if (next_index_ < impl_->code.loop_end && global >= impl_->code.loop_end &&
          next_index_ >= impl_->code.loop_begin) {
        pass_to(impl_->code.loop_end - 1);
        ++executed_;  // the branch
        bool taken = false;
        advance(taken);
        continue;
      }
      if (global == impl_->code.references.size()) {
        pass_to(global);
        exited_ = true;
        break;
      }
      pass_to(global);
      if (!step(out)) {
        return false;
      }
      if (out.active_mask != 0) {
        return true;
      }
    }
    out.active_mask = 0;
    return true;
  }

  [[nodiscard]] const Error& error() const override { return error_; }

 private:
  [[nodiscard]] std::int64_t slice(std::int64_t relative) const {
    if (next_index_ < impl_->code.loop_begin) {
      return relative;
    }
    return relative + (next_index_ < impl_->code.loop_end ? trip_ : impl_->slices - 1);
  }

  void describe(isa::DynamicInstruction& out) const {
    const generator::MemoryReference& reference = impl_->code.references[next_index_];
    impl_->accesses.describe(reference.access, warp_, position_, slice(reference.slice), out);
  }

  /// To an instruction further on without reporting those before it; the loop, if it lies between, goes round.
  void pass_to(std::uint32_t to) {
    executed_ += to - next_index_;
    if (next_index_ < impl_->code.loop_begin && to >= impl_->code.loop_end) {
      executed_ += (static_cast<std::uint64_t>(impl_->trips) - 1) * body();
    }
    next_index_ = to;
  }

  [[nodiscard]] std::uint64_t body() const { return impl_->code.loop_end - impl_->code.loop_begin; }

  /// To the next instruction; `taken` says whether the loop goes on.
  void advance(bool& taken) {
    const TileCode& code = impl_->code;
    const std::uint32_t from = next_index_++;
    if (next_index_ == code.loop_begin && impl_->trips == 0) {
      next_index_ = code.loop_end;
    }
    if (from + 1 != code.loop_end) {
      return;
    }
    ++trip_;
    if (trip_ == impl_->skip_after) {
      trip_ += impl_->skip;
      executed_ += static_cast<std::uint64_t>(impl_->skip) * body();
    }
    taken = trip_ < impl_->trips;
    next_index_ = taken ? code.loop_begin : code.loop_end;
  }

  const Impl* impl_ = nullptr;
  TilePosition position_;
  int warp_ = 0;
  std::int64_t trip_ = 0;
  Error error_;
};

template <class Impl>
class TileCta final : public isa::CtaStream {
 public:
  void start(const Impl& impl, std::uint64_t cta) {
    const TilePosition position = impl.position(cta);
    warps_.resize(static_cast<std::size_t>(threads_per_cta(impl.config()) / isa::kWarpSize));
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      warps_[w].start(impl, position, static_cast<int>(w));
    }
  }
  [[nodiscard]] int warp_count() const override { return static_cast<int>(warps_.size()); }
  [[nodiscard]] isa::WarpStream& warp(int index) override { return warps_[static_cast<std::size_t>(index)]; }

 private:
  std::vector<TileWarp<Impl>> warps_;
};

}  // namespace

Result<std::unique_ptr<TileKernel>> TileKernel::create(const model::TileConfig& config, const model::Problem& problem) {
  return std::unique_ptr<TileKernel>(new TileKernel(std::make_unique<Impl>(config, problem)));
}

TileKernel::TileKernel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TileKernel::~TileKernel() = default;

const isa::Program& TileKernel::program() const { return impl_->code.program; }

isa::Dim3 TileKernel::grid() const {
  return {static_cast<std::uint32_t>(impl_->tiles_n), static_cast<std::uint32_t>(impl_->tiles_m),
          static_cast<std::uint32_t>(impl_->problem.split_k * impl_->problem.batch)};
}

isa::Dim3 TileKernel::block() const { return {static_cast<std::uint32_t>(threads_per_cta(impl_->config())), 1, 1}; }

std::unique_ptr<isa::CtaStream> TileKernel::open(std::uint64_t linear_id,
                                                 std::unique_ptr<isa::CtaStream> recycled) const {
  using Cta = TileCta<Impl>;
  auto* used = dynamic_cast<Cta*>(recycled.get());
  std::unique_ptr<Cta> fresh = used == nullptr ? std::make_unique<Cta>() : nullptr;
  (used == nullptr ? *fresh : *used).start(*impl_, linear_id);
  return used == nullptr ? std::unique_ptr<isa::CtaStream>(std::move(fresh)) : std::move(recycled);
}

const CodeEstimate& TileKernel::estimate() const { return impl_->estimate; }

std::uint64_t TileKernel::loop_trips() const { return static_cast<std::uint64_t>(impl_->trips); }

void TileKernel::skip_trips(std::uint64_t after, std::uint64_t trips) {
  impl_->skip_after = static_cast<std::int64_t>(after);
  impl_->skip = static_cast<std::int64_t>(trips);
}

}  // namespace tilesim::traces
