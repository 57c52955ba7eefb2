// Items of a warp as bytes and back. The encoding is in README.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traces/trace/bytes.h"
#include "traces/trace/items.h"

namespace tilesim::traces {

/// What decoding an item depends on.
struct DecodingState {
  std::uint32_t index = 0;          ///< of the next instruction if nothing jumps
  std::uint32_t mask = 0xffffffff;  ///< of the last one
  std::array<std::uint64_t, kSpaces> base{};
};

/// Turns the items of a segment into bytes.
class SegmentEncoder {
 public:
  /// Appends items to the segment; a loop comes with its whole body. `pattern_ids` gives the patterns' numbers in the
  /// block.
  void add(std::span<const Item> items, std::span<const std::uint32_t> pattern_ids, Bytes& out);

 private:
  [[nodiscard]] std::uint8_t news(const Item& item) const;
  void place(const Item& item, std::uint8_t tag, ByteWriter& writer);
  void add_run(const Item& item, Bytes& out);
  void add_access(const Item& item, std::uint32_t pattern, Bytes& out);

  DecodingState state_;
};

/// What is known of the code that a segment refers to.
struct CodeLimits {
  std::span<const isa::Instruction> instructions;
  /// By instruction: the first one from it on that accesses memory; one more entry than instructions.
  std::span<const std::uint32_t> next_memory;
};

/// Reads a segment item by item, going round its loops.
class SegmentCursor {
 public:
  SegmentCursor() = default;
  SegmentCursor(std::span<const std::uint8_t> bytes, CodeLimits limits, std::size_t patterns);

  /// The next run or access; its `base` is the address in the present trips. False at the end or after an error.
  [[nodiscard]] bool next(Item& out);
  /// What is wrong with the bytes; empty if nothing is.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// To be called for every execution of the branch whose loop may be passed over, once it was read.
  void count_branch() { ++branches_; }
  /// At the end of a trip: passes over further trips of that loop that hold no more than `executions` of the counted
  /// branch, as many as the trip before says, but not over the last one. Takes them off `executions`.
  void pass_trips(std::uint64_t& executions);
  /// Instructions of all items that were read or passed over.
  [[nodiscard]] std::uint64_t instructions() const { return instructions_; }

 private:
  struct Loop {
    std::size_t begin = 0, end = 0;  ///< of the body
    std::uint64_t trip = 0, trips = 0;
    std::uint64_t branches = 0;      ///< executions of the counted branch before the present trip
    std::uint64_t instructions = 0;  ///< those before the present trip
    DecodingState state;             ///< at the body's begin
  };

  [[nodiscard]] bool refuse(std::string problem);
  [[nodiscard]] bool read_run(std::uint8_t tag, Item& out);
  [[nodiscard]] bool read_access(std::uint8_t tag, Item& out);
  [[nodiscard]] bool enter_loop();
  [[nodiscard]] bool inside();
  void leave_trips();

  std::span<const std::uint8_t> bytes_;
  CodeLimits limits_;
  std::size_t patterns_ = 0;
  std::size_t at_ = 0;
  DecodingState state_;
  std::array<Loop, kLoopDepth> loops_;
  std::size_t depth_ = 0;
  std::uint64_t branches_ = 0;
  std::uint64_t instructions_ = 0;
  std::string problem_;
};

}  // namespace tilesim::traces
