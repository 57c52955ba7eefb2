#include "traces/trace/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/isa/barrier_call.h"

namespace tilesim::traces {

namespace {

// The tag: kind in bits 0-1; then what is not as expected and follows.
constexpr unsigned kKindBits = 2;
constexpr std::uint8_t kNewIndex = 1U << 2;
constexpr std::uint8_t kNewMask = 1U << 3;
constexpr std::uint8_t kTaken = 1U << 4;  // runs
constexpr unsigned kShortCountShift = 5;  // runs: 1 to 7 instructions in the tag itself
constexpr std::uint32_t kLongestShort = 7;

}  // namespace

/// The tag's part on index and mask, which follow it.
std::uint8_t SegmentEncoder::news(const Item& item) const {
  return static_cast<std::uint8_t>(static_cast<unsigned>(item.kind) | (item.index != state_.index ? kNewIndex : 0U) |
                                   (item.mask != state_.mask ? kNewMask : 0U));
}

void SegmentEncoder::place(const Item& item, std::uint8_t tag, ByteWriter& writer) {
  if ((tag & kNewIndex) != 0) {
    writer.number(item.index);
  }
  if ((tag & kNewMask) != 0) {
    writer.fixed(item.mask, 4);
  }
  state_.mask = item.mask;
  state_.index = item.index + item.count;
}

void SegmentEncoder::add_run(const Item& item, Bytes& out) {
  ByteWriter writer(out);
  const std::uint32_t in_tag = item.count <= kLongestShort ? item.count : 0;
  const auto tag = static_cast<std::uint8_t>(news(item) | (item.taken ? kTaken : 0U) | in_tag << kShortCountShift);
  writer.u8(tag);
  place(item, tag, writer);
  if (in_tag == 0) {
    writer.number(item.count);
  }
}

void SegmentEncoder::add_access(const Item& item, std::uint32_t pattern, Bytes& out) {
  ByteWriter writer(out);
  const std::uint8_t tag = news(item);
  writer.u8(tag);
  place(item, tag, writer);
  writer.number(pattern);
  std::uint64_t& base = state_.base[item.space];
  writer.difference(static_cast<std::int64_t>(item.base - base));
  base = item.base;
  for (std::size_t level = 0; level < item.levels; ++level) {
    writer.difference(item.strides[level]);
  }
}

void SegmentEncoder::add(std::span<const Item> items, std::span<const std::uint32_t> pattern_ids, Bytes& out) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    switch (item.kind) {
      case ItemKind::kRun:
        add_run(item, out);
        break;
      case ItemKind::kAccess:
        add_access(item, pattern_ids[item.pattern], out);
        break;
      case ItemKind::kLoop: {
        Bytes body;
        add(items.subspan(i + 1, item.count), pattern_ids, body);
        ByteWriter writer(out);
        writer.u8(static_cast<std::uint8_t>(ItemKind::kLoop));
        writer.number(item.base);
        writer.number(body.size());
        out.insert(out.end(), body.begin(), body.end());
        i += item.count;
        break;
      }
    }
  }
}

SegmentCursor::SegmentCursor(std::span<const std::uint8_t> bytes, CodeLimits limits, std::size_t patterns)
    : bytes_(bytes), limits_(limits), patterns_(patterns) {}

bool SegmentCursor::refuse(std::string problem) {
  problem_ = std::move(problem);
  at_ = bytes_.size();
  depth_ = 0;
  return false;
}

bool SegmentCursor::read_run(std::uint8_t tag, Item& out) {
  ByteReader reader(bytes_.subspan(at_));
  out.kind = ItemKind::kRun;
  out.index = (tag & kNewIndex) != 0 ? static_cast<std::uint32_t>(reader.number()) : state_.index;
  out.mask = (tag & kNewMask) != 0 ? static_cast<std::uint32_t>(reader.fixed(4)) : state_.mask;
  const std::uint64_t count = tag >> kShortCountShift != 0 ? tag >> kShortCountShift : reader.number();
  out.taken = (tag & kTaken) != 0;
  const std::uint64_t code = limits_.instructions.size();
  if (reader.failed() || count == 0 || count > code || out.index > code - count) {
    return refuse(fmt::format("a run of {} instructions from {} on, in code of {}", count, out.index, code));
  }
  if (out.mask != 0 && limits_.next_memory[out.index] < out.index + count) {
    return refuse(fmt::format("instruction {} has no addresses", limits_.next_memory[out.index]));
  }
  out.count = static_cast<std::uint32_t>(count);
  instructions_ += count;
  at_ = bytes_.size() - reader.left();
  state_.index = out.index + out.count;
  state_.mask = out.mask;
  return true;
}

