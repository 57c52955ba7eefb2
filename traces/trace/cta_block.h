// The content of a CTA block: address patterns, and segments of one or several warps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "traces/trace/bytes.h"
#include "traces/trace/items.h"

namespace tilesim::traces {

class CtaBlockBuilder {
 public:
  /// Adds a segment with as many of the items as fit `limit` bytes, at least one with its body; returns how many.
  /// `last` if the warp ends with the last of the items.
  std::size_t add(int warp, std::span<const Item> items, std::span<const LanePattern> patterns, std::size_t limit,
                  bool last);
  [[nodiscard]] bool empty() const { return segments_.empty(); }
  /// Bytes so far, roughly.
  [[nodiscard]] std::size_t size() const { return bytes_.size() + patterns_.size() * isa::kWarpSize; }
  /// Warps that have a segment, one bit each.
  [[nodiscard]] std::uint32_t warps() const { return warps_; }
  /// The content; the builder is empty afterwards.
  [[nodiscard]] Bytes take();

 private:
  struct Segment {
    int warp = 0;
    bool last = false;
    std::size_t bytes = 0;
  };
  [[nodiscard]] std::uint32_t id_of(const LanePattern& pattern);

  std::map<LanePattern, std::uint32_t> ids_;
  std::vector<LanePattern> patterns_;
  std::vector<Segment> segments_;
  std::uint32_t warps_ = 0;
  Bytes bytes_;
};

/// A CTA block in memory.
struct CtaBlock {
  struct Segment {
    std::uint32_t warp = 0;
    bool last = false;  ///< the warp ends with it
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  Bytes bytes;
  std::vector<LanePattern> patterns;
  std::vector<Segment> segments;

  /// The segment of a warp, or null.
  [[nodiscard]] const Segment* find(std::uint32_t warp) const;
  [[nodiscard]] std::span<const std::uint8_t> part(const Segment& segment) const {
    return std::span(bytes).subspan(segment.begin, segment.size);
  }
};

/// Reads the tables of a block's content; false if they do not make sense.
[[nodiscard]] bool parse_cta_block(Bytes content, CtaBlock& out);

}  // namespace tilesim::traces
