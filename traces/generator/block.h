// Code before it has an order: the operations of a straight-line stretch, the values they pass, and what must stay
// before what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/isa/program.h"

namespace tilesim::traces::generator {

/// A value in `width` registers, aligned to their number.
struct Value {
  int width = 1;
  bool fixed = false;  ///< lives outside the block too: accumulators, addresses, counters
};

/// One register of a value.
struct Use {
  int value = -1;
  int part = 0;
};

/// What an operation waits for when it uses another's result.
enum class ResultKind : std::uint8_t {
  kFixed,   ///< ready a fixed number of cycles after issue: stall counts
  kShared,  ///< LDS, LDSM
  kGlobal,  ///< LDG
  kDirect,  ///< LDG of what products multiply: they wait for it as for LDS
  kSlow,    ///< S2R, LDC
};

struct Operation {
  isa::Instruction code;  ///< registers, stall counts and scoreboards are filled in later
  std::string name;       ///< opcode with modifiers
  std::vector<Use> uses;
  int result = -1;         ///< value
  int result_values = 1;   ///< values that are written, from `result` on
  int access = -1;         ///< of memory operations: number in the kernel's table of accesses
  int tile = 0;            ///< of memory operations: K-slice, relative to the trip of the loop
  std::vector<int> after;  ///< operations of the block that must have issued before
  ResultKind kind = ResultKind::kFixed;
};

/// True for the multiply instructions, whose order the source says.
[[nodiscard]] inline bool is_product(const Operation& op) {
  return op.code.pipe == isa::Pipe::kFma || op.code.pipe == isa::Pipe::kTensor;
}

struct Block {
  std::vector<Operation> operations;
  std::vector<Value> values;  ///< of the block; `fixed` ones come first and are the same in all blocks of a kernel
};

}  // namespace tilesim::traces::generator
