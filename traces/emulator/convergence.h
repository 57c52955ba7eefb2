// The lanes of a warp that has diverged: which execute now, where the others go on, and who waits for whom.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tilesim::traces {

/// Lanes that take different ways run one way after the other. Which goes first is a choice, not a measurement: those
/// that do not branch before those that do, and a way that keeps jumping back makes room for the others after
/// kPatience jumps, so that lanes may wait for lanes of their own warp. BSSY, BSYNC and WARPSYNC bring them together.
///
/// Functions that move the active lanes away return where execution goes on, or nothing if the lanes that are left wait
/// for others that never come.
class Convergence {
 public:
  using Index = std::uint32_t;

  void start(std::uint32_t live);
  [[nodiscard]] std::uint32_t live() const { return live_; }      ///< lanes that have not exited
  [[nodiscard]] std::uint32_t active() const { return active_; }  ///< lanes that execute now
  [[nodiscard]] bool whole() const { return active_ == live_; }

  /// `lanes`, a part of the active ones, go on at `index` later.
  void put_off(std::uint32_t lanes, Index index);
  /// The active lanes jump back to `index`.
  [[nodiscard]] Index jump_back(Index index) { return whole() ? index : jump_back_diverged(index); }
  /// BSSY: `lanes` will meet at convergence barrier `barrier`.
  void enlist(std::uint8_t barrier, std::uint32_t lanes);
  /// BREAK: `lanes` will not.
  void withdraw(std::uint8_t barrier, std::uint32_t lanes);
  /// BMOV: who takes part in the barrier of the active lanes.
  [[nodiscard]] std::uint32_t members(std::uint8_t barrier) const;
  /// BSYNC: the active lanes wait for the others of their barrier, then all go on at `next`.
  [[nodiscard]] std::optional<Index> meet(std::uint8_t barrier, Index next);
  /// WARPSYNC: the active lanes wait until all of `lanes` that are left do, here or at another such instruction.
  [[nodiscard]] std::optional<Index> meet_lanes(std::uint32_t lanes, Index next);
  /// EXIT: `lanes` end. What is left of the active lanes goes on at `next`. Not to be called when none is left at all.
  [[nodiscard]] std::optional<Index> end(std::uint32_t lanes, Index next);
  /// True if `lanes` are all that is left.
  [[nodiscard]] bool are_last(std::uint32_t lanes) const { return (live_ & ~lanes) == 0; }

  static constexpr unsigned kPatience = 256;

 private:
  /// Lanes that go on at an instruction.
  struct Path {
    std::uint32_t lanes = 0;
    Index index = 0;
  };
  /// Lanes that meet, and those that have come and go on at `next`.
  struct Group {
    std::uint8_t barrier = 0;
    std::uint32_t members = 0;
    std::uint32_t waiting = 0;
    Index next = 0;
  };
  static constexpr std::uint8_t kNoBarrier = 0xff;  // a meeting of WARPSYNC

  [[nodiscard]] Index jump_back_diverged(Index index);
  std::optional<Index> next_path();
  [[nodiscard]] bool complete(const Group& group) const;
  std::optional<Index> release(std::size_t chosen);

  std::uint32_t live_ = 0;
  std::uint32_t active_ = 0;
  unsigned jumps_ = 0;
  std::vector<Path> paths_;  // the last runs next
  std::vector<Group> groups_;
};

}  // namespace tilesim::traces
