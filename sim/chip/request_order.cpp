#include "sim/chip/request_order.h"

#include <algorithm>

namespace tilesim::sim {

template <class Key>
void RequestOrder::count(std::span<const MemoryRequest> requests, std::span<const std::uint32_t> from, std::size_t keys,
                         Key&& key, std::vector<std::uint32_t>& to) {
  starts_.assign(keys + 1, 0);
  for (const MemoryRequest& request : requests) {
    ++starts_[key(request) + 1];
  }
  for (std::size_t i = 1; i <= keys; ++i) {
    starts_[i] += starts_[i - 1];
  }
  to.resize(requests.size());
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    const std::uint32_t index = from.empty() ? i : from[i];
    to[starts_[key(requests[index])]++] = index;
  }
}

std::span<const std::uint32_t> RequestOrder::sort(std::span<const MemoryRequest> requests) {
  if (requests.empty()) {
    return {};
  }
  const auto by_time = [](const MemoryRequest& a, const MemoryRequest& b) { return a.time < b.time; };
  const auto [earliest, latest] = std::minmax_element(requests.begin(), requests.end(), by_time);
  const Cycle first = earliest->time;
  const auto cycles = static_cast<std::size_t>(latest->time - first) + 1;
  count(
      requests, {}, sm_count_, [](const MemoryRequest& r) { return std::size_t{r.sm}; }, by_sm_);
  constexpr std::size_t kMostCycles = std::size_t{1} << 16;
  if (cycles > kMostCycles) {
    by_time_ = by_sm_;
    std::stable_sort(by_time_.begin(), by_time_.end(),
                     [requests](std::uint32_t a, std::uint32_t b) { return requests[a].time < requests[b].time; });
  } else {
    count(
        requests, by_sm_, cycles, [first](const MemoryRequest& r) { return static_cast<std::size_t>(r.time - first); },
        by_time_);
  }
  return by_time_;
}

}  // namespace tilesim::sim
