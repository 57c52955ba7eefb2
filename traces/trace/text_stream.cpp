#include "traces/trace/text_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "traces/trace/output_path.h"

namespace tilesim::traces {

namespace {

constexpr std::size_t kChunk = 65536;
constexpr std::size_t kLongestLine = 1U << 20;
constexpr std::uint64_t kMostDecoderMemory = std::uint64_t{1} << 30;

tl::unexpected<Error> cannot(const char* what, const std::filesystem::path& path, ErrorKind kind) {
  return fail(kind, fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno)),
              "Check path, permissions and space.");
}

enum class Compression { kNone, kGzip, kZstd, kXz };

Compression compression_of(std::span<const std::uint8_t> begin) {
  const auto starts = [begin](std::initializer_list<std::uint8_t> magic) {
    return begin.size() >= magic.size() && std::equal(magic.begin(), magic.end(), begin.begin());
  };
  return starts({0x1f, 0x8b})                       ? Compression::kGzip
         : starts({0x28, 0xb5, 0x2f, 0xfd})         ? Compression::kZstd
         : starts({0xfd, '7', 'z', 'X', 'Z', 0x00}) ? Compression::kXz
                                                    : Compression::kNone;
}

Compression compression_of(const std::filesystem::path& path) {
  const std::string suffix = path.extension().string();
  return suffix == ".gz"    ? Compression::kGzip
         : suffix == ".zst" ? Compression::kZstd
         : suffix == ".xz"  ? Compression::kXz
                            : Compression::kNone;
}

}  // namespace

/// Compressed bytes in, text out.
class TextSource::Decoder {
 public:
  int descriptor = -1;

  Decoder() : input_(kChunk) {}
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
    if (compression_ == Compression::kGzip) {
      inflateEnd(&gzip_);
    }
    ZSTD_freeDStream(zstd_);
    lzma_end(&xz_);
  }

  /// Reads the file's begin and prepares for its compression.
  bool start() {
    if (!refill()) {
      return false;
    }
    compression_ = compression_of(std::span(input_).first(left_));
    switch (compression_) {
      case Compression::kNone:
        return true;
      case Compression::kGzip: {
        constexpr int kGzipWindow = 15 + 16;
        return inflateInit2(&gzip_, kGzipWindow) == Z_OK;
      }
      case Compression::kZstd:
        zstd_ = ZSTD_createDStream();
        return zstd_ != nullptr && ZSTD_isError(ZSTD_initDStream(zstd_)) == 0;
      case Compression::kXz:
        return lzma_stream_decoder(&xz_, kMostDecoderMemory, LZMA_CONCATENATED) == LZMA_OK;
    }
    return false;
  }

  /// Appends some text; false at the end or after an error.
  bool decode(std::string& out) {
    while (problem.empty()) {
      if (left_ == 0 && !at_end_ && !refill()) {
        return false;
      }
      if (left_ == 0 && at_end_ && (compression_ != Compression::kXz || xz_done_)) {
        if (inside_frame_) {
          problem = "the compressed file is cut";
        }
        return false;
      }
      const std::size_t before = out.size();
      out.resize(before + kChunk);
      const std::size_t made = decode_some(reinterpret_cast<std::uint8_t*>(out.data() + before));
      out.resize(before + made);
      if (made != 0) {
        return true;
      }
    }
    return false;
  }

  std::string problem;

 private:
  bool refill() {
    for (;;) {
      const ssize_t got = ::read(descriptor, input_.data(), input_.size());
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        problem = std::strerror(errno);
        return false;
      }
      next_ = 0;
      left_ = static_cast<std::size_t>(got);
      at_end_ = got == 0;
      return true;
    }
  }

  void took(std::size_t bytes) {
    next_ += bytes;
    left_ -= bytes;
  }

  std::size_t decode_some(std::uint8_t* out) {
    switch (compression_) {
      case Compression::kNone: {
        const std::size_t count = std::min(left_, kChunk);
        std::memcpy(out, input_.data() + next_, count);
        took(count);
        return count;
      }
      case Compression::kGzip:
        return decode_gzip(out);
      case Compression::kZstd:
        return decode_zstd(out);
      case Compression::kXz:
        return decode_xz(out);
    }
    return 0;
  }

  std::size_t decode_gzip(std::uint8_t* out) {
    gzip_.next_in = input_.data() + next_;
    gzip_.avail_in = static_cast<uInt>(left_);
    gzip_.next_out = out;
    gzip_.avail_out = kChunk;
    inside_frame_ = true;
    const int state = inflate(&gzip_, Z_NO_FLUSH);
    took(left_ - gzip_.avail_in);
    if (state == Z_STREAM_END) {
      inside_frame_ = false;
      inflateReset(&gzip_);  // another member may follow
    } else if (state != Z_OK && state != Z_BUF_ERROR) {
      problem = "the compressed file is damaged";
    }
    return kChunk - gzip_.avail_out;
  }

  std::size_t decode_zstd(std::uint8_t* out) {
    ZSTD_inBuffer in{input_.data() + next_, left_, 0};
    ZSTD_outBuffer made{out, kChunk, 0};
    const std::size_t state = ZSTD_decompressStream(zstd_, &made, &in);
    took(in.pos);
    inside_frame_ = state != 0;
    if (ZSTD_isError(state) != 0) {
      problem = fmt::format("the compressed file is damaged ({})", ZSTD_getErrorName(state));
    }
    return made.pos;
  }

  std::size_t decode_xz(std::uint8_t* out) {
    xz_.next_in = input_.data() + next_;
    xz_.avail_in = left_;
    xz_.next_out = out;
    xz_.avail_out = kChunk;
    const lzma_ret state = lzma_code(&xz_, at_end_ ? LZMA_FINISH : LZMA_RUN);
    took(left_ - xz_.avail_in);
    if (state == LZMA_STREAM_END) {
      xz_done_ = true;
    } else if (state != LZMA_OK) {
      problem = state == LZMA_BUF_ERROR ? "the compressed file is cut" : "the compressed file is damaged";
    }
    return kChunk - xz_.avail_out;
  }

  std::vector<std::uint8_t> input_;
  std::size_t next_ = 0, left_ = 0;
  bool at_end_ = false;
  Compression compression_ = Compression::kNone;
  z_stream gzip_{};
  ZSTD_DStream* zstd_ = nullptr;
  lzma_stream xz_ = LZMA_STREAM_INIT;
  bool inside_frame_ = false;
  bool xz_done_ = false;
};

