// How many CTAs of a kernel an SM can hold, and what limits it, by compute capability.
// Source of every rule and number: CUDA Toolkit 13.0, cuda_occupancy.h, against which a recorded table checks it
// exactly; the per-architecture tables of the CUDA C++ Programming Guide for the device facts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/result.h"

namespace tilesim::model {

/// Limits of a compute capability. Register file 65,536 32-bit registers and 4 sub-partitions on all of them.
struct ComputeCapability {
  int major = 9;
  int minor = 0;
  int shared_bytes_per_sm = 0;      ///< largest shared-memory carve-out
  int shared_bytes_per_cta = 0;     ///< most a CTA may ask for (opt-in)
  int shared_reserved_per_cta = 0;  ///< taken by the system for each CTA
  int warps_per_sm = 0;
  int ctas_per_sm = 0;
  int barriers_per_sm = 0;
  int tensor_cores_per_sm = 0;
  std::span<const int> carveouts_kb;  ///< ascending
};

inline constexpr int kRegistersPerSm = 65536;
inline constexpr int kRegisterAllocationUnit = 256;  ///< per warp
inline constexpr int kSubPartitions = 4;

/// The table row. Errors (kUsage): below 7.0 "unsupported"; others that the table lacks, with the supported ones.
[[nodiscard]] Result<ComputeCapability> find_compute_capability(int major, int minor);

/// "9.0" for every row, in order.
[[nodiscard]] std::vector<std::string> supported_compute_capabilities();

struct OccupancyInput {
  std::int64_t threads = 0;        ///< per CTA, 1 to 1,024; rounded up to whole warps
  std::int64_t registers = 0;      ///< per thread, 0 to 255
  std::int64_t shared_bytes = 0;   ///< static plus dynamic, without the system's reservation
  std::optional<int> carveout_kb;  ///< shared-memory carve-out; none = the largest
  int barriers = 1;                ///< named barriers the CTA uses
};

/// Resident CTAs per SM, and each resource's own limit. Where a resource is not used its limit is `kUnlimited`.
struct Occupancy {
  static constexpr std::int64_t kUnlimited = 0x7fffffff;
  std::int64_t ctas = 0;
  std::int64_t by_registers = 0;
  std::int64_t by_shared = 0;
  std::int64_t by_warps = 0;
  std::int64_t by_ctas = 0;
  std::int64_t by_barriers = 0;         ///< as cuda_occupancy.h has it
  std::int64_t by_barriers_capped = 0;  ///< as Nsight Compute has it: at most by_ctas
  std::int64_t warps_per_cta = 0;
  std::int64_t registers_per_thread = 0;  ///< allocated
  std::int64_t registers_per_cta = 0;     ///< allocated
  std::int64_t shared_bytes_per_cta = 0;  ///< allocated, reservation included
  int carveout_kb = 0;                    ///< the carve-out counted with
  std::vector<std::string> limiters;      ///< "registers", "shared memory", "warps", "CTAs", "barriers"
  std::string cannot_launch;              ///< reason when ctas is 0
  double fraction = 0.0;                  ///< resident warps over the SM's warps
};

/// Errors (kUsage): a negative or too large input, named with its value and range.
[[nodiscard]] Result<Occupancy> occupancy(const ComputeCapability& cc, const OccupancyInput& input);

/// Most threads of a CTA that can launch with `registers` per thread, a multiple of 32; 0 if none.
[[nodiscard]] std::int64_t largest_cta_for_registers(std::int64_t registers);

}  // namespace tilesim::model
