// Decoded kernels to the simulator's programs.
#pragma once

#include "sim/isa/program.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces {

/// The machine's view of a kernel: pipes (as Nsight Compute's pipe counters showed for each opcode on an H200), operand
/// reads of the math pipes (slot 0, 1, 2 = source a, spot 1, spot 2 of the encoding; of operands wider than a register
/// the first register), MIO source registers (LDS 1; STS 1 + data; LDG 2; STG 2 + data; LDGSTS 3), control fields,
/// memory descriptors, FLOPs.
[[nodiscard]] isa::Program lower(const DecodedKernel& kernel);

}  // namespace tilesim::traces