TextSource::TextSource() = default;
TextSource::~TextSource() = default;

Result<std::unique_ptr<TextSource>> TextSource::open(const std::filesystem::path& path) {
  std::unique_ptr<TextSource> source(new TextSource);
  source->name_ = path.string();
  source->decoder_ = std::make_unique<Decoder>();
  source->decoder_->descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (source->decoder_->descriptor < 0 || !source->decoder_->start()) {
    return cannot("read", path, ErrorKind::kUsage);
  }
  return source;
}

std::unique_ptr<TextSource> TextSource::of(std::string_view text, std::string name) {
  std::unique_ptr<TextSource> source(new TextSource);
  source->name_ = std::move(name);
  source->buffer_ = text;
  source->ended_ = true;
  return source;
}

Result<std::string> TextSource::read_all(const std::filesystem::path& path, std::size_t most) {
  auto source = open(path);
  if (!source) {
    return tl::unexpected<Error>(source.error());
  }
  while ((*source)->buffer_.size() <= most && (*source)->fill()) {
  }
  if (!(*source)->error_.message.empty()) {
    return tl::unexpected<Error>((*source)->error_);
  }
  if ((*source)->buffer_.size() > most) {
    return fail(ErrorKind::kUsage, fmt::format("{} holds more than {} MiB", path.string(), most >> 20),
                "Pass another file.");
  }
  return std::move((*source)->buffer_);
}

Error TextSource::wrong(const std::string& what, const std::string& remedy) const {
  return {ErrorKind::kUsage, what, remedy, fmt::format("{}:{}", name_, number_)};
}

bool TextSource::fill() {
  if (ended_) {
    return false;
  }
  buffer_.erase(0, at_);
  at_ = 0;
  if (!decoder_->decode(buffer_)) {
    ended_ = true;
    if (!decoder_->problem.empty()) {
      error_ = wrong(decoder_->problem, "Copy or make the file again.");
    }
    return false;
  }
  return true;
}

bool TextSource::line(std::string_view& out) {
  if (!error_.message.empty()) {
    return false;
  }
  std::size_t searched = at_;
  std::size_t end = 0;
  while ((end = buffer_.find('\n', searched)) == std::string::npos) {
    const std::size_t pending = buffer_.size() - at_;
    if (pending > kLongestLine) {
      ++number_;
      error_ = wrong("a line has more than 1 MiB", "Pass a text trace.");
      return false;
    }
    if (!fill()) {
      if (!error_.message.empty() || pending == 0) {
        return false;
      }
      end = buffer_.size();
      break;
    }
    searched = pending;
  }
  ++number_;
  out = std::string_view(buffer_).substr(at_, end - at_);
  if (out.ends_with('\r')) {
    out.remove_suffix(1);
  }
  at_ = std::min(end + 1, buffer_.size());
  return true;
}

/// Text in, compressed bytes out to the file.
class TextSink::Encoder {
 public:
  Encoder(std::filesystem::path partial, Compression compression)
      : partial_(std::move(partial)), compression_(compression), output_(kChunk) {}
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() {
    if (compression_ == Compression::kGzip) {
      deflateEnd(&gzip_);
    }
    ZSTD_freeCStream(zstd_);
    lzma_end(&xz_);
    if (descriptor_ >= 0) {
      ::close(descriptor_);
      std::error_code ignored;
      std::filesystem::remove(partial_, ignored);
    }
  }

