// Tiny kernels assembled by hand from encodings, for what the calibration kernels do not contain.
#pragma once

#include <vector>

#include "traces/emulator/launch.h"
#include "traces/sass/instruction.h"

namespace tilesim::traces::small {

[[nodiscard]] Encoding read_thread_index(unsigned destination);                               ///< S2R Rd, SR_TID.X
[[nodiscard]] Encoding move_immediate(unsigned destination, unsigned value);                  ///< MOV Rd, value
[[nodiscard]] Encoding is_at_least(unsigned predicate, unsigned source, unsigned value);      ///< ISETP.GE.AND
[[nodiscard]] Encoding add_immediate(unsigned destination, unsigned source, unsigned value);  ///< VIADD
[[nodiscard]] Encoding load_shared(unsigned destination, unsigned address);                   ///< LDS Rd, [Ra]
[[nodiscard]] Encoding branch(int distance);       ///< BRA, in instructions from the next one
[[nodiscard]] Encoding synchronise();              ///< BAR.SYNC 0
[[nodiscard]] Encoding converge_at(int distance);  ///< BSSY B0, in instructions from the next one
[[nodiscard]] Encoding converge();                 ///< BSYNC B0
[[nodiscard]] Encoding exit();
[[nodiscard]] Encoding nop();
[[nodiscard]] Encoding guarded(Encoding instruction, unsigned predicate, bool negated);

/// Decodes the instructions as a kernel; fails the test if that fails.
[[nodiscard]] DecodedKernel kernel(const std::vector<Encoding>& code);
/// One CTA of `threads`, `shared_bytes` of shared memory, no arguments.
[[nodiscard]] LaunchParameters launch(unsigned threads, std::uint64_t shared_bytes);

}  // namespace tilesim::traces::small
