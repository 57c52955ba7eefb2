// Executes one compiled operation on a warp's registers.
#pragma once

#include "traces/emulator/warp_registers.h"

namespace tilesim::traces {

/// Computes `operation` in the lanes of `mask` (for the uniform datapath: if the mask has any lane). Cannot fail:
/// compile() admits only operations that this function knows.
void execute(const Operation& operation, std::uint32_t mask, const MicroProgram& program, const WarpPosition& position,
             WarpRegisters& registers);

/// True for the values of Modifier::kFunction that execute() computes: RCP, RSQ, SQRT, EX2, LG2.
[[nodiscard]] bool is_known_function(unsigned number);

}  // namespace tilesim::traces
