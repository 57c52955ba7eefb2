// The execution pipes of a sub-partition as issue-interval servers. FFMA, FADD and FMUL go to whichever half of the FMA
// pipe is free; integer multiply-adds to the heavy half only; packed half ops take both halves. An HMMA
// needs both halves free and lets FMA and ALU instructions go on p.hmma_hold cycles later; with n fillers per HMMA that
// makes 2n + 1 cycles for IADD3 and n + 3 for FFMA, as measured from 6 fillers on (with 2 to 5 FFMA the H200 takes
// 7.5 cycles, here 6 to 8). Source: H200 microbenchmarks, pipes, tensor cores.
#pragma once

#include <algorithm>

#include "sim/engine/cycle.h"
#include "sim/isa/program.h"
#include "sim/sm/sm_parameters.h"

namespace tilesim::sim {

class MathPipes {
 public:
  explicit MathPipes(const SmParameters& parameters) : p_(parameters) {}

  /// First cycle in which the pipe takes another instruction.
  [[nodiscard]] Cycle free_at(isa::Pipe pipe) const {
    switch (pipe) {
      case isa::Pipe::kFma:
        return std::min(heavy_, lite_);
      case isa::Pipe::kFmaHeavy:
      case isa::Pipe::kFmaWide:
        return heavy_;
      case isa::Pipe::kHalf:
        return std::max(heavy_, lite_);
      case isa::Pipe::kAlu:
        return alu_;
      case isa::Pipe::kUniform:
        return uniform_;
      case isa::Pipe::kTensorHalf:
        return tensor_;
      case isa::Pipe::kTensor:
      case isa::Pipe::kTensorShort:
        return std::max({tensor_, heavy_, lite_});
      case isa::Pipe::kFp64:
        return fp64_;
      case isa::Pipe::kXu:
        return xu_ - p_.xu * p_.xu_queue;
      case isa::Pipe::kS2r:
      case isa::Pipe::kAdu:
      case isa::Pipe::kLsu:
      case isa::Pipe::kBranch:
      case isa::Pipe::kNone:
        break;
    }
    return 0;
  }

  /// Occupies the pipe from `now`. Returns the cycles for which dispatch is held beyond the issue cycle itself.
  Cycle issue(isa::Pipe pipe, Cycle now) {
    switch (pipe) {
      case isa::Pipe::kFma:
        (lite_ <= now ? lite_ : heavy_) = now + p_.fma_half;
        break;
      case isa::Pipe::kFmaHeavy:
        heavy_ = now + p_.fma_half;
        break;
      case isa::Pipe::kFmaWide:
        heavy_ = now + p_.fma_wide;
        return p_.fma_wide_hold;
      case isa::Pipe::kHalf:
        heavy_ = lite_ = now + p_.half;
        break;
      case isa::Pipe::kAlu:
        alu_ = now + p_.alu;
        break;
      case isa::Pipe::kUniform:
        uniform_ = now + p_.uniform;
        break;
      case isa::Pipe::kTensorHalf:
        tensor_ = now + p_.hfma2_mma;
        break;
      case isa::Pipe::kTensor:
        issue_hmma(now, p_.hmma);
        break;
      case isa::Pipe::kTensorShort:
        issue_hmma(now, p_.hmma_short);
        break;
      case isa::Pipe::kFp64:
        fp64_ = now + p_.fp64;
        break;
      case isa::Pipe::kXu:
        xu_ = std::max(xu_, now) + p_.xu;
        break;
      case isa::Pipe::kS2r:
      case isa::Pipe::kAdu:
      case isa::Pipe::kLsu:
      case isa::Pipe::kBranch:
      case isa::Pipe::kNone:
        break;
    }
    return 0;
  }

 private:
  void issue_hmma(Cycle now, Cycle interval) {
    tensor_ = now + interval;
    heavy_ = lite_ = now + p_.hmma_hold;  // both are free at `now`
    alu_ = std::max(alu_, now + p_.hmma_hold);
  }

  const SmParameters& p_;
  Cycle heavy_ = 0, lite_ = 0, alu_ = 0, uniform_ = 0, tensor_ = 0, fp64_ = 0, xu_ = 0;
};

}  // namespace tilesim::sim
