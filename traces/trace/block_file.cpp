#include "traces/trace/block_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "traces/trace/output_path.h"

namespace tilesim::traces {

namespace {

// A byte above 127 and line ends of both kinds show transfers that change bytes.
constexpr std::array<std::uint8_t, 8> kMagic{0x89, 'T', 'S', 'T', '\r', '\n', 0x1a, '\n'};
constexpr std::array<std::uint8_t, 8> kEndMagic{'T', 'S', 'T', '-', 'E', 'N', 'D', '\n'};
constexpr std::uint64_t kPreambleBytes = 16;  // magic, version, 4 zeros
constexpr std::uint64_t kTrailerBytes = 32;   // index offset, file size, CRC-32 of both, 4 zeros, end magic
constexpr std::uint32_t kBlockMark = 0x4b4c4254;
constexpr int kCompressionLevel = 3;
constexpr std::string_view kRecordAnew = "Copy the file again, or record the trace anew.";

std::uint32_t crc(std::span<const std::uint8_t> bytes, std::uint32_t before = 0) {
  return static_cast<std::uint32_t>(crc32_z(before, bytes.data(), bytes.size()));
}

Bytes header_bytes(const BlockHeader& header) {
  Bytes bytes;
  ByteWriter writer(bytes);
  writer.fixed(kBlockMark, 4);
  writer.fixed(static_cast<std::uint64_t>(header.kind), 4);
  writer.fixed(header.cta, 8);
  writer.fixed(header.warps, 4);
  writer.fixed(header.raw_bytes, 4);
  writer.fixed(header.stored_bytes, 4);
  return bytes;
}

tl::unexpected<Error> cannot(const std::string& what, const std::filesystem::path& path, ErrorKind kind) {
  return fail(kind, fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno)),
              "Check path, permissions and space.");
}

}  // namespace

Result<std::unique_ptr<BlockFileWriter>> BlockFileWriter::create(const std::filesystem::path& path) {
  if (auto valid = check_output_path(path); !valid) {
    return tl::unexpected<Error>(valid.error());
  }
  std::unique_ptr<BlockFileWriter> writer(new BlockFileWriter);
  writer->path_ = path;
  writer->partial_ = path.string() + ".partial";
  constexpr mode_t kMode = 0666;
  writer->descriptor_ = ::open(writer->partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (writer->descriptor_ < 0) {
    return cannot("write", path, ErrorKind::kUsage);
  }
  Bytes preamble(kMagic.begin(), kMagic.end());
  ByteWriter bytes(preamble);
  bytes.fixed(kTraceVersion, 4);
  bytes.fixed(0, 4);
  if (auto done = writer->append(preamble); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return writer;
}

BlockFileWriter::~BlockFileWriter() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    std::error_code ignored;
    std::filesystem::remove(partial_, ignored);
  }
}

Result<void> BlockFileWriter::append(std::span<const std::uint8_t> bytes) {
  offset_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return cannot("write", path_, ErrorKind::kFailed);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> BlockFileWriter::write(BlockKind kind, std::uint64_t cta, std::uint32_t warps,
                                    std::span<const std::uint8_t> content) {
  if (content.size() > kMaximumBlockBytes) {
    return fail(ErrorKind::kFailed, fmt::format("a block of {} bytes is too large for a trace", content.size()),
                "Report it with the command line.");
  }
  Bytes stored(ZSTD_compressBound(content.size()));
  const std::size_t size =
      ZSTD_compress(stored.data(), stored.size(), content.data(), content.size(), kCompressionLevel);
  if (ZSTD_isError(size) != 0) {
    return fail(ErrorKind::kFailed, fmt::format("compression fails: {}", ZSTD_getErrorName(size)),
                "Use a machine with more memory.");
  }
  stored.resize(size);
  BlockHeader header;
  header.kind = kind;
  header.cta = cta;
  header.warps = warps;
  header.raw_bytes = static_cast<std::uint32_t>(content.size());
  header.stored_bytes = static_cast<std::uint32_t>(size);
  Bytes head = header_bytes(header);
  const std::uint32_t checksum = crc(stored, crc(head));
  ByteWriter(head).fixed(checksum, 4);
  if (auto done = append(head); !done) {
    return done;
  }
  return append(stored);
}

Result<void> BlockFileWriter::finish(std::span<const std::uint8_t> index) {
  const std::uint64_t index_offset = offset_;
  if (auto done = write(BlockKind::kIndex, 0, 0, index); !done) {
    return done;
  }
  Bytes trailer;
  ByteWriter writer(trailer);
  writer.fixed(index_offset, 8);
  writer.fixed(offset_ + kTrailerBytes, 8);
  writer.fixed(crc(trailer), 4);
  writer.fixed(0, 4);
  trailer.insert(trailer.end(), kEndMagic.begin(), kEndMagic.end());
  if (auto done = append(trailer); !done) {
    return done;
  }
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  std::error_code error;
  if (closed) {
    std::filesystem::rename(partial_, path_, error);
  }
  if (!closed || error) {
    errno = error ? error.value() : errno;
    return cannot("write", path_, ErrorKind::kFailed);
  }
  return {};
}

BlockFile::~BlockFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

std::uint64_t BlockFile::first_block() const { return kPreambleBytes; }

Error BlockFile::damaged(std::uint64_t offset, const std::string& what) const {
  return {ErrorKind::kUsage, fmt::format("The trace is damaged at byte {}: {}.", offset, what),
          std::string(kRecordAnew), name_};
}

Result<void> BlockFile::read_at(std::uint64_t offset, std::span<std::uint8_t> out) const {
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t got = ::pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return tl::unexpected<Error>(damaged(offset + done, got == 0 ? "the file ends there" : std::strerror(errno)));
    }
    done += static_cast<std::size_t>(got);
  }
  return {};
}

