// Kernels made by hand for tests of the machine: straight-line code and loops of a fixed number of trips, with
// addresses as a function of (instruction, trip, CTA, warp, lane).
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sim/isa/barrier_call.h"

namespace tilesim::sim::testing {

struct SyntheticKernel final : isa::KernelStream {
  /// Address of a lane at an execution of a memory instruction.
  using AddressOf =
      std::function<std::uint64_t(std::uint32_t index, std::uint64_t trip, std::uint64_t cta, int warp, int lane)>;

  isa::Program code;
  isa::Dim3 ctas;
  isa::Dim3 threads{32, 1, 1};
  std::uint64_t trips =
      1;  ///< executions of the loop that ends at each branch; the branch goes to its target that often less one
  /// What a CTA's `trips` are when they are not those of all.
  std::function<std::uint64_t(std::uint64_t cta)> trips_of;
  AddressOf address = [](auto, auto, auto, auto, int lane) { return static_cast<std::uint64_t>(lane) * 4; };
  /// Active lanes of an execution of a memory instruction or barrier.
  using MaskOf = std::function<std::uint32_t(std::uint32_t index, std::uint64_t cta, int warp)>;
  MaskOf mask = [](auto, auto, auto) { return ~0U; };

  isa::Instruction& add(isa::Pipe pipe, int stall = 1) {
    isa::Instruction inst;
    inst.pipe = pipe;
    inst.stall = static_cast<std::uint8_t>(stall);
    code.instructions.push_back(inst);
    code.text.emplace_back("synthetic");
    return code.instructions.back();
  }
  isa::Instruction& add_memory(isa::MemoryOp op, int bytes, int registers, int write_scoreboard) {
    isa::Instruction& inst = add(isa::Pipe::kLsu);
    inst.memory = op;
    inst.access_bytes = static_cast<std::uint8_t>(bytes);
    inst.mio_registers = static_cast<std::uint8_t>(registers);
    inst.write_scoreboard = static_cast<std::uint8_t>(write_scoreboard);
    return inst;
  }
  isa::Instruction& add_control(isa::ControlOp op, int stall = 1) {
    isa::Instruction& inst = add(isa::Pipe::kBranch, stall);
    inst.control = op;
    return inst;
  }
  void add_exit() { add_control(isa::ControlOp::kExit); }

  [[nodiscard]] const isa::Program& program() const override { return code; }
  [[nodiscard]] isa::Dim3 grid() const override { return ctas; }
  [[nodiscard]] isa::Dim3 block() const override { return threads; }
  [[nodiscard]] std::unique_ptr<isa::CtaStream> open(std::uint64_t id, std::unique_ptr<isa::CtaStream>) const override;
};

class SyntheticWarp final : public isa::WarpStream {
 public:
  SyntheticWarp(const SyntheticKernel& kernel, std::uint64_t cta, int warp)
      : kernel_(kernel), cta_(cta), warp_(warp), trips_(kernel.trips_of ? kernel.trips_of(cta) : kernel.trips) {}
  [[nodiscard]] bool step(isa::DynamicInstruction& out) override {
    const isa::Instruction& inst = kernel_.code.instructions[next_index_];
    out.index = next_index_;
    out.active_mask = ~0U;
    ++executed_;
    out.branch_taken = inst.control == isa::ControlOp::kBranch && trip_ + 1 < trips_;
    if (isa::carries_addresses(inst) || inst.control == isa::ControlOp::kBarrier) {
      out.active_mask = kernel_.mask(out.index, cta_, warp_);
    }
    if (isa::carries_addresses(inst)) {
      for (int lane = 0; lane < isa::kWarpSize; ++lane) {
        out.addresses[static_cast<std::size_t>(lane)] = kernel_.address(out.index, trip_, cta_, warp_, lane);
      }
    }
    exited_ = inst.control == isa::ControlOp::kExit;
    next_index_ = out.branch_taken ? inst.branch_target : next_index_ + 1;
    trip_ += out.branch_taken ? 1 : 0;
    return true;
  }
  [[nodiscard]] const Error& error() const override { return error_; }

 private:
  const SyntheticKernel& kernel_;
  std::uint64_t cta_;
  int warp_;
  std::uint64_t trips_;
  std::uint64_t trip_ = 0;
  Error error_;
};

class SyntheticCta final : public isa::CtaStream {
 public:
  SyntheticCta(const SyntheticKernel& kernel, std::uint64_t cta) {
    for (int w = 0; w < static_cast<int>(kernel.threads.count() / isa::kWarpSize); ++w) {
      warps_.push_back(std::make_unique<SyntheticWarp>(kernel, cta, w));
    }
  }
  [[nodiscard]] int warp_count() const override { return static_cast<int>(warps_.size()); }
  [[nodiscard]] isa::WarpStream& warp(int index) override { return *warps_[static_cast<std::size_t>(index)]; }

 private:
  std::vector<std::unique_ptr<SyntheticWarp>> warps_;
};

inline std::unique_ptr<isa::CtaStream> SyntheticKernel::open(std::uint64_t id, std::unique_ptr<isa::CtaStream>) const {
  return std::make_unique<SyntheticCta>(*this, id);
}

}  // namespace tilesim::sim::testing
