// Files of compressed, checksummed blocks: the container of a trace. Layout in README.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "model/result.h"
#include "traces/trace/bytes.h"

namespace tilesim::traces {

inline constexpr std::uint32_t kTraceVersion = 2;

enum class BlockKind : std::uint8_t { kCta = 1, kProgram = 2, kLaunch = 3, kIndex = 4 };

struct BlockHeader {
  static constexpr std::uint64_t kBytes = 32;

  BlockKind kind = BlockKind::kCta;
  std::uint32_t warps = 0;  ///< kCta: warps that have a segment in it, one bit each
  std::uint64_t cta = 0;    ///< kCta
  std::uint32_t raw_bytes = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t checksum = 0;  ///< CRC-32 of the header before it and of the stored bytes
};

/// Largest content of a block, in bytes; larger ones are refused.
inline constexpr std::uint32_t kMaximumBlockBytes = 16U << 20;

/// Writes blocks one after the other; the file appears under its name only when it is complete.
class BlockFileWriter {
 public:
  /// Errors (kUsage): a path that cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<BlockFileWriter>> create(const std::filesystem::path& path);
  BlockFileWriter(const BlockFileWriter&) = delete;
  BlockFileWriter& operator=(const BlockFileWriter&) = delete;
  /// Without finish(): removes what was written.
  ~BlockFileWriter();

  /// Where the next block begins.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// Errors (kFailed): the disk is full or the like; a block over kMaximumBlockBytes.
  [[nodiscard]] Result<void> write(BlockKind kind, std::uint64_t cta, std::uint32_t warps,
                                   std::span<const std::uint8_t> content);
  /// Writes the index block and the end mark and gives the file its name.
  [[nodiscard]] Result<void> finish(std::span<const std::uint8_t> index);

 private:
  BlockFileWriter() = default;
  [[nodiscard]] Result<void> append(std::span<const std::uint8_t> bytes);

  std::filesystem::path path_;
  std::filesystem::path partial_;
  int descriptor_ = -1;
  std::uint64_t offset_ = 0;
};

/// Reads blocks at offsets. Thread-safe.
class BlockFile {
 public:
  /// Checks begin and end of the file. Errors (kUsage): not a trace, a trace of another version of the format, one
  /// that was cut, with the offset.
  [[nodiscard]] static Result<std::unique_ptr<BlockFile>> open(const std::filesystem::path& path);
  BlockFile(const BlockFile&) = delete;
  BlockFile& operator=(const BlockFile&) = delete;
  ~BlockFile();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t first_block() const;
  [[nodiscard]] std::uint64_t index_offset() const { return index_offset_; }

  /// Errors (kUsage) name file and offset: bytes that are no block, a block that does not fit the file.
  [[nodiscard]] Result<BlockHeader> header(std::uint64_t offset) const;
  /// The content of the block at `offset`. Errors as header(), and a checksum that does not fit.
  [[nodiscard]] Result<Bytes> content(std::uint64_t offset, const BlockHeader& header) const;
  [[nodiscard]] static std::uint64_t behind(std::uint64_t offset, const BlockHeader& header) {
    return offset + BlockHeader::kBytes + header.stored_bytes;
  }

  /// An error at a place of this file.
  [[nodiscard]] Error damaged(std::uint64_t offset, const std::string& what) const;

 private:
  BlockFile() = default;
  [[nodiscard]] Result<void> read_at(std::uint64_t offset, std::span<std::uint8_t> out) const;

  std::string name_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
  std::uint64_t index_offset_ = 0;
};

/// True if the file begins as traces do; false if it cannot be read.
[[nodiscard]] bool is_trace_file(const std::filesystem::path& path);

}  // namespace tilesim::traces
