// Operand fetch of a sub-partition: the register file has banks (register number mod banks) with one 32-lane read per
// bank and cycle; reads are in order; an instruction issues in the first cycle t in which all its reads can be done by
// t + max(window, its own largest per-bank read count). The same register in two slots is read once; an operand that
// the warp's previous instruction kept with .reuse in the same slot is not read at all. Source: H200 microbenchmarks,
// operand fetch (153 of 154 measured patterns within 3 %). An HMMA reads whole fragments (4, 2 and 4 registers, 5 reads
// of each bank) and begins `window` cycles late: HMMA and n FFMA that each read one bank take n + 7 cycles (measured).
#pragma once

#include <algorithm>
#include <array>

#include "sim/engine/cycle.h"
#include "sim/isa/program.h"

namespace tilesim::sim {

class RegisterPorts {
 public:
  RegisterPorts(int banks, int window) : banks_(banks), window_(window) {}

  /// First cycle from `now` on in which `inst` of warp slot `warp` finds its read ports free.
  [[nodiscard]] Cycle earliest(const isa::Instruction& inst, int warp, Cycle now) const {
    if (inst.read_count == 0) {
      return now;
    }
    const Needs needs = count(inst, warp);
    const int most = *std::max_element(needs.begin(), needs.end());
    const int window = is_matrix(inst) ? window_ + most : std::max(window_, most);
    Cycle t = now;
    for (int b = 0; b < banks_; ++b) {
      if (needs[b] != 0) {
        t = std::max(t, free_[b] + needs[b] - window);
      }
    }
    return t;
  }

  /// Takes the ports for `inst` issued at `now` and records which operands stay for the warp's next instruction.
  void issue(const isa::Instruction& inst, int warp, Cycle now) {
    if (inst.read_count != 0) {
      const Needs needs = count(inst, warp);
      for (int b = 0; b < banks_; ++b) {
        if (needs[b] != 0) {
          free_[b] = std::max(free_[b], is_matrix(inst) ? now + window_ : now) + needs[b];
        }
      }
    }
    kept_warp_ = warp;
    kept_ = {isa::kRegisterZero, isa::kRegisterZero, isa::kRegisterZero};
    if (!inst.yield) {  // a yielding instruction loses its kept operands (measured)
      for (int i = 0; i < inst.read_count; ++i) {
        const isa::RegisterRead& read = inst.reads[i];
        if (read.reuse) {
          kept_[read.slot] = read.reg;
        }
      }
    }
  }

 private:
  static constexpr int kMaxBanks = 8;

  [[nodiscard]] static bool is_matrix(const isa::Instruction& inst) {
    return inst.pipe == isa::Pipe::kTensor || inst.pipe == isa::Pipe::kTensorShort;
  }
  /// Registers of an operand: A, B, C of an m16n8 product.
  [[nodiscard]] static int matrix_registers(const isa::Instruction& inst, int slot) {
    constexpr std::array<int, 3> kLong{4, 2, 4};
    constexpr std::array<int, 3> kShort{2, 1, 4};
    const auto i = static_cast<std::size_t>(slot);
    return inst.pipe == isa::Pipe::kTensor ? kLong[i] : inst.pipe == isa::Pipe::kTensorShort ? kShort[i] : 1;
  }
  using Needs = std::array<int, kMaxBanks>;

  [[nodiscard]] Needs count(const isa::Instruction& inst, int warp) const {
    Needs needs{};
    for (int i = 0; i < inst.read_count; ++i) {
      const isa::RegisterRead& read = inst.reads[i];
      if (warp == kept_warp_ && kept_[read.slot] == read.reg) {
        continue;
      }
      bool seen = false;
      for (int j = 0; j < i; ++j) {
        seen = seen || inst.reads[j].reg == read.reg;
      }
      if (!seen) {
        for (int r = 0; r < matrix_registers(inst, read.slot); ++r) {
          ++needs[(read.reg + r) % banks_];
        }
      }
    }
    return needs;
  }

  int banks_;
  int window_;
  std::array<Cycle, kMaxBanks> free_{};
  int kept_warp_ = -1;
  std::array<std::uint16_t, 3> kept_{isa::kRegisterZero, isa::kRegisterZero, isa::kRegisterZero};
};

}  // namespace tilesim::sim
