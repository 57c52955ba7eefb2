// Operand fetch of a sub-partition: the register file has banks (register number mod banks) with one 32-lane read per
// bank and cycle; reads are in order; an instruction issues in the first cycle t in which all its reads can be done by
// t + max(window, its own largest per-bank read count). The same register in two slots is read once; an operand that
// the warp's previous instruction kept with .reuse in the same slot is not read at all. Source: H200 microbenchmarks,
// operand fetch (153 of 154 measured patterns within 3 %). An HMMA reads whole fragments (4, 2 and 4 registers, 5 reads
// of each bank) and begins `window` cycles late: HMMA and n FFMA that each read one bank take n + 7 cycles (measured).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/engine/cycle.h"
#include "sim/isa/program.h"

namespace tilesim::sim {

/// What an instruction reads of the register file, by bank.
struct OperandReads {
  static constexpr int kMaxBanks = 8;
  using Needs = std::array<std::uint8_t, kMaxBanks>;

  std::uint8_t count = 0;  ///< operands
  bool matrix = false;     ///< HMMA
  Needs all{};             ///< reads per bank if no operand was kept
  std::array<Needs, 3> of_operand{};
  std::array<std::uint16_t, 3> registers{};
  std::array<std::uint8_t, 3> slots{};
  /// By slot, what stays for the warp's next instruction: a yielding one loses its kept operands (measured).
  std::array<std::uint16_t, 3> kept{isa::kRegisterZero, isa::kRegisterZero, isa::kRegisterZero};
};

/// One entry per instruction of the program.
[[nodiscard]] inline std::vector<OperandReads> operand_reads(const isa::Program& program, int banks) {
  constexpr std::array<int, 3> kLong{4, 2, 4};  // registers of A, B, C of an m16n8 product
  constexpr std::array<int, 3> kShort{2, 1, 4};
  std::vector<OperandReads> result;
  result.reserve(program.instructions.size());
  for (const isa::Instruction& inst : program.instructions) {
    OperandReads& reads = result.emplace_back();
    reads.count = inst.read_count;
    reads.matrix = inst.pipe == isa::Pipe::kTensor || inst.pipe == isa::Pipe::kTensorShort;
    for (std::size_t i = 0; i < inst.read_count; ++i) {
      const isa::RegisterRead& read = inst.reads[i];
      reads.registers[i] = read.reg;
      reads.slots[i] = read.slot;
      if (read.reuse && !inst.yield) {
        reads.kept[read.slot] = read.reg;
      }
      const auto same = [&read](const isa::RegisterRead& other) { return other.reg == read.reg; };
      if (std::any_of(inst.reads.begin(), inst.reads.begin() + static_cast<std::ptrdiff_t>(i), same)) {
        continue;
      }
      const int width = inst.pipe == isa::Pipe::kTensor        ? kLong[read.slot]
                        : inst.pipe == isa::Pipe::kTensorShort ? kShort[read.slot]
                                                               : 1;
      for (int r = 0; r < width; ++r) {
        const auto bank = static_cast<std::size_t>((read.reg + r) % banks);
        ++reads.of_operand[i][bank];
        ++reads.all[bank];
      }
    }
  }
  return result;
}

class RegisterPorts {
 public:
  RegisterPorts(int banks, int window) : banks_(static_cast<std::size_t>(banks)), window_(window) {}

  /// First cycle from `now` on in which the instruction of warp slot `warp` finds its read ports free.
  [[nodiscard]] Cycle earliest(const OperandReads& reads, int warp, Cycle now) const {
    if (reads.count == 0) {
      return now;
    }
    const OperandReads::Needs needs = left(reads, warp);
    int most = 0;
    for (std::size_t b = 0; b < banks_; ++b) {
      most = std::max<int>(most, needs[b]);
    }
    const int window = reads.matrix ? window_ + most : std::max(window_, most);
    Cycle t = now;
    for (std::size_t b = 0; b < banks_; ++b) {
      if (needs[b] != 0) {
        t = std::max(t, free_[b] + needs[b] - window);
      }
    }
    return t;
  }

  /// Takes the ports for the instruction issued at `now` and records which operands stay for the warp's next one.
  void issue(const OperandReads& reads, int warp, Cycle now) {
    if (reads.count != 0) {
      const OperandReads::Needs needs = left(reads, warp);
      const Cycle begin = reads.matrix ? now + window_ : now;
      for (std::size_t b = 0; b < banks_; ++b) {
        if (needs[b] != 0) {
          free_[b] = std::max(free_[b], begin) + needs[b];
        }
      }
    }
    kept_warp_ = warp;
    kept_ = reads.kept;
  }

 private:
  /// Reads per bank, without operands that the warp's previous instruction kept.
  [[nodiscard]] OperandReads::Needs left(const OperandReads& reads, int warp) const {
    OperandReads::Needs needs = reads.all;
    if (warp == kept_warp_) {
      for (std::size_t i = 0; i < reads.count; ++i) {
        if (kept_[reads.slots[i]] == reads.registers[i]) {
          for (std::size_t b = 0; b < banks_; ++b) {
            needs[b] = static_cast<std::uint8_t>(needs[b] - reads.of_operand[i][b]);
          }
        }
      }
    }
    return needs;
  }

  std::size_t banks_;
  int window_;
  std::array<Cycle, OperandReads::kMaxBanks> free_{};
  int kept_warp_ = -1;
  std::array<std::uint16_t, 3> kept_{isa::kRegisterZero, isa::kRegisterZero, isa::kRegisterZero};
};

}  // namespace tilesim::sim
