// The sections and symbols of a 64-bit little-endian ELF file, with every offset checked against the file's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace tilesim::traces {

/// Little-endian numbers at byte offsets of a file; reading past its end gives nullopt.
class ByteView {
 public:
  explicit ByteView(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t count) const {
    return offset <= bytes_.size() && count <= bytes_.size() - offset;
  }
  /// `count` bytes at `offset`; empty if they are not all inside.
  [[nodiscard]] std::span<const std::byte> part(std::uint64_t offset, std::uint64_t count) const {
    return holds(offset, count) ? bytes_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count))
                                : std::span<const std::byte>{};
  }
  /// An unsigned number of `count` bytes, 1 to 8.
  [[nodiscard]] std::optional<std::uint64_t> number(std::uint64_t offset, unsigned count) const;
  /// The zero-terminated string at `offset`.
  [[nodiscard]] std::optional<std::string_view> text(std::uint64_t offset) const;

 private:
  std::span<const std::byte> bytes_;
};

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t size = 0;            ///< in memory; a section without contents has a size all the same
  std::uint32_t link = 0;            ///< a section's number
  std::span<const std::byte> bytes;  ///< contents in the file, empty for SHT_NOBITS
};

struct ElfSymbol {
  std::string_view name;
  std::uint8_t type = 0;   ///< STT_FUNC is 2
  std::uint8_t other = 0;  ///< st_other
};

/// Refers to the bytes that it was parsed from.
struct ElfFile {
  std::uint16_t machine = 0;  ///< 190, CUDA
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::uint32_t flags = 0;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;

  [[nodiscard]] const ElfSection* find(std::string_view name) const;
};

inline constexpr std::uint32_t kSectionNoBits = 8;
inline constexpr std::uint32_t kSectionSymbols = 2;
inline constexpr std::uint8_t kSymbolFunction = 2;

/// Reads headers, section names and symbols. Errors (kUsage, `where` = `file`) say what is wrong: empty, not ELF, 32
/// bits, big-endian, another machine, cut, tables or contents that lie outside the file, names without an end.
[[nodiscard]] Result<ElfFile> parse_elf(std::span<const std::byte> bytes, const std::string& file);

}  // namespace tilesim::traces
