// From Accel-Sim's text traces to ours.
#pragma once

#include <cstdint>
#include <filesystem>

#include "model/result.h"
#include "traces/trace/text_stream.h"

namespace tilesim::traces {

struct ImportSummary {
  std::uint64_t ctas = 0;
  std::uint64_t empty_ctas = 0;  ///< present, but without instructions: left out
  std::uint64_t instructions = 0;
  std::uint64_t without_lanes = 0;  ///< instructions that no lane executed, as branches not taken
};

/// Reads a grouped text trace (.traceg, tracer versions 1 to 6 without Hopper's GMMA and TMA) and writes it as a trace
/// of ours to `out`. CTAs keep the file's order, which is the order in which Accel-Sim starts them. What the text lacks
/// is rebuilt (accelsim_program.h) and the result says so: its code is "approximate". Memory: one CTA, loops folded.
/// Errors (kUsage) name file and line: not such a trace, cut, opcodes that are not known, a launch out of CUDA's
/// limits, no instructions, global addresses that are all zero.
[[nodiscard]] Result<ImportSummary> import_accelsim(TextSource& in, const std::filesystem::path& out);

}  // namespace tilesim::traces