Result<std::unique_ptr<BlockFile>> BlockFile::open(const std::filesystem::path& path) {
  std::unique_ptr<BlockFile> file(new BlockFile);
  file->name_ = path.string();
  struct stat status {};
  file->descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file->descriptor_ < 0 || ::fstat(file->descriptor_, &status) != 0) {
    return cannot("read", path, ErrorKind::kUsage);
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorKind::kUsage, fmt::format("{} is not a file", file->name_),
                "Pass what 'tilesim trace record' wrote.");
  }
  file->bytes_ = static_cast<std::uint64_t>(status.st_size);
  std::array<std::uint8_t, kPreambleBytes> preamble{};
  if (file->bytes_ < kPreambleBytes || !file->read_at(0, preamble) ||
      !std::equal(kMagic.begin(), kMagic.end(), preamble.begin())) {
    return fail(ErrorKind::kUsage, "The file is no TileSim trace.",
                "Pass what 'tilesim trace record' or 'tilesim trace convert' wrote.", file->name_);
  }
  ByteReader behind_magic{std::span<const std::uint8_t>(preamble).subspan(kMagic.size())};
  const auto version = static_cast<std::uint32_t>(behind_magic.fixed(4));
  if (version != kTraceVersion) {
    return fail(
        ErrorKind::kUsage,
        fmt::format("The trace has version {} of the format, this TileSim reads version {}.", version, kTraceVersion),
        version > kTraceVersion ? "Use a newer TileSim." : "Record it anew, or use an older TileSim.", file->name_);
  }
  if (behind_magic.fixed(4) != 0) {
    return tl::unexpected<Error>(file->damaged(kPreambleBytes - 4, "zeros should stand there"));
  }
  std::array<std::uint8_t, kTrailerBytes> trailer{};
  const std::uint64_t trailer_at = file->bytes_ - kTrailerBytes;
  const bool whole = file->bytes_ >= kPreambleBytes + kTrailerBytes && file->read_at(trailer_at, trailer) &&
                     std::equal(kEndMagic.begin(), kEndMagic.end(), trailer.end() - kEndMagic.size());
  ByteReader reader(trailer);
  file->index_offset_ = reader.fixed(8);
  const std::uint64_t size = reader.fixed(8);
  if (!whole || reader.fixed(4) != crc(std::span(trailer).first(16)) || reader.fixed(4) != 0 || size != file->bytes_ ||
      file->index_offset_ < kPreambleBytes || file->index_offset_ > trailer_at) {
    return tl::unexpected<Error>(
        file->damaged(file->bytes_, "the file ends there, without the end mark: it was cut, or recording was stopped"));
  }
  return file;
}

Result<BlockHeader> BlockFile::header(std::uint64_t offset) const {
  const std::uint64_t end = bytes_ - kTrailerBytes;
  if (offset < kPreambleBytes || offset > end || end - offset < BlockHeader::kBytes) {
    return tl::unexpected<Error>(damaged(offset, "no block can be there"));
  }
  std::array<std::uint8_t, BlockHeader::kBytes> bytes{};
  if (auto done = read_at(offset, bytes); !done) {
    return tl::unexpected<Error>(done.error());
  }
  ByteReader reader(bytes);
  const bool marked = reader.fixed(4) == kBlockMark;
  BlockHeader header;
  const std::uint64_t kind = reader.fixed(4);
  header.kind = static_cast<BlockKind>(kind);
  header.cta = reader.fixed(8);
  header.warps = static_cast<std::uint32_t>(reader.fixed(4));
  header.raw_bytes = static_cast<std::uint32_t>(reader.fixed(4));
  header.stored_bytes = static_cast<std::uint32_t>(reader.fixed(4));
  header.checksum = static_cast<std::uint32_t>(reader.fixed(4));
  if (!marked || kind < 1 || kind > static_cast<std::uint64_t>(BlockKind::kIndex) ||
      header.raw_bytes > kMaximumBlockBytes || header.stored_bytes > end - offset - BlockHeader::kBytes) {
    return tl::unexpected<Error>(damaged(offset, "no block begins there"));
  }
  return header;
}

Result<Bytes> BlockFile::content(std::uint64_t offset, const BlockHeader& header) const {
  Bytes stored(header.stored_bytes);
  if (auto done = read_at(offset + BlockHeader::kBytes, stored); !done) {
    return tl::unexpected<Error>(done.error());
  }
  if (crc(stored, crc(header_bytes(header))) != header.checksum) {
    return tl::unexpected<Error>(damaged(offset, "the checksum of the block does not fit"));
  }
  Bytes raw(header.raw_bytes);
  const std::size_t size = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0 || size != raw.size()) {
    return tl::unexpected<Error>(damaged(offset, "the block does not decompress to its size"));
  }
  return raw;
}

bool is_trace_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::array<char, kMagic.size()> begin{};
  return stream.read(begin.data(), begin.size()) && std::memcmp(begin.data(), kMagic.data(), begin.size()) == 0;
}

}  // namespace tilesim::traces
