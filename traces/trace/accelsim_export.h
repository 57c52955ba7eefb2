// From streams to Accel-Sim's text traces.
#pragma once

#include <string>
#include <vector>

#include "model/result.h"
#include "sim/isa/stream.h"
#include "traces/trace/launch_record.h"
#include "traces/trace/text_stream.h"

namespace tilesim::traces {

/// Header and column line of a grouped text trace (.traceg), tracer version 5.
[[nodiscard]] std::string accelsim_header(const isa::Program& program, const LaunchRecord& launch);

/// Writes CTA `id` of the stream as a thread block at `place` in the launch's grid, warp by warp. Registers and opcodes
/// come from the instructions' texts. Errors: the stream's and the sink's.
[[nodiscard]] Result<void> export_cta(const isa::KernelStream& kernel, std::uint64_t id, const isa::Dim3& place,
                                      TextSink& out);

/// What of a line does not change: destination, opcode, sources, memory width.
struct AccelsimText {
  std::string before;  ///< " 1 R32 LDS.128 1 R8 16"
  bool memory = false;
  std::int64_t immediate = 0;
};
[[nodiscard]] AccelsimText accelsim_text(const isa::Instruction& instruction, const std::string& text);

}  // namespace tilesim::traces
