// Everything behind the SMs' L1: ports of SMs and GPCs, the L2, DRAM. One request is one line with a sector mask;
// requests must come in the order (time, SM, sequence).
//
// A read passes the servers SM port -> GPC port -> chip (each bytes / bandwidth; the chip's slices take a request at a
// time, so that a small one counts more than its bytes there), then takes the L2 latency, which differs by line and SM
// position for good; a sector that L2 lacks adds the DRAM queue and latency, and the first read by a partition of the
// L2 (GPCs share one) that has no copy of the line adds the way to the other. The two SMs of a TPC that both ask for
// the same sectors while they are on their way share one request, which takes less of GPC and chip than two. Source:
// H200 microbenchmarks, L2 and DRAM latency and bandwidth.
#pragma once

#include <array>
#include <vector>

#include "sim/chip/chip_parameters.h"
#include "sim/chip/l2_cache.h"
#include "sim/chip/memory_port.h"
#include "sim/result.h"

namespace tilesim::sim {

class MemorySystem {
 public:
  explicit MemorySystem(const ChipParameters& parameters);

  /// When the data of a read is back at the SM. Not less than window() after the request.
  [[nodiscard]] Cycle read(const MemoryRequest& request);
  /// When the SM hears that the L2 has taken a write. Not less than window() after the request.
  [[nodiscard]] Cycle write(const MemoryRequest& request);
  /// Brings the host's cache what a coming request will look at.
  void prefetch(const MemoryRequest& request) const { l2_.prefetch(request.line); }
  [[nodiscard]] const ChipCounters& counters() const { return counters_; }

 private:
  /// The last reads of a TPC, to join those on their way.
  struct Joinable {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint32_t sectors = 0;
    std::uint32_t sm = 0;
    Cycle ready = 0;
  };
  static constexpr std::size_t kJoinable = 1024;

  [[nodiscard]] Cycle from_l2(const MemoryRequest& request, double start);
  /// Dirty sectors of an evicted line go to DRAM.
  void write_back(int sectors, double time);
  [[nodiscard]] std::size_t gpc_of(std::uint32_t sm) const { return sm * gpc_free_.size() / sm_free_.size(); }
  [[nodiscard]] std::uint8_t partition_bit(std::uint32_t sm) const;

  ChipParameters p_;
  L2Cache l2_;
  std::vector<double> sm_free_, gpc_free_;
  double chip_free_ = 0.0;
  double dram_free_ = 0.0;
  double write_free_ = 0.0;
  std::vector<std::array<Joinable, kJoinable>> joinable_;  ///< per TPC
  ChipCounters counters_;
};

}  // namespace tilesim::sim
