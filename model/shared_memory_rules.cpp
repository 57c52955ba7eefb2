#include "model/shared_memory_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <vector>

namespace tilesim::model {
namespace {

constexpr int kRowShift = 7;  // 32 banks of 4 bytes: addresses 128 bytes apart share a bank

// Wavefronts of one phase: over all slots of a 128-byte row, the largest number of distinct units that fall into one
// slot. A unit is one access (4, 8 or 16 bytes, aligned), so a slot is the 1, 2 or 4 banks that it occupies.
int phase_wavefronts(const std::uint32_t* addresses, std::uint32_t lanes, unsigned unit_shift) {
  std::array<std::uint8_t, 32> count{};
  std::array<std::array<std::uint32_t, 32>, 32> rows;  // filled up to count[slot]; deliberately not initialised
  const std::uint32_t slot_mask = (1U << (kRowShift - unit_shift)) - 1U;
  int worst = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t address = addresses[std::countr_zero(lanes)];
    const std::uint32_t slot = (address >> unit_shift) & slot_mask;
    const std::uint32_t row = address >> kRowShift;
    const auto begin = rows[slot].begin();
    const auto end = begin + count[slot];
    if (std::find(begin, end, row) != end) continue;
    *end = row;
    worst = std::max<int>(worst, ++count[slot]);
  }
  return worst;
}

// True when each lane of `lanes` has the address of its partner lane^distance, as far as both are active.
bool paired(const std::uint32_t* addresses, std::uint32_t lanes, unsigned distance) {
  const std::uint32_t lower = distance == 1 ? 0x55555555U : 0x33333333U;
  for (std::uint32_t both = lanes & (lanes >> distance) & lower; both != 0; both &= both - 1) {
    const int lane = std::countr_zero(both);
    if (addresses[lane] != addresses[lane + static_cast<int>(distance)]) return false;
  }
  return true;
}

Wavefronts sum_phases(const std::uint32_t* addresses, std::uint32_t active_mask, int lanes_per_phase,
                      unsigned unit_shift) {
  Wavefronts total;
  if (active_mask == 0) return total;
  total.all_phases = 32 / lanes_per_phase;
  const std::uint32_t group = lanes_per_phase == 32 ? ~0U : (1U << lanes_per_phase) - 1U;
  for (int first = 0; first < 32; first += lanes_per_phase) {
    const std::uint32_t lanes = active_mask & (group << first);
    if (lanes == 0) continue;
    total.wavefronts += phase_wavefronts(addresses, lanes, unit_shift);
    ++total.phases;
  }
  return total;
}

struct Shape {
  unsigned unit_shift;
  int lanes_per_phase;
};

Shape shape_of(int access_bytes) {
  assert((access_bytes == 1 || access_bytes == 2 || access_bytes == 4 || access_bytes == 8 || access_bytes == 16) &&
         "a shared-memory access moves 1, 2, 4, 8 or 16 bytes per lane");
  if (access_bytes == 16) return {4, 8};
  if (access_bytes == 8) return {3, 16};
  return {2, 32};
}

}  // namespace

Wavefronts shared_load_wavefronts(std::span<const std::uint32_t, 32> byte_addresses, std::uint32_t active_mask,
                                  int access_bytes) {
  const Shape shape = shape_of(access_bytes);
  const std::uint32_t* addresses = byte_addresses.data();
  const bool merges =
      shape.lanes_per_phase < 32 && (paired(addresses, active_mask, 1) || paired(addresses, active_mask, 2));
  return sum_phases(addresses, active_mask, merges ? 2 * shape.lanes_per_phase : shape.lanes_per_phase,
                    shape.unit_shift);
}

Wavefronts shared_store_wavefronts(std::span<const std::uint32_t, 32> byte_addresses, std::uint32_t active_mask,
                                   int access_bytes) {
  const Shape shape = shape_of(access_bytes);
  return sum_phases(byte_addresses.data(), active_mask, shape.lanes_per_phase, shape.unit_shift);
}

namespace {

// Banks of a row that the lanes of one wavefront occupy, and with which row.
class WavefrontBanks {
 public:
  // True if an access of `words` words at `address` finds its banks free or holding its own row; takes them.
  bool take(std::uint32_t address, unsigned words) {
    const std::uint32_t mask = ((1U << words) - 1U) << (address >> 2 & 31U);
    const std::uint32_t row = address >> kRowShift;
    for (std::uint32_t met = mask & taken_; met != 0; met &= met - 1) {
      if (rows_[static_cast<std::size_t>(std::countr_zero(met))] != row) return false;
    }
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      rows_[static_cast<std::size_t>(std::countr_zero(left))] = row;
    }
    taken_ |= mask;
    return true;
  }

 private:
  std::uint32_t taken_ = 0;
  std::array<std::uint32_t, 32> rows_{};
};

}  // namespace

