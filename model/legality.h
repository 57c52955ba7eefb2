// Whether a tile configuration can run: every problem at once, each with its value and a remedy, and the nearest
// configuration that can.
// Sources: CUDA C Programming Guide, compute capabilities (threads, shared memory, registers) and asynchronous copies;
// PTX ISA, cp.async (cg: 16 bytes; ca: 4, 8, 16 bytes) and mma (m16n8k16, m16n8k8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu_spec.h"
#include "model/result.h"
#include "model/tile_config.h"

namespace tilesim::model {

inline constexpr std::int64_t kMaxThreadsPerCta = 1024;
inline constexpr std::int64_t kMaxRegistersPerThread = 255;
/// Largest extent of a tile that is looked at: with it no product of a configuration overflows.
inline constexpr std::int64_t kMaxTileExtent = 65536;
inline constexpr std::int64_t kMaxStages = 64;

enum class Severity {
  kIllegal,  ///< does not compile, does not launch, or traps
  kWarning,  ///< runs, at a price
};

/// One problem. `rule` is a stable key ("shared-memory"); the rest are sentences without a trailing newline.
struct Finding {
  Severity severity = Severity::kIllegal;
  std::string rule;
  std::string message;  ///< what is wrong, with the value and the limit
  std::string remedy;   ///< what to do, with values that work
};

/// Shared memory that a CTA needs against what it may have.
struct SharedFit {
  std::int64_t needed = 0;
  std::int64_t available = 0;       ///< most bytes per CTA (opt-in limit)
  std::int64_t largest_stages = 0;  ///< with the rest as it is; 0 = not even one buffer fits
  std::int64_t largest_bk = 0;      ///< the same for BK, in steps of 8; 0 = none
  [[nodiscard]] constexpr bool fits() const { return needed <= available; }
};

struct Legality {
  std::vector<Finding> findings;
  SharedFit shared;
  /// The nearest configuration without an illegal finding: the question itself if it is legal; none if the problem (not
  /// the tile) is at fault or nothing near is legal.
  std::optional<TileConfig> nearest;
  [[nodiscard]] bool legal() const;
};

/// Checks a configuration for a problem on a GPU. Fails only when the GPU's compute capability is not supported.
[[nodiscard]] Result<Legality> check_legality(const TileConfig& config, const Problem& problem, const GpuSpec& gpu);

/// All illegal findings as one Error (the first one's sentence, how many more, and the nearest legal choice).
[[nodiscard]] Error to_error(const Legality& legality);

/// A configuration in the words of the command line: "--tile 128x128x8 --thread-tile 8x8 --stages 2 ...".
[[nodiscard]] std::string describe(const TileConfig& config);

/// Which copies can move `bytes` per lane from global to shared memory without registers.
struct AsyncCopyForms {
  bool ca = false;  ///< cp.async.ca: 4, 8 or 16 bytes, through L1
  bool cg = false;  ///< cp.async.cg: 16 bytes, past L1
  [[nodiscard]] constexpr bool any() const { return ca || cg; }
};
[[nodiscard]] constexpr AsyncCopyForms async_copy_forms(std::int64_t bytes) {
  return {bytes == 4 || bytes == 8 || bytes == 16, bytes == 16};
}

/// Alignment in bytes (2 to 16) that every row of a matrix keeps if its first has 16: only the leading dimension
/// counts.
[[nodiscard]] std::int64_t row_alignment(std::int64_t leading_dimension, std::int64_t bytes_per_element);

/// Leading dimensions in elements: K or M for A, N or K for B, N for C (row-major).
struct LeadingDimensions {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
};
[[nodiscard]] LeadingDimensions leading_dimensions(const Problem& problem, Layout layout);

/// Registers of a warp-specialised Hopper kernel: one producer warpgroup and `consumers` that hold the accumulators.
struct WarpgroupBudget {
  std::int64_t accumulators = 0;  ///< per consumer thread
  std::int64_t demand = 0;        ///< accumulators + 25, in units of 8 (setmaxnreg)
  std::int64_t total = 0;         ///< registers of the CTA
  std::int64_t most = 0;          ///< largest legal consumer count of registers beside this producer
  bool launches = false;          ///< total <= 65,536
  bool enough = false;            ///< no spills expected
};
/// `tile_m` x `tile_n` is what all consumers together hold. The 25 registers beside the accumulators: a 256x208 tile
/// spills at 232 and not at 240 (CUTLASS pull request 2219).
[[nodiscard]] WarpgroupBudget warpgroup_budget(std::int64_t tile_m, std::int64_t tile_n, std::int64_t consumers,
                                               std::int64_t producer_registers, std::int64_t consumer_registers);

}  // namespace tilesim::model
