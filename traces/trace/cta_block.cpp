#include "traces/trace/cta_block.h"

#include <algorithm>
#include <utility>

#include "traces/trace/segment.h"

namespace tilesim::traces {

std::uint32_t CtaBlockBuilder::id_of(const LanePattern& pattern) {
  const auto [entry, fresh] = ids_.try_emplace(pattern, static_cast<std::uint32_t>(patterns_.size()));
  if (fresh) {
    patterns_.push_back(pattern);
  }
  return entry->second;
}

std::size_t CtaBlockBuilder::add(int warp, std::span<const Item> items, std::span<const LanePattern> patterns,
                                 std::size_t limit, bool last) {
  SegmentEncoder encoder;
  std::vector<std::uint32_t> ids(patterns.size());
  Bytes bytes;
  std::size_t done = 0;
  while (done < items.size() && (done == 0 || bytes.size() < limit)) {
    const std::size_t count = items[done].kind == ItemKind::kLoop ? 1 + std::size_t{items[done].count} : 1;
    const std::span<const Item> whole = items.subspan(done, count);
    for (const Item& item : whole) {
      if (item.kind == ItemKind::kAccess) {
        ids[item.pattern] = id_of(patterns[item.pattern]);
      }
    }
    encoder.add(whole, ids, bytes);
    done += count;
  }
  segments_.push_back({warp, last && done == items.size(), bytes.size()});
  warps_ |= 1U << warp;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return done;
}

Bytes CtaBlockBuilder::take() {
  Bytes content;
  ByteWriter writer(content);
  writer.number(patterns_.size());
  for (const LanePattern& pattern : patterns_) {
    // Second differences: a pattern of equal steps is one number and zeros.
    std::uint64_t before = 0;
    std::uint64_t step = 0;
    for (const std::uint64_t offset : pattern) {
      writer.difference(static_cast<std::int64_t>(offset - before - step));
      step = offset - before;
      before = offset;
    }
  }
  writer.number(segments_.size());
  for (const Segment& segment : segments_) {
    writer.u8(static_cast<std::uint8_t>(segment.warp));
    writer.u8(segment.last ? 1 : 0);
    writer.number(segment.bytes);
  }
  content.insert(content.end(), bytes_.begin(), bytes_.end());
  *this = CtaBlockBuilder();
  return content;
}

const CtaBlock::Segment* CtaBlock::find(std::uint32_t warp) const {
  const auto found =
      std::find_if(segments.begin(), segments.end(), [warp](const Segment& s) { return s.warp == warp; });
  return found == segments.end() ? nullptr : &*found;
}

bool parse_cta_block(Bytes content, CtaBlock& out) {
  out.bytes = std::move(content);
  ByteReader reader(out.bytes);
  const std::uint64_t patterns = reader.number();
  if (reader.failed() || patterns > reader.left() / isa::kWarpSize) {
    return false;
  }
  out.patterns.assign(static_cast<std::size_t>(patterns), {});
  for (LanePattern& pattern : out.patterns) {
    std::uint64_t before = 0;
    std::uint64_t step = 0;
    for (std::uint64_t& offset : pattern) {
      step += static_cast<std::uint64_t>(reader.difference());
      offset = before += step;
    }
  }
  const std::uint64_t segments = reader.number();
  if (reader.failed() || segments > isa::kWarpSize) {
    return false;
  }
  out.segments.clear();
  for (std::uint64_t i = 0; i < segments; ++i) {
    const std::uint32_t warp = reader.u8();
    const bool last = reader.u8() != 0;
    const std::uint64_t size = reader.number();
    if (warp >= isa::kWarpSize || out.find(warp) != nullptr || size > out.bytes.size()) {
      return false;
    }
    out.segments.push_back({warp, last, 0, static_cast<std::size_t>(size)});
  }
  std::size_t begin = out.bytes.size() - reader.left();
  for (CtaBlock::Segment& segment : out.segments) {
    segment.begin = begin;
    if (segment.size > out.bytes.size() - begin) {
      return false;
    }
    begin += segment.size;
  }
  return !reader.failed() && begin == out.bytes.size();
}

}  // namespace tilesim::traces
