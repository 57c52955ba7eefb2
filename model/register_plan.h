// Registers and resident CTAs as a kernel is built for them: what the author asks of the compiler before there is code.
#pragma once

#include <cstdint>

#include "model/tile_config.h"

namespace tilesim::model {

/// CTAs per SM that the registers are to leave room for, the second operand of __launch_bounds__: `min_ctas` if given,
/// else as many as run with the registers that the kernel needs (estimate_registers) and its shared memory. Told so,
/// ptxas keeps to it; left alone it settles anywhere between two counts. 0 where nothing is asked: with a cap
/// (--regs) and with known registers. Rules of compute capability 9.0, for which kernels/ is built.
[[nodiscard]] std::int64_t planned_ctas(const TileConfig& config);

/// Most registers per thread, in units of 8, with which `ctas` CTAs of `threads` threads find room in an SM's file of
/// `registers_per_sm`; 0 if none. The file is cut into four equal parts, warps spread over them.
[[nodiscard]] std::int64_t register_share(std::int64_t threads, std::int64_t ctas,
                                          std::int64_t registers_per_sm = 65536);

/// Registers a thread may get: 255, the user's cap, and its share of the SM's file beside the planned CTAs.
[[nodiscard]] std::int64_t register_limit(const TileConfig& config, std::int64_t registers_per_sm = 65536);

/// Registers of a thread: what is known of them, else what ptxas wants within the limit.
[[nodiscard]] std::int64_t registers_per_thread(const TileConfig& config);

/// Registers with which nothing spills: accumulators, the fragments of one step of K, a staged slice, 14 for addresses
/// (mma: 20).
[[nodiscard]] std::int64_t least_registers(const TileConfig& config);

/// What does not fit in registers lives in local memory (L1). The less room, the more ptxas shuffles: figures fitted on
/// the capped SIMT kernels of traces/calibration/ptxas/simt.csv (128x128x8 with 8x8: 8 values in local memory and 6
/// reloads a K-step at 96 registers, 42 and 102 at 80, 124 and 295 at 64).
struct Spill {
  std::int64_t demand = 0;            ///< least_registers()
  std::int64_t limit = 0;             ///< register_limit()
  std::int64_t registers = 0;         ///< per thread, that live in local memory
  std::int64_t loads_per_k_step = 0;  ///< of a thread, 4 bytes each
  std::int64_t stores_per_k_step = 0;
  std::int64_t bytes_per_cta = 0;     ///< local memory that they need
  std::int64_t bytes_per_k_step = 0;  ///< stored and loaded by a CTA
  [[nodiscard]] constexpr bool spills() const { return registers > 0; }
};
[[nodiscard]] Spill spill_of(const TileConfig& config);

}  // namespace tilesim::model
