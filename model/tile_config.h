// What the user asks about: a tile configuration of a GEMM kernel and a problem. Plain data, and the figures that
// follow from it alone (no GPU). Nothing here overflows as long as the extents pass check_legality() or
// validate_problem().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/result.h"

namespace tilesim::model {

/// How the kernel multiplies: FP32 FMAs of single threads on a TM x TN register tile, or mma.sync on a WM x WN warp
/// tile.
enum class Family { kSimt, kMma };
/// How a tile gets into shared memory: through registers (LDG, STS), or with cp.async (LDGSTS). Direct (SIMT): not at
/// all; every thread reads what it multiplies from global memory, element by element.
enum class CopyPath { kRegister, kAsync, kDirect };
/// Type of the elements of A and B in memory. TF32 is stored as 4 bytes; only the tensor core drops mantissa bits.
enum class DataType { kF32, kTf32, kF16, kBf16 };
/// First letter A, second B. n: stored as written, row-major (A is M x K, B is K x N). t: the transpose is row-major.
enum class Layout { kNN, kNT, kTN, kTT };
/// Order in which CTAs walk the tiles of C: along N first, along M first, or in groups of `group` tile rows that are
/// walked column by column.
enum class RasterKind { kAlongN, kAlongM, kGroup };

struct Raster {
  RasterKind kind = RasterKind::kAlongN;
  std::int64_t group = 1;
  friend bool operator==(const Raster&, const Raster&) = default;
};

/// The warp tile of mma kernels where none is said.
inline constexpr std::int64_t kUsualMmaWarpRows = 64;
inline constexpr std::int64_t kUsualMmaWarpColumns = 32;

/// A kernel as `tilesim check` and `tilesim run` take it. The defaults are the tile of the worked example.
struct TileConfig {
  Family family = Family::kSimt;
  std::int64_t bm = 128;  ///< rows of C per CTA
  std::int64_t bn = 128;  ///< columns of C per CTA
  std::int64_t bk = 8;    ///< depth of a K-step; direct: steps of K that the main loop is unrolled by
  std::int64_t tm = 8;    ///< rows per thread (SIMT)
  std::int64_t tn = 8;    ///< columns per thread (SIMT)
  std::int64_t wm = 0;    ///< rows per warp; SIMT: 0 = threads lie over the tile of the CTA, not over warp tiles
  std::int64_t wn = 0;    ///< columns per warp; 0 as wm
  std::int64_t stages = 1;
  CopyPath copy = CopyPath::kRegister;
  std::int64_t vec = 4;      ///< elements per global load and, where they stay together, per store to shared memory
  std::int64_t pad_a = 0;    ///< elements added to each row of the A tile in shared memory
  std::int64_t pad_b = 0;    ///< the same for B
  std::int64_t swizzle = 0;  ///< bits (0 to 3) of the row number XORed into the number of the 16-byte chunk; 0 = off
  Raster raster;
  std::int64_t register_cap = 0;  ///< ptxas' maxrregcount; 0 = none
  std::int64_t min_ctas = 0;      ///< CTAs per SM in __launch_bounds__; 0 = as many as register_plan.h plans for
  std::int64_t registers = 0;     ///< registers per thread if known (from ptxas); 0 = estimate them
  DataType dtype = DataType::kF32;
  Layout layout = Layout::kNN;
  friend bool operator==(const TileConfig&, const TileConfig&) = default;
};

/// C (M x N) = alpha A (M x K) * B (K x N) + beta C, `batch` times; K cut into `split_k` parts that different CTAs
/// compute. Each part is stored as a product of its own, the parts behind each other; adding them up is another
/// kernel's work (kernels/simt, kernels/mma). Only whether alpha is 1 and beta 0 matters to time.
struct Problem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  DataType dtype = DataType::kF32;
  std::int64_t split_k = 1;
  std::int64_t batch = 1;
  std::int64_t c_bytes = 0;  ///< bytes of an element of C; 0 = as A and B
  double alpha = 1.0;
  double beta = 0.0;  ///< not 0: C is read too
};

[[nodiscard]] std::string_view to_string(Family family);
[[nodiscard]] std::string_view to_string(CopyPath copy);
[[nodiscard]] std::string_view to_string(DataType dtype);
[[nodiscard]] std::string_view to_string(Layout layout);
[[nodiscard]] std::string to_string(const Raster& raster);

/// The inverse of to_string(); an unknown name is an Error that lists the names and the nearest one.
[[nodiscard]] Result<Family> parse_family(std::string_view text);
[[nodiscard]] Result<CopyPath> parse_copy_path(std::string_view text);
[[nodiscard]] Result<DataType> parse_data_type(std::string_view text);
[[nodiscard]] Result<Layout> parse_layout(std::string_view text);
[[nodiscard]] Result<Raster> parse_raster(std::string_view text);

