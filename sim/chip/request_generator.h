// SMs that are present as request generators only: each sends the global accesses of its own CTAs to the memory system,
// paced by a leader, an SM that is simulated instruction by instruction. A tiled kernel's CTAs make the same accesses
// moved by a distance per access site; the distance is found by emulating one warp of the leader's CTA and one of the
// follower's. Exact where a whole CTA moves by one distance per site, as in kernels without predicates at the boundary.
// The L1 of a follower is not modelled: every access goes to the L2.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/global_access_rules.h"
#include "sim/chip/memory_port.h"
#include "sim/isa/stream.h"

namespace tilesim::sim {

/// Address of the first active lane at the first execution of each global access site of a warp.
struct SiteBases {
  std::unordered_map<std::uint32_t, std::uint64_t> base;
};

/// Finds site bases by emulating warp 0 of a CTA to its end. Keeps one CTA's storage to use again.
class Scout {
 public:
  explicit Scout(const isa::KernelStream& kernel) : kernel_(kernel) {}
  /// False if the stream cannot go on; then error() says why.
  [[nodiscard]] bool run(std::uint64_t cta, SiteBases& out);
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  const isa::KernelStream& kernel_;
  std::unique_ptr<isa::CtaStream> storage_;
  isa::DynamicInstruction dynamic_;
  Error error_;
};

/// All followers of one leader.
class RequestGenerators {
 public:
  RequestGenerators(const isa::KernelStream& kernel, std::vector<std::uint64_t> leader_ctas)
      : scout_(kernel), leader_ctas_(std::move(leader_ctas)) {}

  /// Adds SM `sm` with its CTAs in order of start; it runs `delay` cycles behind the leader.
  void add(int sm, std::vector<std::uint64_t> ctas, Cycle delay);

  /// Appends the followers' requests for the leader's accesses of a window. False if a stream cannot go on.
  [[nodiscard]] bool follow(std::span<const GlobalAccessMark> marks, std::span<const model::LineAccess> lines,
                            std::vector<MemoryRequest>& out);
  /// The leader's CTA `cta_ordinal` has ended: its distances are no longer needed.
  void end_cta(std::uint32_t cta_ordinal) { running_.erase(cta_ordinal); }
  [[nodiscard]] const Error& error() const { return scout_.error(); }

 private:
  struct Follower {
    std::uint32_t sm = 0;
    std::vector<std::uint64_t> ctas;
    Cycle delay = 0;
    std::uint32_t sequence = 0;
  };
  /// Distances in sectors per site, one entry per follower that has such a CTA.
  struct Running {
    std::unordered_map<std::uint32_t, std::vector<std::int64_t>> sectors;
    std::size_t followers = 0;
  };
  [[nodiscard]] bool start(std::uint32_t cta_ordinal, Running& running);
  void repeat(const GlobalAccessMark& mark, std::span<const model::LineAccess> lines, const Running& running,
              std::vector<MemoryRequest>& out);

  Scout scout_;
  std::vector<std::uint64_t> leader_ctas_;
  std::vector<Follower> followers_;  ///< those with more CTAs first
  std::unordered_map<std::uint32_t, Running> running_;
};

}  // namespace tilesim::sim
