#include "tools/lib/ideal_source.h"

#include <array>
#include <utility>
#include <vector>

#include "model/shared_memory_rules.h"
#include "sim/isa/lane_address.h"

namespace tilesim::app {

namespace {

bool is_shared(isa::MemoryOp op) {
  return op == isa::MemoryOp::kLoadShared || op == isa::MemoryOp::kStoreShared || op == isa::MemoryOp::kLoadMatrix;
}

class IdealWarp final : public isa::WarpStream {
 public:
  void start(isa::WarpStream& base, const isa::Program& program, const Freedom& freedom) {
    base_ = &base;
    program_ = &program;
    freedom_ = freedom;
    spread_.assign(freedom.conflicts ? program.instructions.size() : 0, 0);
    follow();
  }

  [[nodiscard]] bool step(isa::DynamicInstruction& out) override {
    const isa::Instruction& inst = program_->instructions[next_index_];
    if (!base_->step(out)) {
      return false;
    }
    follow();
    if ((freedom_.shared && is_shared(inst.memory)) || (freedom_.global && isa::is_global(inst.memory))) {
      out.active_mask = 0;
    } else if (freedom_.conflicts && out.active_mask != 0) {
      if (is_shared(inst.memory)) {
        spread(inst, out);
      } else if (inst.memory == isa::MemoryOp::kCopyAsync) {
        spread_copy(inst, out);
      }
    }
    return true;
  }

  [[nodiscard]] const Error& error() const override { return base_->error(); }

  [[nodiscard]] bool step_to_global(const isa::Program& program, isa::DynamicInstruction& out) override {
    bool done = base_->step_to_global(program, out);
    while (freedom_.global && done && !base_->exited()) {  // there is none: the warp runs to its end
      done = base_->step_to_global(program, out);
    }
    out.active_mask = freedom_.global ? 0 : out.active_mask;
    follow();
    return done;
  }

 private:
  void follow() {
    next_index_ = base_->next_index();
    exited_ = base_->exited();
    executed_ = base_->executed();
  }

  /// Lays the lanes side by side; where the real pattern lets neighbouring lanes share a word, so that phases merge,
  /// they share one here. What an instruction does the first time stands for all times.
  void spread(const isa::Instruction& inst, isa::DynamicInstruction& out) {
    std::uint8_t& shift = spread_[out.index];
    if (shift == 0) {
      shift = merges(inst, out) ? 2 : 1;
    }
    for (std::uint64_t lane = 0; lane < isa::kWarpSize; ++lane) {
      out.addresses[lane] = (lane >> (shift - 1)) * inst.access_bytes;
    }
  }

  static void spread_copy(const isa::Instruction& inst, isa::DynamicInstruction& out) {
    for (std::uint32_t lane = 0; lane < isa::kWarpSize; ++lane) {
      isa::CopyLane copy = isa::CopyLane::of(out.addresses[lane]);
      copy.shared = lane * inst.access_bytes;
      out.addresses[lane] = copy.packed();
    }
  }

  [[nodiscard]] static bool merges(const isa::Instruction& inst, const isa::DynamicInstruction& out) {
    if (inst.memory != isa::MemoryOp::kLoadShared) {
      return false;
    }
    std::array<std::uint32_t, isa::kWarpSize> real;
    std::array<std::uint32_t, isa::kWarpSize> side_by_side;
    for (std::uint32_t lane = 0; lane < isa::kWarpSize; ++lane) {
      real[lane] = static_cast<std::uint32_t>(out.addresses[lane]);
      side_by_side[lane] = lane * inst.access_bytes;
    }
    return model::shared_load_wavefronts(real, out.active_mask, inst.access_bytes).phases <
           model::shared_load_wavefronts(side_by_side, out.active_mask, inst.access_bytes).phases;
  }

  isa::WarpStream* base_ = nullptr;
  const isa::Program* program_ = nullptr;
  Freedom freedom_;
  std::vector<std::uint8_t> spread_;  ///< by instruction: 0 not seen yet, 1 lanes apart, 2 in pairs
};

class IdealCta final : public isa::CtaStream {
 public:
  void start(std::unique_ptr<isa::CtaStream> base, const isa::Program& program, const Freedom& freedom) {
    base_ = std::move(base);
    warps_.resize(static_cast<std::size_t>(base_->warp_count()));
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      warps_[w].start(base_->warp(static_cast<int>(w)), program, freedom);
    }
  }
  [[nodiscard]] std::unique_ptr<isa::CtaStream> take_base() { return std::move(base_); }
  [[nodiscard]] int warp_count() const override { return static_cast<int>(warps_.size()); }
  [[nodiscard]] isa::WarpStream& warp(int index) override { return warps_[static_cast<std::size_t>(index)]; }

 private:
  std::unique_ptr<isa::CtaStream> base_;
  std::vector<IdealWarp> warps_;
};

class IdealKernel final : public isa::KernelStream {
 public:
  IdealKernel(std::unique_ptr<isa::KernelStream> base, const isa::Program& program, const Freedom& freedom,
              std::uint32_t ctas)
      : base_(std::move(base)), program_(program), freedom_(freedom), ctas_(ctas) {}

  [[nodiscard]] const isa::Program& program() const override { return program_; }
  [[nodiscard]] isa::Dim3 grid() const override { return {ctas_, 1, 1}; }
  [[nodiscard]] isa::Dim3 block() const override { return base_->block(); }

  [[nodiscard]] std::unique_ptr<isa::CtaStream> open(std::uint64_t linear_id,
                                                     std::unique_ptr<isa::CtaStream> recycled) const override {
    // The simulator hands back what this open() returned.
    std::unique_ptr<IdealCta> cta(static_cast<IdealCta*>(recycled.release()));
    if (cta == nullptr) {
      cta = std::make_unique<IdealCta>();
    }
    cta->start(base_->open(linear_id, cta->take_base()), program_, freedom_);
    return cta;
  }

 private:
  std::unique_ptr<isa::KernelStream> base_;
  const isa::Program& program_;
  Freedom freedom_;
  std::uint32_t ctas_;
};

}  // namespace

IdealSource::IdealSource(const KernelSource& base, const Freedom& freedom, std::uint32_t ctas)
    : base_(base), freedom_(freedom), ctas_(ctas), program_(base.program()) {
  for (isa::Instruction& inst : program_.instructions) {
    if (freedom.barriers && inst.control == isa::ControlOp::kBarrier) {
      inst.control = isa::ControlOp::kNone;
    }
  }
}

Result<std::unique_ptr<isa::KernelStream>> IdealSource::open(std::uint64_t length) const {
  auto kernel = base_.open(length);
  if (!kernel) {
    return kernel;
  }
  return std::unique_ptr<isa::KernelStream>(new IdealKernel(std::move(*kernel), program_, freedom_, ctas_));
}

}  // namespace tilesim::app