bool SegmentCursor::read_access(std::uint8_t tag, Item& out) {
  ByteReader reader(bytes_.subspan(at_));
  out.kind = ItemKind::kAccess;
  out.taken = false;
  out.count = 1;
  ++instructions_;
  out.index = (tag & kNewIndex) != 0 ? static_cast<std::uint32_t>(reader.number()) : state_.index;
  out.mask = (tag & kNewMask) != 0 ? static_cast<std::uint32_t>(reader.fixed(4)) : state_.mask;
  const std::uint64_t pattern = reader.number();
  const std::int64_t step = reader.difference();
  if (reader.failed() || out.index >= limits_.instructions.size() || pattern >= patterns_ || out.mask == 0 ||
      !isa::carries_addresses(limits_.instructions[out.index])) {
    return refuse(fmt::format("an access of instruction {} that is none", out.index));
  }
  out.pattern = static_cast<std::uint32_t>(pattern);
  std::uint64_t& base = state_.base[space_of(limits_.instructions[out.index].memory)];
  base += static_cast<std::uint64_t>(step);
  out.base = base;
  for (std::size_t level = depth_; level-- > 0;) {
    out.base += static_cast<std::uint64_t>(reader.difference()) * loops_[level].trip;
  }
  if (reader.failed()) {
    return refuse("a cut access");
  }
  at_ = bytes_.size() - reader.left();
  state_.index = out.index + 1;
  state_.mask = out.mask;
  return true;
}

bool SegmentCursor::enter_loop() {
  ByteReader reader(bytes_.subspan(at_));
  const std::uint64_t trips = reader.number();
  const std::uint64_t size = reader.number();
  const std::size_t end = depth_ == 0 ? bytes_.size() : loops_[depth_ - 1].end;
  const std::size_t begin = bytes_.size() - reader.left();
  if (reader.failed() || trips == 0 || size == 0 || begin > end || size > end - begin || depth_ == loops_.size()) {
    return refuse(fmt::format("a loop of {} trips and {} bytes", trips, size));
  }
  loops_[depth_++] = Loop{begin, begin + static_cast<std::size_t>(size), 0, trips, branches_, instructions_, state_};
  at_ = begin;
  return true;
}

/// At the end of a body: the next trip, or on behind the loop.
void SegmentCursor::leave_trips() {
  while (depth_ > 0 && at_ == loops_[depth_ - 1].end) {
    Loop& loop = loops_[depth_ - 1];
    if (++loop.trip < loop.trips) {
      at_ = loop.begin;
      state_ = loop.state;
      loop.branches = branches_;
      loop.instructions = instructions_;
      return;
    }
    --depth_;
  }
}

bool SegmentCursor::inside() {
  return depth_ == 0 || at_ <= loops_[depth_ - 1].end || refuse("an item that goes on behind its loop");
}

void SegmentCursor::pass_trips(std::uint64_t& executions) {
  if (depth_ == 0 || at_ != loops_[depth_ - 1].end) {
    return;
  }
  Loop& loop = loops_[depth_ - 1];
  const std::uint64_t each = branches_ - loop.branches;
  const std::uint64_t left = loop.trips - loop.trip - 1;
  if (each == 0 || left < 2) {
    return;
  }
  const std::uint64_t passed = std::min(executions / each, left - 1);
  loop.trip += passed;
  executions -= passed * each;
  instructions_ += passed * (instructions_ - loop.instructions);
}

bool SegmentCursor::next(Item& out) {
  for (;;) {
    leave_trips();
    if (at_ >= bytes_.size()) {
      return false;
    }
    const std::uint8_t tag = bytes_[at_++];
    switch (static_cast<ItemKind>(tag & ((1U << kKindBits) - 1))) {
      case ItemKind::kRun:
        return read_run(tag, out) && inside();
      case ItemKind::kAccess:
        return read_access(tag, out) && inside();
      case ItemKind::kLoop:
        if (!enter_loop()) {
          return false;
        }
        break;
      default:
        return refuse(fmt::format("byte 0x{:02x}, which begins nothing", tag));
    }
  }
}

}  // namespace tilesim::traces
