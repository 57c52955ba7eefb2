// The static code behind an Accel-Sim trace, rebuilt from its lines.
//
// The trace holds opcode and leading registers of each instruction. What it lacks is put in its place: register ranges
// from opcode and width; stall counts, scoreboards and flags by accelsim_control.h, for the order of the addresses; the
// target of a branch from where warps went. Predicates, constants, uniform registers and the shared side of
// asynchronous copies are not known and cost nothing here. Results with such code are approximate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "sim/isa/program.h"
#include "traces/trace/accelsim_line.h"

namespace tilesim::traces::accelsim {

inline constexpr std::uint64_t kInstructionBytes = 16;

/// True for accesses to local memory: LDL, STL.
[[nodiscard]] bool is_local(std::string_view opcode);

class ProgramBuilder {
 public:
  /// Of the code whose lines follow.
  void set_architecture(int architecture) { architecture_ = architecture; }
  /// The instruction at line.pc: learnt at its first line, compared afterwards. Errors (kUsage, without `where`): an
  /// unknown opcode, an address that is no multiple of 16 or too large, another opcode than before at this address.
  [[nodiscard]] Result<isa::Instruction*> instruction(const Line& line);

  /// The code, addresses without a line as NOPs. `registers` are the header's.
  [[nodiscard]] isa::Program finish(const std::string& name) const;

  /// The instruction that ends warps; nothing if no line had one yet.
  [[nodiscard]] std::optional<std::uint32_t> exit() const { return exit_; }

 private:
  struct Known {
    isa::Instruction code;
    std::string opcode;
    Registers destinations;
    Registers sources;
  };
  [[nodiscard]] Result<Known> learn(const Line& line) const;

  int architecture_ = 90;
  std::map<std::uint32_t, Known> known_;  ///< by instruction index
  std::optional<std::uint32_t> exit_;
};

}  // namespace tilesim::traces::accelsim
