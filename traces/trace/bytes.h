// Numbers as bytes: little-endian, and variable-length ones of 7 bits a byte, lowest first. Signed ones are zigzag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilesim::traces {

using Bytes = std::vector<std::uint8_t>;

class ByteWriter {
 public:
  explicit ByteWriter(Bytes& out) : out_(out) {}

  void u8(std::uint8_t value) { out_.push_back(value); }
  /// The lowest `bytes` bytes.
  void fixed(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      out_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
  }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      out_.push_back(static_cast<std::uint8_t>(value | 0x80));
    }
    out_.push_back(static_cast<std::uint8_t>(value));
  }
  void difference(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void text(std::string_view value) {
    number(value.size());
    out_.insert(out_.end(), value.begin(), value.end());
  }

 private:
  Bytes& out_;
};

/// Reading past the end gives zeros and makes failed() true.
class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(std::span<const std::uint8_t> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] const std::uint8_t* position() const { return at_; }

  std::uint8_t u8() {
    if (at_ == end_) {
      failed_ = true;
      return 0;
    }
    return *at_++;
  }
  std::uint64_t fixed(int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) {
      value |= std::uint64_t{u8()} << (8 * i);
    }
    return value;
  }
  std::uint64_t number() {
    constexpr unsigned kLongest = 64;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < kLongest; shift += 7) {
      const std::uint8_t byte = u8();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) {
        return value;
      }
    }
    failed_ = true;
    return 0;
  }
  std::int64_t difference() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  std::string text() {
    const std::uint64_t size = number();
    if (size > left()) {
      failed_ = true;
      return {};
    }
    std::string value(reinterpret_cast<const char*>(at_), static_cast<std::size_t>(size));
    at_ += size;
    return value;
  }
  /// `count` bytes; none if there are fewer.
  std::span<const std::uint8_t> part(std::uint64_t count) {
    if (count > left()) {
      failed_ = true;
      return {};
    }
    const std::span<const std::uint8_t> bytes(at_, static_cast<std::size_t>(count));
    at_ += count;
    return bytes;
  }

 private:
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  bool failed_ = false;
};

}  // namespace tilesim::traces
