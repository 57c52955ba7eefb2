// What a trace knows besides the instructions: code, launch, and what reports say about both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/tile_config.h"
#include "sim/isa/stream.h"
#include "traces/trace/bytes.h"

namespace tilesim::traces {

struct LaunchRecord {
  std::string kernel;       ///< demangled
  std::string code;         ///< "compiled", "estimated" or "approximate"
  std::string origin;       ///< file that the code came from; empty for generated code
  std::string origin_kind;  ///< what that file is
  std::string arguments;
  isa::Dim3 grid;
  isa::Dim3 block;
  std::int64_t shared_bytes = 0;                 ///< of a CTA, static plus dynamic
  model::DataType math = model::DataType::kF32;  ///< type whose pipe the work is for
  int registers = 0;                             ///< per thread
  bool registers_assumed = false;
  int barriers = 1;
  std::optional<int> carveout_kb;
  std::optional<std::uint32_t> loop_branch;  ///< instruction of the main loop's backward branch
  std::uint64_t loop_trips = 0;              ///< of the main loop, per warp
  std::vector<std::string> notes;            ///< for reports
};

/// Instructions of the longest code that a trace can hold: it is one block of the file.
inline constexpr std::uint32_t kMaximumTraceInstructions = 1U << 19;

/// Both ways; decoding gives false for bytes that do not make sense, values out of range included.
[[nodiscard]] Bytes encode_launch(const LaunchRecord& launch);
[[nodiscard]] bool decode_launch(std::span<const std::uint8_t> bytes, LaunchRecord& out);
[[nodiscard]] Bytes encode_program(const isa::Program& program);
[[nodiscard]] bool decode_program(std::span<const std::uint8_t> bytes, isa::Program& out);

}  // namespace tilesim::traces
