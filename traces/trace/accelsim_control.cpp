#include "traces/trace/accelsim_control.h"

#include <array>

#include "traces/generator/scheduler.h"
#include "traces/trace/accelsim_scoreboards.h"

namespace tilesim::traces::accelsim {

namespace {

using isa::ControlOp;
using isa::MemoryOp;
using isa::Pipe;

/// Cycles that ptxas leaves between two instructions of one pipe.
int pipe_interval(Pipe pipe) {
  switch (pipe) {
    case Pipe::kAlu:
    case Pipe::kFmaHeavy:
      return 2;
    case Pipe::kFmaWide:
      return 4;
    default:
      return 1;
  }
}

void space_pipes(std::vector<generator::Operation>& operations) {
  std::array<int, isa::kPipeCount> free{};
  int cycle = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    isa::Instruction& code = operations[i].code;
    int& next = free[static_cast<std::size_t>(code.pipe)];
    if (i > 0 && next > cycle) {
      isa::Instruction& before = operations[i - 1].code;
      before.stall = static_cast<std::uint8_t>(before.stall + next - cycle);
      cycle = next;
    }
    next = cycle + pipe_interval(code.pipe);
    cycle += code.stall;
  }
}

/// The yield flag as ptxas sets it: 99 % of the flags in the calibration kernels follow from this.
void set_yield(std::vector<generator::Operation>& operations) {
  constexpr int kLongStall = 12;  // with any instruction
  constexpr int kStall = 3;       // with one whose result comes after a fixed time
  constexpr int kShortStall = 2;  // only if that many cycles passed since the last one
  constexpr int kYieldCycles = 10;
  int since = 0;
  for (generator::Operation& op : operations) {
    isa::Instruction& code = op.code;
    const bool fixed = op.kind == generator::ResultKind::kFixed && code.memory == MemoryOp::kNone &&
                       code.control == ControlOp::kNone && code.pipe != Pipe::kTensor &&
                       code.pipe != Pipe::kTensorShort;
    code.yield = code.stall >= kLongStall ||
                 (fixed && (code.stall >= kStall || (code.stall == kShortStall && since >= kYieldCycles)));
    since = code.yield ? 0 : since + code.stall;
  }
}

bool writes(const generator::Operation& op, int reg) {
  return op.result >= 0 && op.result <= reg && reg < op.result + op.result_values;
}

/// ptxas marks an operand for reuse where the next instruction reads the same register in the same place.
void set_reuse(std::vector<generator::Operation>& operations) {
  for (std::size_t i = 0; i + 1 < operations.size(); ++i) {
    isa::Instruction& here = operations[i].code;
    const isa::Instruction& next = operations[i + 1].code;
    for (std::size_t a = 0; a < here.read_count; ++a) {
      for (std::size_t b = 0; b < next.read_count; ++b) {
        isa::RegisterRead& read = here.reads[a];
        read.reuse = read.reuse || (read.reg == next.reads[b].reg && read.slot == next.reads[b].slot &&
                                    !writes(operations[i], read.reg));
      }
    }
  }
}

}  // namespace

void set_control(std::vector<generator::Operation>& operations) {
  generator::set_control(operations);
  space_pipes(operations);
  set_scoreboards(operations);
  set_yield(operations);
  set_reuse(operations);
}

}  // namespace tilesim::traces::accelsim
