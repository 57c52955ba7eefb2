#include "model/global_access_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

namespace tilesim::model {
namespace {

constexpr unsigned kLineShift = 7;
constexpr unsigned kSectorShift = 5;

// Adds sectors to a line; remembers the range of lines so that ascending and descending patterns never search.
class LineCollector {
 public:
  explicit LineCollector(GlobalFootprint& out) : out_(out) { out_.line_count = 0; }

  void add(std::uint64_t line, std::uint32_t sector_mask) {
    if (out_.line_count != 0 && line == last_->line) {
      last_->sector_mask |= sector_mask;
      return;
    }
    if (out_.line_count == 0 || line > highest_ || line < lowest_) {
      append(line, sector_mask);
      return;
    }
    LineAccess* const end = out_.lines.data() + out_.line_count;
    LineAccess* const found =
        std::find_if(out_.lines.data(), end, [line](const LineAccess& access) { return access.line == line; });
    if (found == end) {
      append(line, sector_mask);
      return;
    }
    found->sector_mask |= sector_mask;
    last_ = found;
  }

 private:
  void append(std::uint64_t line, std::uint32_t sector_mask) {
    lowest_ = out_.line_count == 0 ? line : std::min(lowest_, line);
    highest_ = out_.line_count == 0 ? line : std::max(highest_, line);
    last_ = out_.lines.data() + out_.line_count++;
    *last_ = {line, sector_mask};
  }

  GlobalFootprint& out_;
  LineAccess* last_ = nullptr;
  std::uint64_t lowest_ = 0;
  std::uint64_t highest_ = 0;
};

// Bits of the sectors from `first` to `last` (0 to 3, both included).
constexpr std::uint32_t sector_bits(unsigned first, unsigned last) { return (2U << last) - (1U << first); }

}  // namespace

void global_footprint(std::span<const std::uint64_t, 32> addresses, std::uint32_t active_mask, int access_bytes,
                      GlobalFootprint& out) {
  assert(access_bytes >= 1 && access_bytes <= 16 && "a lane moves 1 to 16 bytes per instruction");
  LineCollector collector(out);
  for (std::uint32_t lanes = active_mask; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t first = addresses[std::countr_zero(lanes)];
    const std::uint64_t last = first + static_cast<std::uint64_t>(access_bytes) - 1;
    const auto first_sector = static_cast<unsigned>(first >> kSectorShift) & 3U;
    const auto last_sector = static_cast<unsigned>(last >> kSectorShift) & 3U;
    if (first >> kLineShift == last >> kLineShift) {
      collector.add(first >> kLineShift, sector_bits(first_sector, last_sector));
    } else {
      collector.add(first >> kLineShift, sector_bits(first_sector, 3));
      collector.add(last >> kLineShift, sector_bits(0, last_sector));
    }
  }
  out.sector_count = 0;
  for (int i = 0; i < out.line_count; ++i) out.sector_count += std::popcount(out.lines[i].sector_mask);
}

void bypass_requests(std::span<const std::uint64_t, 32> global, std::span<const std::uint32_t, 32> shared,
                     std::uint32_t active_mask, GlobalFootprint& out) {
  struct Place {
    std::uint32_t row;                    // of shared memory
    std::array<std::uint32_t, 4> sector;  // of the row, by sector of the line; valid where the request has the latter
  };
  std::array<Place, 32> places;  // filled as far as out.lines
  out.line_count = 0;
  for (std::uint32_t lanes = active_mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
    const std::uint64_t line = global[lane] >> kLineShift;
    const auto from = static_cast<unsigned>(global[lane] >> kSectorShift) & 3U;
    const std::uint32_t row = shared[lane] >> kLineShift;
    const std::uint32_t to = shared[lane] >> kSectorShift & 3U;
    const auto takes = [&](int i) {
      const bool has = (out.lines[i].sector_mask >> from & 1U) != 0;
      return out.lines[i].line == line && places[i].row == row && (!has || places[i].sector[from] == to);
    };
    int i = 0;
    while (i < out.line_count && !takes(i)) ++i;
    if (i == out.line_count) {
      out.lines[i] = {line, 0};
      places[i].row = row;
      ++out.line_count;
    }
    out.lines[i].sector_mask |= 1U << from;
    places[i].sector[from] = to;
  }
  out.sector_count = 0;
  for (int i = 0; i < out.line_count; ++i) out.sector_count += std::popcount(out.lines[i].sector_mask);
}

}  // namespace tilesim::model