/// Bytes of an element of A and B in memory.
[[nodiscard]] constexpr std::int64_t element_bytes(DataType dtype) {
  return dtype == DataType::kF16 || dtype == DataType::kBf16 ? 2 : 4;
}
/// Bytes of an element of C in memory.
[[nodiscard]] constexpr std::int64_t output_bytes(const Problem& problem) {
  return problem.c_bytes != 0 ? problem.c_bytes : element_bytes(problem.dtype);
}
/// Products of M x N elements that are stored behind each other, and how many of them lie before that of a part of a
/// batch entry.
[[nodiscard]] constexpr std::int64_t stored_products(const Problem& problem) { return problem.split_k * problem.batch; }
[[nodiscard]] constexpr std::int64_t stored_before(const Problem& problem, std::int64_t batch, std::int64_t part) {
  return batch * problem.split_k + part;
}
/// True if slices of A and B go through shared memory.
[[nodiscard]] constexpr bool uses_shared_memory(const TileConfig& config) { return config.copy != CopyPath::kDirect; }
/// True if the lanes of a warp of a SIMT kernel lie over a warp tile of their own.
[[nodiscard]] constexpr bool has_warp_tiles(const TileConfig& config) {
  return config.family == Family::kSimt && config.wm != 0;
}
/// True if A (or B) is stored transposed.
[[nodiscard]] constexpr bool a_transposed(Layout layout) { return layout == Layout::kTN || layout == Layout::kTT; }
[[nodiscard]] constexpr bool b_transposed(Layout layout) { return layout == Layout::kNT || layout == Layout::kTT; }

/// Quotient rounded up, for value >= 0 and divisor >= 1, without overflow.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

/// Threads of a CTA: (BM/TM)*(BN/TN), or 32 per warp tile. Needs positive extents.
[[nodiscard]] std::int64_t threads_per_cta(const TileConfig& config);
/// FP32 accumulators of a thread: TM*TN, or WM*WN/32.
[[nodiscard]] std::int64_t accumulators_per_thread(const TileConfig& config);

/// One operand tile as it lies in shared memory: `rows` rows of `columns` elements, `pad` elements after each.
/// SIMT kernels keep both tiles K-major (BK rows of BM or BN elements), so that a thread reads consecutive elements;
/// mma kernels keep the order of global memory, since LDSM can transpose.
struct SharedTile {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t pad = 0;
  std::int64_t element_bytes = 4;
  [[nodiscard]] constexpr std::int64_t pitch_bytes() const { return (columns + pad) * element_bytes; }
  [[nodiscard]] constexpr std::int64_t bytes() const { return rows * pitch_bytes(); }
};
[[nodiscard]] SharedTile shared_tile_a(const TileConfig& config);
[[nodiscard]] SharedTile shared_tile_b(const TileConfig& config);

/// Shared memory of one buffer, (BM*BK + BK*BN)*bytes plus padding, and of all `stages` buffers. Direct: none.
[[nodiscard]] std::int64_t shared_bytes_per_stage(const TileConfig& config);
[[nodiscard]] std::int64_t shared_bytes(const TileConfig& config);

/// Registers of a thread, by what needs them.
struct RegisterEstimate {
  std::int64_t accumulators = 0;
  std::int64_t operands = 0;   ///< fragments of A and B
  std::int64_t staging = 0;    ///< values on their way from global to shared memory (copy path `reg`)
  std::int64_t addresses = 0;  ///< pointers, indices, loop counters
  std::int64_t wanted = 0;     ///< what ptxas takes where nothing holds it back: loads issued further ahead
  [[nodiscard]] constexpr std::int64_t total() const { return accumulators + operands + staging + addresses; }
};

/// Estimate before there is code. SIMT: two fits on what ptxas 13.0 makes of kernels/simt: the sum is what it allocates
/// when it chooses by itself (recorded kernels included), `wanted` when it is told that one CTA per SM will do
/// (traces/calibration/ptxas/simt.csv). mma: a fit on kernels/mma; usual tiles are within 8, a third of unusual ones
/// (warp tiles 16 or 96 wide, TF32 with a swizzle) is not. What is staged on the copy path `reg` counts as operands.
/// Direct: fits as for SIMT, on 38 kernels.
/// The error can change the resident CTAs.
[[nodiscard]] RegisterEstimate estimate_registers(const TileConfig& config);

/// Registers a thread has: `registers` if given, else the estimate.
[[nodiscard]] std::int64_t register_demand(const TileConfig& config);

}  // namespace tilesim::model