  bool start() {
    constexpr mode_t kMode = 0666;
    descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
    constexpr int kGzipWindow = 15 + 16;
    constexpr int kGzipMemory = 8;
    constexpr int kZstdLevel = 3;
    constexpr std::uint32_t kXzPreset = 1;  // the loops of a kernel repeat word by word: more effort gains little
    switch (compression_) {
      case Compression::kNone:
        break;
      case Compression::kGzip:
        if (deflateInit2(&gzip_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kGzipMemory, Z_DEFAULT_STRATEGY) !=
            Z_OK) {
          return false;
        }
        break;
      case Compression::kZstd:
        zstd_ = ZSTD_createCStream();
        if (zstd_ == nullptr || ZSTD_isError(ZSTD_initCStream(zstd_, kZstdLevel)) != 0) {
          return false;
        }
        break;
      case Compression::kXz:
        if (lzma_easy_encoder(&xz_, kXzPreset, LZMA_CHECK_CRC64) != LZMA_OK) {
          return false;
        }
        break;
    }
    return descriptor_ >= 0;
  }

  bool write(std::string_view text, bool last) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(text.data());
    switch (compression_) {
      case Compression::kNone:
        return append(data, text.size());
      case Compression::kGzip:
        gzip_.next_in = const_cast<std::uint8_t*>(data);
        gzip_.avail_in = static_cast<uInt>(text.size());
        do {
          gzip_.next_out = output_.data();
          gzip_.avail_out = kChunk;
          if (deflate(&gzip_, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR ||
              !append(output_.data(), kChunk - gzip_.avail_out)) {
            return false;
          }
        } while (gzip_.avail_out == 0);
        return true;
      case Compression::kZstd:
        return write_zstd(data, text.size(), last);
      case Compression::kXz:
        return write_xz(data, text.size(), last);
    }
    return false;
  }

  /// Gives the finished file its name.
  bool close(const std::filesystem::path& path) {
    std::error_code error;
    const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
    if (closed) {
      std::filesystem::rename(partial_, path, error);
    }
    return closed && !error;
  }

  std::uint64_t bytes = 0;

 private:
  bool append(const std::uint8_t* data, std::size_t count) {
    bytes += count;
    while (count > 0) {
      const ssize_t written = ::write(descriptor_, data, count);
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written <= 0) {
        return false;
      }
      data += written;
      count -= static_cast<std::size_t>(written);
    }
    return true;
  }

  bool write_zstd(const std::uint8_t* data, std::size_t count, bool last) {
    ZSTD_inBuffer in{data, count, 0};
    for (;;) {
      ZSTD_outBuffer made{output_.data(), kChunk, 0};
      const std::size_t left = ZSTD_compressStream2(zstd_, &made, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0 || !append(output_.data(), made.pos)) {
        return false;
      }
      if (in.pos == in.size && (!last || left == 0)) {
        return true;
      }
    }
  }

  bool write_xz(const std::uint8_t* data, std::size_t count, bool last) {
    xz_.next_in = data;
    xz_.avail_in = count;
    for (;;) {
      xz_.next_out = output_.data();
      xz_.avail_out = kChunk;
      const lzma_ret state = lzma_code(&xz_, last ? LZMA_FINISH : LZMA_RUN);
      if ((state != LZMA_OK && state != LZMA_STREAM_END) || !append(output_.data(), kChunk - xz_.avail_out)) {
        return false;
      }
      if (last ? state == LZMA_STREAM_END : xz_.avail_in == 0) {
        return true;
      }
    }
  }

  std::filesystem::path partial_;
  Compression compression_;
  std::vector<std::uint8_t> output_;
  int descriptor_ = -1;
  z_stream gzip_{};
  ZSTD_CStream* zstd_ = nullptr;
  lzma_stream xz_ = LZMA_STREAM_INIT;
};

TextSink::TextSink() = default;
TextSink::~TextSink() = default;

Result<std::unique_ptr<TextSink>> TextSink::create(const std::filesystem::path& path) {
  if (auto valid = check_output_path(path); !valid) {
    return tl::unexpected<Error>(valid.error());
  }
  std::unique_ptr<TextSink> sink(new TextSink);
  sink->path_ = path;
  sink->encoder_ = std::make_unique<Encoder>(path.string() + ".partial", compression_of(path));
  if (!sink->encoder_->start()) {
    return cannot("write", path, ErrorKind::kUsage);
  }
  return sink;
}

std::uint64_t TextSink::file_bytes() const { return encoder_->bytes; }

Result<void> TextSink::write(std::string_view text) {
  text_bytes_ += text.size();
  return encoder_->write(text, false) ? Result<void>{} : cannot("write", path_, ErrorKind::kFailed);
}

Result<void> TextSink::finish() {
  return encoder_->write({}, true) && encoder_->close(path_) ? Result<void>{}
                                                             : cannot("write", path_, ErrorKind::kFailed);
}

}  // namespace tilesim::traces
