// A first-in first-out queue in one block of memory that is kept: no allocation once it has been as long as it gets.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tilesim::sim {

template <class T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return first_ == end_; }
  [[nodiscard]] std::size_t size() const { return end_ - first_; }
  [[nodiscard]] T& front() { return places_[first_ & (places_.size() - 1)]; }
  [[nodiscard]] const T& front() const { return places_[first_ & (places_.size() - 1)]; }
  void pop_front() { ++first_; }
  void push_back(const T& value) {
    if (size() == places_.size()) {
      grow();
    }
    places_[end_++ & (places_.size() - 1)] = value;
  }

 private:
  void grow() {
    std::vector<T> wider(places_.empty() ? 16 : 2 * places_.size());
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) {
      wider[i] = std::move(places_[(first_ + i) & (places_.size() - 1)]);
    }
    places_ = std::move(wider);
    first_ = 0;
    end_ = count;
  }

  std::vector<T> places_;  ///< a power of two of them
  std::size_t first_ = 0, end_ = 0;
};

}  // namespace tilesim::sim
