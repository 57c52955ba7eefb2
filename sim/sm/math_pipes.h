// The execution pipes of a sub-partition as issue-interval servers. FFMA, FADD and FMUL go to whichever half of the FMA
// pipe is free; integer multiply-adds to the heavy half only; packed half ops take both halves. Source: H200
// microbenchmarks, pipes.
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
      case isa::Pipe::kTensor:
        return tensor_;
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
        tensor_ = now + p_.hmma;
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
  const SmParameters& p_;
  Cycle heavy_ = 0, lite_ = 0, alu_ = 0, uniform_ = 0, tensor_ = 0, fp64_ = 0, xu_ = 0;
};

}  // namespace tilesim::sim
