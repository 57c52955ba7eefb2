// A tile configuration as a source of instruction streams: the code that ptxas would be expected to make of the
// project's kernel templates (kernels/simt, kernels/mma) for that configuration, without a compiler.
#pragma once

#include <cstdint>
#include <memory>

#include "model/result.h"
#include "model/tile_config.h"
#include "sim/isa/stream.h"

namespace tilesim::traces {

/// What the generator estimates about the code.
struct CodeEstimate {
  int registers = 0;               ///< per thread, as ptxas would report them
  std::int64_t spilled_bytes = 0;  ///< of local memory per thread, if a register cap is too small
  std::int64_t shared_bytes = 0;   ///< of a CTA
};

/// The kernel of one problem. Immutable apart from skip_trips(); open() is thread-safe.
class TileKernel final : public isa::KernelStream {
 public:
  /// `config` must be legal for the problem (model::check_legality).
  [[nodiscard]] static Result<std::unique_ptr<TileKernel>> create(const model::TileConfig& config,
                                                                  const model::Problem& problem);
  ~TileKernel() override;

  [[nodiscard]] const isa::Program& program() const override;
  [[nodiscard]] isa::Dim3 grid() const override;
  [[nodiscard]] isa::Dim3 block() const override;
  [[nodiscard]] std::unique_ptr<isa::CtaStream> open(std::uint64_t linear_id,
                                                     std::unique_ptr<isa::CtaStream> recycled) const override;

  [[nodiscard]] const CodeEstimate& estimate() const;
  /// Trips of the main loop of each warp.
  [[nodiscard]] std::uint64_t loop_trips() const;
  /// Leaves out `trips` trips of the main loop after the first `after` (at least 1) in CTAs opened from now on.
  void skip_trips(std::uint64_t after, std::uint64_t trips);

 private:
  struct Impl;
  explicit TileKernel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilesim::traces
