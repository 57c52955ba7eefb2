// An SM that is present as a request generator only: it sends the global accesses of its own CTAs to the memory system,
// paced by an SM that is simulated instruction by instruction. Its L1 is not modelled; every access goes to the L2.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "model/global_access_rules.h"
#include "sim/chip/memory_port.h"
#include "sim/isa/stream.h"

namespace tilesim::sim {

class RequestGenerator {
 public:
  /// `ctas` in the order in which the leader starts its own; `delay` is how far behind its leader this SM runs.
  RequestGenerator(const isa::KernelStream& kernel, int sm, std::vector<std::uint64_t> ctas, Cycle delay);

  /// The leader's warp `mark.mark` made its next global access at `mark.time`: appends this SM's requests to `out`.
  /// False if the stream cannot go on; then error() says why.
  [[nodiscard]] bool follow(const GlobalAccessMark& mark, std::vector<MemoryRequest>& out);
  /// The leader's CTA `ordinal` has ended.
  void end_cta(std::uint32_t ordinal);
  [[nodiscard]] const Error* error() const { return error_; }

 private:
  const isa::KernelStream& kernel_;
  std::uint32_t sm_;
  std::vector<std::uint64_t> ctas_;
  Cycle delay_;
  std::map<std::uint32_t, std::unique_ptr<isa::CtaStream>> running_;
  std::vector<std::unique_ptr<isa::CtaStream>> recycled_;
  std::uint32_t sequence_ = 0;
  const Error* error_ = nullptr;
  isa::DynamicInstruction dynamic_;
  model::GlobalFootprint footprint_;
};

}  // namespace tilesim::sim
