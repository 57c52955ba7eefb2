// Runs the CTAs of a launch without time, as many at once as wait for each other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/result.h"
#include "sim/isa/stream.h"

namespace tilesim::traces {

/// Sees what the warps of a launch execute. An error ends the run.
class GridObserver {
 public:
  virtual ~GridObserver() = default;
  [[nodiscard]] virtual Result<void> begin(std::uint64_t cta, int warps) = 0;
  [[nodiscard]] virtual Result<void> executed(std::uint64_t cta, int warp,
                                              const isa::DynamicInstruction& instruction) = 0;
  [[nodiscard]] virtual Result<void> end(std::uint64_t cta) = 0;
};

/// What is run.
struct GridRun {
  std::function<std::unique_ptr<isa::CtaStream>(std::uint64_t)> open;
  std::span<const isa::Instruction> code;
  std::span<const std::uint64_t> ctas;  ///< which, as open() takes them
  std::string where;                    ///< file or kernel, for messages
  GridObserver* observer = nullptr;     ///< may be null
};

/// Runs the CTAs in order, the warps of a CTA in turn between barriers. While all CTAs that run wait for memory that
/// others write (WarpStream::waits()), a further one is started beside them. Returns the warp instructions executed.
/// Errors: the streams' and the observer's; kUsage: a CTA whose warps wait at barriers that never fill, CTAs that wait
/// for memory that none of them changes, a warp that does not end.
[[nodiscard]] Result<std::uint64_t> run_grid(const GridRun& run);

}  // namespace tilesim::traces
