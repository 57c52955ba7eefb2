// The order in which the chip takes the requests of a window: by time, then SM, then the order in which the SM made
// them. Two counting sorts, since there are many requests and few cycles and SMs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/chip/memory_port.h"

namespace tilesim::sim {

class RequestOrder {
 public:
  explicit RequestOrder(int sm_count) : sm_count_(static_cast<std::size_t>(sm_count)) {}

  /// Indices of `requests` in order; valid until the next call. Requests of one SM must stand in the order in which it
  /// made them.
  [[nodiscard]] std::span<const std::uint32_t> sort(std::span<const MemoryRequest> requests);

 private:
  /// Stable: `to` gets the indices in `from` (all in turn if empty) by key(request), which is below `keys`.
  template <class Key>
  void count(std::span<const MemoryRequest> requests, std::span<const std::uint32_t> from, std::size_t keys, Key&& key,
             std::vector<std::uint32_t>& to);

  std::size_t sm_count_;
  std::vector<std::uint32_t> starts_, by_sm_, by_time_;
};

}  // namespace tilesim::sim
