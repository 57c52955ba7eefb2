#include "sim/chip/memory_system.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/engine/hash.h"

namespace tilesim::sim {

MemorySystem::MemorySystem(const ChipParameters& parameters)
    : p_(parameters),
      l2_(parameters.l2_lines, parameters.l2_ways),
      sm_free_(static_cast<std::size_t>(parameters.sm_count)),
      gpc_free_(static_cast<std::size_t>(parameters.gpc_count)),
      joinable_(static_cast<std::size_t>(parameters.sm_count + 1) / 2) {}

Cycle MemorySystem::read(const MemoryRequest& request) {
  Joinable& joinable = joinable_[request.sm / 2][request.line % kJoinable];
  const Cycle least = request.time + p_.window();
  const bool on_its_way = joinable.line == request.line && joinable.sm != request.sm && joinable.ready > request.time &&
                          (request.sectors & ~joinable.sectors) == 0;
  const double bytes = std::popcount(request.sectors) * p_.sector_bytes;
  double start = static_cast<double>(request.time);
  const auto pass = [&start](double& free, double cycles) {
    start = std::max(start, free);
    free = start + cycles;
  };
  pass(sm_free_[request.sm], bytes / p_.sm_bytes_per_cycle);
  const double share = on_its_way ? p_.joined_share : 1.0;
  pass(gpc_free_[gpc_of(request.sm)], share * bytes / p_.gpc_bytes_per_cycle);
  pass(chip_free_, share * std::max(bytes, p_.request_bytes) / p_.chip_bytes_per_cycle);
  if (on_its_way) {
    return std::max({joinable.ready, static_cast<Cycle>(std::ceil(start)) + p_.window(), least});
  }
  const Cycle ready = std::max(from_l2(request, start), least);
  joinable = Joinable{request.line, request.sectors, request.sm, ready};
  return ready;
}

Cycle MemorySystem::from_l2(const MemoryRequest& request, double start) {
  const auto sectors = static_cast<std::uint8_t>(request.sectors);
  counters_.l2_read_sectors += static_cast<std::uint64_t>(std::popcount(sectors));
  int evicted_dirty = 0;
  L2Cache::Line& line = l2_.access(request.line, evicted_dirty);
  write_back(evicted_dirty, start);
  const auto missing = static_cast<std::uint8_t>(sectors & ~line.sectors);
  counters_.l2_read_sector_hits +=
      static_cast<std::uint64_t>(std::popcount(static_cast<std::uint8_t>(sectors & line.sectors)));
  const auto begin = static_cast<Cycle>(std::ceil(start));
  // Near or far slice, fixed by line and SM position.
  const Cycle position = spread(request.line * 64 + (request.sm & 63U), p_.l2_latency_spread);
  if (missing != 0) {
    std::uint8_t fetched = 0;
    for (int s = 0; s < p_.sectors_per_line; s += p_.dram_access_sectors) {
      const auto group = static_cast<std::uint8_t>(((1U << p_.dram_access_sectors) - 1U) << s);
      fetched |= (missing & group) != 0 ? group : std::uint8_t{0};
    }
    fetched = static_cast<std::uint8_t>(fetched & ~line.sectors);
    const double bytes = std::popcount(fetched) * p_.sector_bytes;
    dram_free_ = std::max(dram_free_, start) + bytes / p_.dram_bytes_per_cycle;
    counters_.dram_read_bytes += static_cast<std::uint64_t>(bytes);
    const Cycle dram = p_.dram_extra + spread(request.line ^ 0x5bd1e995U, p_.dram_extra_spread);
    line.sectors = static_cast<std::uint8_t>(line.sectors | fetched);
    line.ready = std::max(line.ready, static_cast<Cycle>(std::ceil(dram_free_)) + dram);
    line.partitions = partition_bit(request.sm);
  }
  // The first read by a partition that lacks the line fetches it from the other.
  const std::uint8_t bit = partition_bit(request.sm);
  const Cycle crossing = (line.partitions & bit) == 0 ? p_.l2_remote_first_touch : 0;
  line.partitions |= bit;
  return std::max(begin, line.ready) + p_.l2_latency + position + crossing;
}

std::uint8_t MemorySystem::partition_bit(std::uint32_t sm) const {
  return static_cast<std::uint8_t>(1U << (gpc_of(sm) * static_cast<std::size_t>(p_.l2_partitions) / gpc_free_.size()));
}

void MemorySystem::write_back(int sectors, double time) {
  if (sectors != 0) {
    const double bytes = sectors * p_.sector_bytes;
    dram_free_ = std::max(dram_free_, time) + bytes / p_.dram_write_bytes_per_cycle;
    counters_.dram_write_bytes += static_cast<std::uint64_t>(bytes);
  }
}

Cycle MemorySystem::write(const MemoryRequest& request) {
  int evicted_dirty = 0;
  L2Cache::Line& line = l2_.access(request.line, evicted_dirty);
  const auto sectors = static_cast<std::uint8_t>(request.sectors);
  counters_.l2_write_sectors += static_cast<std::uint64_t>(std::popcount(sectors));
  write_back(evicted_dirty, static_cast<double>(request.time));
  line.partitions = partition_bit(request.sm);
  line.sectors = static_cast<std::uint8_t>(line.sectors | sectors);
  line.dirty = static_cast<std::uint8_t>(line.dirty | sectors);
  const double start = std::max(write_free_, static_cast<double>(request.time));
  write_free_ = start + std::popcount(sectors) / p_.write_sectors_per_cycle;
  return static_cast<Cycle>(std::ceil(start)) + p_.window();
}

}  // namespace tilesim::sim
