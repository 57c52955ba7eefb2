// Which SM gets which CTA. The first pass gives one CTA to each SM, GPC by GPC; further passes fill the remaining
// slots; later CTAs go, in order, to the SM that frees a slot first. A grid smaller than the chip is spread evenly over
// the GPCs. Source: H200 microbenchmarks, blocks and launches.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/chip/chip_parameters.h"
#include "sim/sm/sm.h"

namespace tilesim::sim {

class CtaScheduler {
 public:
  struct Placement {
    std::uint64_t cta = 0;
    int sm = 0;
    int slot = 0;
    Cycle time = 0;  ///< becomes resident
  };

  CtaScheduler(const ChipParameters& parameters, std::uint64_t ctas, int slots_per_sm);

  /// The CTAs that start with the kernel.
  [[nodiscard]] std::vector<Placement> first_placements();

  /// The successor of an ended CTA, or nothing when the grid is used up. Call in order of (time, SM).
  [[nodiscard]] bool next(const CtaEnd& ended, Placement& out);

  /// The CTAs of `sm` in order if every SM ran at the same speed: what an SM gets that stands for its like.
  [[nodiscard]] std::vector<std::uint64_t> static_share(int sm) const;

  /// SMs in the order in which the first pass fills them.
  [[nodiscard]] const std::vector<int>& order() const { return order_; }

 private:
  ChipParameters p_;
  std::uint64_t ctas_;
  int slots_;
  std::uint64_t next_cta_ = 0;
  std::vector<int> order_;
};

}  // namespace tilesim::sim
