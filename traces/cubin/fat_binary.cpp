#include "traces/cubin/fat_binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "traces/cubin/elf_file.h"
#include "traces/cubin/lz4.h"

namespace tilesim::traces {
namespace {

constexpr std::array<std::byte, 4> kMagic{std::byte{0x50}, std::byte{0xed}, std::byte{0x55}, std::byte{0xba}};
constexpr std::uint64_t kHeaderBytes = 16;
constexpr std::uint64_t kEntryBytes = 64;
constexpr std::uint64_t kMaximumBytes = std::uint64_t{256} << 20;  // of all cubins together
constexpr std::string_view kTakeOut = "Take the cubins out with 'cuobjdump -xelf all FILE' and pass one of those.";

enum class EntryKind : std::uint8_t { kPtx = 1, kElf = 2 };

// Bits of an entry's flags.
constexpr std::uint64_t kLz4 = 0x2000;
constexpr std::uint64_t kZstd = 0x8000;

struct Entry {
  std::uint64_t kind = 0;
  std::uint64_t header = 0;  ///< bytes in front of the contents
  std::uint64_t bytes = 0;   ///< of the contents with padding
  std::uint64_t compressed = 0;
  std::uint64_t flags = 0;
  std::uint64_t uncompressed = 0;
};

class Extractor {
 public:
  Extractor(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), view_(bytes), file_(file) {}

  Result<std::vector<std::vector<std::byte>>> run();

 private:
  [[nodiscard]] Result<std::uint64_t> fat_binary(std::uint64_t at);
  [[nodiscard]] Result<void> entry(const Entry& entry, std::uint64_t contents);
  [[nodiscard]] tl::unexpected<Error> wrong(std::string what, std::string_view remedy = kTakeOut) const {
    return fail(ErrorKind::kUsage, fmt::format("File {} {}.", file_, what), std::string(remedy), file_);
  }
  [[nodiscard]] std::uint64_t number(std::uint64_t at, unsigned count) const {
    return view_.number(at, count).value_or(0);
  }

  std::span<const std::byte> bytes_;
  ByteView view_;
  const std::string& file_;
  std::vector<std::vector<std::byte>> cubins_;
  std::uint64_t total_ = 0;
  bool has_ptx_ = false;
};

Result<void> Extractor::entry(const Entry& entry, std::uint64_t contents) {
  has_ptx_ = has_ptx_ || entry.kind == static_cast<std::uint64_t>(EntryKind::kPtx);
  if (entry.kind != static_cast<std::uint64_t>(EntryKind::kElf)) {
    return {};
  }
  if ((entry.flags & kZstd) != 0) {
    return wrong("holds device code compressed with zstd, which this version cannot read",
                 "Take the cubins out with 'cuobjdump -xelf all FILE', or build with 'nvcc --compress-mode=none'.");
  }
  const bool compressed = (entry.flags & kLz4) != 0;
  total_ += compressed ? entry.uncompressed : entry.bytes;
  if (entry.uncompressed > kMaximumBytes || total_ > kMaximumBytes) {
    return wrong(fmt::format("holds more than {} MiB of device code", kMaximumBytes >> 20));
  }
  if (!compressed) {
    const auto part = view_.part(contents, entry.bytes);
    cubins_.emplace_back(part.begin(), part.end());
    return {};
  }
  if (entry.compressed > entry.bytes) {
    return wrong(
        fmt::format("has {} compressed bytes in a part of {} at byte {}", entry.compressed, entry.bytes, contents));
  }
  auto cubin = decompress_lz4(view_.part(contents, entry.compressed), static_cast<std::size_t>(entry.uncompressed));
  if (!cubin) {
    return wrong(fmt::format("has compressed device code at byte {} that does not decompress", contents));
  }
  cubins_.push_back(std::move(*cubin));
  return {};
}

// Reads the fat binary at `at`; returns where it ends, or `at` if it is none after all.
Result<std::uint64_t> Extractor::fat_binary(std::uint64_t at) {
  const std::uint64_t header = number(at + 6, 2);
  if (number(at + 4, 2) != 1 || header < kHeaderBytes) {
    return at;
  }
  const std::uint64_t size = number(at + 8, 8);
  if (!view_.holds(at + header, size)) {
    return wrong(fmt::format("is cut: its fat binary at byte {} says that {} bytes follow", at, size));
  }
  const std::uint64_t end = at + header + size;
  for (std::uint64_t place = at + header; place < end;) {
    Entry found;
    found.kind = number(place, 2);
    found.header = number(place + 4, 4);
    found.bytes = number(place + 8, 8);
    found.compressed = number(place + 16, 4);
    found.flags = number(place + 40, 8);
    found.uncompressed = number(place + 56, 8);
    if (found.header < kEntryBytes || found.header > end - place || found.bytes > end - place - found.header) {
      return wrong(fmt::format("has a broken fat binary at byte {}: its part at byte {} does not fit", at, place));
    }
    if (auto done = entry(found, place + found.header); !done) {
      return tl::unexpected<Error>(done.error());
    }
    place += found.header + found.bytes;
  }
  return end;
}

Result<std::vector<std::vector<std::byte>>> Extractor::run() {
  for (auto from = bytes_.begin(); from != bytes_.end();) {
    from = std::search(from, bytes_.end(), kMagic.begin(), kMagic.end());
    if (from == bytes_.end()) {
      break;
    }
    const auto at = static_cast<std::uint64_t>(from - bytes_.begin());
    const auto end = fat_binary(at);
    if (!end) {
      return tl::unexpected<Error>(end.error());
    }
    from = bytes_.begin() + static_cast<std::ptrdiff_t>(std::max(*end, at + kMagic.size()));
  }
  if (cubins_.empty()) {
    return has_ptx_ ? wrong("holds PTX only, no machine code", "Compile with '-arch=sm_90' instead of 'compute_90'.")
                    : wrong("holds no device code", "Pass what nvcc wrote.");
  }
  return std::move(cubins_);
}

}  // namespace

bool holds_fat_binary(std::span<const std::byte> bytes) {
  return std::search(bytes.begin(), bytes.end(), kMagic.begin(), kMagic.end()) != bytes.end();
}

Result<std::vector<std::vector<std::byte>>> extract_cubins(std::span<const std::byte> bytes, const std::string& file) {
  return Extractor(bytes, file).run();
}

}  // namespace tilesim::traces
