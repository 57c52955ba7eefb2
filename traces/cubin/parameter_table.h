// Arguments of a launch against the parameter table that a cubin holds.
#pragma once

#include <cstdint>
#include <span>

#include "model/result.h"
#include "traces/cubin/cubin_reader.h"
#include "traces/emulator/arguments.h"

namespace tilesim::traces {

/// The arguments where the table has them: a struct passed as raw: may need less alignment than parse_arguments()
/// gives it. Errors (kUsage): another number of arguments than parameters, an argument of another size than its
/// parameter; they name argument, offset and both sizes.
[[nodiscard]] Result<KernelArguments> place_in_table(KernelArguments arguments,
                                                     std::span<const CubinParameter> parameters);

}  // namespace tilesim::traces
