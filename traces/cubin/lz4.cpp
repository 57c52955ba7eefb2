#include "traces/cubin/lz4.h"

#include <cstdint>

namespace tilesim::traces {
namespace {

class Lz4Block {
 public:
  Lz4Block(std::span<const std::byte> block, std::size_t size) : block_(block), size_(size) { out_.reserve(size); }

  std::optional<std::vector<std::byte>> run() {
    while (at_ < block_.size()) {
      const unsigned token = next();
      if (!literals(token >> 4)) {
        return std::nullopt;
      }
      if (at_ < block_.size() && !match(token & 0xfU)) {  // the last sequence has no match
        return std::nullopt;
      }
    }
    return out_.size() == size_ ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  unsigned next() { return std::to_integer<unsigned>(block_[at_++]); }

  // A length of 15 goes on in bytes until one is not 255.
  std::optional<std::size_t> length(std::size_t start) {
    constexpr std::size_t kGoesOn = 15;
    constexpr unsigned kFull = 255;
    if (start != kGoesOn) {
      return start;
    }
    unsigned more = kFull;
    while (more == kFull) {
      if (at_ == block_.size()) {
        return std::nullopt;
      }
      more = next();
      start += more;
    }
    return start;
  }

  bool literals(std::size_t start) {
    const auto count = length(start);
    if (!count || *count > block_.size() - at_ || *count > size_ - out_.size()) {
      return false;
    }
    const auto from = block_.subspan(at_, *count);
    out_.insert(out_.end(), from.begin(), from.end());
    at_ += *count;
    return true;
  }

  bool match(std::size_t start) {
    constexpr std::size_t kShortest = 4;
    if (block_.size() - at_ < 2) {
      return false;
    }
    const std::size_t low = next();
    const std::size_t distance = low | std::size_t{next()} << 8;
    const auto more = length(start);
    if (!more || distance == 0 || distance > out_.size() || *more + kShortest > size_ - out_.size()) {
      return false;
    }
    for (std::size_t i = 0; i < *more + kShortest; ++i) {  // it may overlap what it writes
      out_.push_back(out_[out_.size() - distance]);
    }
    return true;
  }

  std::span<const std::byte> block_;
  std::size_t size_;
  std::size_t at_ = 0;
  std::vector<std::byte> out_;
};

}  // namespace

std::optional<std::vector<std::byte>> decompress_lz4(std::span<const std::byte> block, std::size_t size) {
  return Lz4Block(block, size).run();
}

}  // namespace tilesim::traces