CopyWavefronts copy_wavefronts(std::span<const std::uint32_t, 32> byte_addresses, std::uint32_t active_mask,
                               int access_bytes) {
  const Shape shape = shape_of(access_bytes);
  const auto words = static_cast<unsigned>(std::max(access_bytes, 4)) / 4;
  const std::uint32_t group = shape.lanes_per_phase == 32 ? ~0U : (1U << shape.lanes_per_phase) - 1U;
  CopyWavefronts out;
  std::uint32_t left_over = 0;
  const auto fill = [&](std::uint32_t candidates) {
    WavefrontBanks banks;
    std::uint32_t taken = 0;
    for (std::uint32_t rest = candidates; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      taken |= banks.take(byte_addresses[static_cast<std::size_t>(lane)], words) ? 1U << lane : 0U;
    }
    out.lanes[static_cast<std::size_t>(out.count++)] = taken;
    return candidates & ~taken;
  };
  for (int first = 0; first < 32; first += shape.lanes_per_phase) {
    if (const std::uint32_t lanes = active_mask & (group << first); lanes != 0) {
      ++out.phases;
      left_over |= fill(lanes);
    }
  }
  while (left_over != 0) {
    left_over = fill(left_over);
  }
  return out;
}

namespace {

// The lanes of `group` have data of one line; how long each bank is busy with them.
std::array<int, 32> bank_turns(std::span<const std::uint32_t, 32> addresses, std::uint32_t group, unsigned words) {
  std::array<std::vector<std::uint32_t>, 32> rows;
  for (; group != 0; group &= group - 1) {
    const std::uint32_t address = addresses[static_cast<std::size_t>(std::countr_zero(group))];
    for (unsigned word = 0; word < words; ++word) {
      std::vector<std::uint32_t>& bank = rows[(address / 4 + word) % 32];
      if (std::find(bank.begin(), bank.end(), address >> kRowShift) == bank.end()) {
        bank.push_back(address >> kRowShift);
      }
    }
  }
  std::array<int, 32> turns{};
  std::transform(rows.begin(), rows.end(), turns.begin(),
                 [](const auto& bank) { return static_cast<int>(bank.size()); });
  return turns;
}

// Wavefronts of lines that come together.
int pipelined(std::span<const std::array<int, 32>> lines) {
  std::array<int, 32> free{};
  int start = -1;
  for (const std::array<int, 32>& turns : lines) {
    ++start;
    for (std::size_t bank = 0; bank < turns.size(); ++bank) {
      start = turns[bank] != 0 ? std::max(start, free[bank]) : start;
    }
    for (std::size_t bank = 0; bank < turns.size(); ++bank) {
      free[bank] = turns[bank] != 0 ? start + turns[bank] : free[bank];
    }
  }
  return *std::max_element(free.begin(), free.end());
}

}  // namespace

WordCopyWavefronts word_copy_wavefronts(std::span<const std::uint32_t, 32> byte_addresses,
                                        std::span<const std::uint64_t, 32> lines, std::uint32_t active_mask,
                                        int access_bytes) {
  constexpr std::size_t kTogether = 4;
  const Shape shape = shape_of(access_bytes);
  const auto words = static_cast<unsigned>(std::max(access_bytes, 4)) / 4;
  WordCopyWavefronts out;
  for (int first = 0; first < 32; first += shape.lanes_per_phase) {
    std::uint32_t left =
        active_mask & (shape.lanes_per_phase == 32 ? ~0U : ((1U << shape.lanes_per_phase) - 1U) << first);
    out.together.phases += left != 0 ? 1 : 0;
    std::vector<std::array<int, 32>> turns;
    while (left != 0) {
      const std::uint64_t line = lines[static_cast<std::size_t>(std::countr_zero(left))];
      std::uint32_t group = 0;
      for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
        group |= lines[static_cast<std::size_t>(std::countr_zero(rest))] == line ? rest & (0U - rest) : 0U;
      }
      turns.push_back(bank_turns(byte_addresses, group, words));
      left &= ~group;
    }
    const std::span<const std::array<int, 32>> all(turns);
    out.together.wavefronts += pipelined(all);
    for (std::size_t at = 0; at < all.size(); at += kTogether) {
      out.by_fours.wavefronts += pipelined(all.subspan(at, std::min(kTogether, all.size() - at)));
      ++out.by_fours.phases;
    }
  }
  out.together.all_phases = out.together.phases;
  out.by_fours.all_phases = out.together.phases;
  return out;
}

Wavefronts matrix_load_wavefronts(std::span<const std::uint32_t> row_addresses, int matrices) {
  assert((matrices == 1 || matrices == 2 || matrices == 4) && row_addresses.size() >= 8U * matrices);
  Wavefronts total;
  for (int matrix = 0; matrix < matrices; ++matrix) {
    total.wavefronts += phase_wavefronts(row_addresses.data() + 8 * matrix, 0xffU, 4);
    ++total.phases;
  }
  total.all_phases = total.phases;
  return total;
}

}  // namespace tilesim::model
