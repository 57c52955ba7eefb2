// A kernel that is ready to be simulated, whatever front end it comes from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "model/result.h"
#include "model/tile_config.h"
#include "sim/isa/stream.h"

namespace tilesim::app {

class KernelSource {
 public:
  virtual ~KernelSource() = default;
  [[nodiscard]] virtual const isa::Program& program() const = 0;
  [[nodiscard]] virtual isa::Dim3 grid() const = 0;
  [[nodiscard]] virtual isa::Dim3 block() const = 0;
  /// Type whose pipe does most of the work, for peaks.
  [[nodiscard]] virtual model::DataType math() const { return model::DataType::kF32; }
  /// As isa::KernelStream::ordered(): all SMs have to be simulated instruction by instruction.
  [[nodiscard]] virtual bool ordered() const { return false; }
  /// Trips of the main loop per warp; 0 without a loop.
  [[nodiscard]] virtual std::uint64_t loop_trips() const = 0;
  /// Instruction of the main loop's backward branch.
  [[nodiscard]] virtual std::optional<std::uint32_t> loop_branch() const = 0;
  /// The launch with the first and last `length` / 2 trips of the main loop executed and those between skipped without
  /// time; all trips if `length` is 0. Errors: the front end's.
  [[nodiscard]] virtual Result<std::unique_ptr<isa::KernelStream>> open(std::uint64_t length) const = 0;
};

}  // namespace tilesim::app
