// SMs that are present as request generators only: each sends the global accesses of its own CTAs to the memory system,
// paced by a leader, an SM that is simulated instruction by instruction.
//
// A tiled kernel's CTAs make the same accesses moved by a distance per access site. Whether a follower's CTA is such a
// copy of the leader's is found out by emulating a few warps of both: the first, the last, and one that executes each
// site. If it is, the leader's lines are repeated at that distance. If it is not (predicates at a ragged edge,
// distances that are no multiple of a sector), the follower's CTA is emulated access by access in step with the
// leader's. A follower's L1 holds what the leader's does at that access: only what the leader sends to the chip is
// sent.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/global_access_rules.h"
#include "sim/chip/memory_port.h"
#include "sim/isa/stream.h"
#include "sim/result.h"
#include "sim/sm/access_analyzer.h"

namespace tilesim::sim {

/// The global accesses of one warp, apart from where they lie.
struct WarpPath {
  std::vector<std::uint64_t> base;  ///< by site: address of the first active lane at the first execution
  std::vector<bool> executed;       ///< by site
  std::uint64_t signature = 0;      ///< order of sites, lane masks and distances from the bases, mixed
  std::uint64_t instructions = 0;   ///< all that the warp executes, as isa::WarpStream::executed()
};

/// Finds the paths of warps by emulating them to their end.
class Scout {
 public:
  explicit Scout(const isa::KernelStream& kernel);
  [[nodiscard]] std::size_t site_count() const { return site_count_; }
  /// Number of an instruction among the global access sites.
  [[nodiscard]] std::size_t site(std::uint32_t instruction) const { return site_of_[instruction]; }
  /// Paths of `warps` (all if empty) of a CTA, in that order. False if the stream cannot go on; then error() says why.
  [[nodiscard]] bool run(std::uint64_t cta, std::span<const std::uint32_t> warps, std::vector<WarpPath>& out);
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] const isa::KernelStream& kernel() const { return kernel_; }

 private:
  [[nodiscard]] bool run_warp(isa::WarpStream& warp, WarpPath& path);

  const isa::KernelStream& kernel_;
  std::vector<std::size_t> site_of_;
  std::size_t site_count_ = 0;
  std::unique_ptr<isa::CtaStream> storage_;
  isa::DynamicInstruction dynamic_;
  Error error_;
};

/// All followers of one leader.
class RequestGenerators {
 public:
  RequestGenerators(const isa::KernelStream& kernel, std::vector<std::uint64_t> leader_ctas)
      : scout_(kernel), leader_ctas_(std::move(leader_ctas)), analyzer_(kernel.program()) {}

  /// Adds SM `sm` with its CTAs in order of start; it runs `delay` cycles behind the leader.
  void add(int sm, std::vector<std::uint64_t> ctas, Cycle delay);

  /// Appends the followers' requests for the leader's accesses of a window. False if a stream cannot go on.
  [[nodiscard]] bool follow(std::span<const GlobalAccessMark> marks, std::span<const model::LineAccess> lines,
                            std::vector<MemoryRequest>& out);
  /// The leader's CTA `cta_ordinal` has ended: what its followers have left to send goes out with the next follow(), at
  /// `time`. False if a stream cannot go on.
  [[nodiscard]] bool end_cta(std::uint32_t cta_ordinal, Cycle time);
  [[nodiscard]] const Error& error() const { return error_; }
  /// Warp instructions of the CTAs of leader and followers that have ended, as isa::WarpStream::executed() counts.
  [[nodiscard]] std::uint64_t instructions() const { return instructions_; }

 private:
  struct Follower {
    std::uint32_t sm = 0;
    std::vector<std::uint64_t> ctas;
    Cycle delay = 0;
    std::uint32_t sequence = 0;
  };
  /// The CTAs that follow one CTA of the leader.
  struct Running {
    std::size_t followers = 0;                              ///< those that have such a CTA, the first ones
    std::vector<std::int64_t> sectors;                      ///< distance by site and follower
    std::vector<std::unique_ptr<isa::CtaStream>> emulated;  ///< by follower; null for moved copies
  };
  [[nodiscard]] bool start(std::uint32_t cta_ordinal, Running& running);
  /// Adds the instructions of a follower's CTA, of which the paths of `warps` are known; false as for start().
  [[nodiscard]] bool count(std::uint64_t cta, std::span<const WarpPath> leader, std::span<const std::uint32_t> warps,
                           std::span<const WarpPath> paths);
  void repeat(Follower& follower, std::int64_t sectors, const GlobalAccessMark& mark,
              std::span<const model::LineAccess> lines, std::vector<MemoryRequest>& out) const;
  /// Sends the next access of a warp. `done` becomes true if there is none.
  [[nodiscard]] bool emulate(Follower& follower, isa::WarpStream& warp, Cycle time, bool& done,
                             std::vector<MemoryRequest>& out);

  Scout scout_;
  std::vector<std::uint64_t> leader_ctas_;
  std::vector<Follower> followers_;  ///< those with more CTAs first
  std::unordered_map<std::uint32_t, Running> running_;
  std::vector<MemoryRequest> leftovers_;
  std::vector<MemoryRequest> held_back_;
  isa::DynamicInstruction dynamic_;
  AccessAnalyzer analyzer_;
  AccessSite ignored_;  ///< sites count for simulated SMs only
  model::GlobalFootprint footprint_;
  std::uint64_t instructions_ = 0;
  Error error_;
};

}  // namespace tilesim::sim
