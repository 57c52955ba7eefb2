// Lines of text files, plain or compressed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "model/result.h"

namespace tilesim::traces {

/// Compression by what the file begins with (reading) or what its name ends with (writing): gzip (.gz), zstd (.zst),
/// xz (.xz), or none.
class TextSource {
 public:
  /// Errors (kUsage): a path that cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<TextSource>> open(const std::filesystem::path& path);
  /// Text in memory; `name` is used in messages only.
  [[nodiscard]] static std::unique_ptr<TextSource> of(std::string_view text, std::string name);
  /// The whole content of a file, whatever it holds. Errors as open() and line(); more than `most` bytes.
  [[nodiscard]] static Result<std::string> read_all(const std::filesystem::path& path, std::size_t most);
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;
  ~TextSource();

  /// The next line without its end; false at the end of the file and after an error. Memory: the longest line.
  [[nodiscard]] bool line(std::string_view& out);
  /// Of the line read last, from 1 on.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// What went wrong; an empty message if nothing did. Damage of compressed files (kUsage), lines over 1 MiB.
  [[nodiscard]] const Error& error() const { return error_; }
  /// An error at the line read last.
  [[nodiscard]] Error wrong(const std::string& what, const std::string& remedy) const;

 private:
  class Decoder;
  TextSource();
  bool fill();

  std::string name_;
  std::unique_ptr<Decoder> decoder_;
  std::string buffer_;
  std::size_t at_ = 0;
  bool ended_ = false;
  std::uint64_t number_ = 0;
  Error error_;
};

/// Writes text, compressed as the name says; the file appears under its name when it is complete.
class TextSink {
 public:
  /// Errors (kUsage): a path that cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<TextSink>> create(const std::filesystem::path& path);
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;
  ~TextSink();

  /// Errors (kFailed): the disk is full or the like.
  [[nodiscard]] Result<void> write(std::string_view text);
  [[nodiscard]] Result<void> finish();
  /// Bytes of text, before compression, and of the file so far.
  [[nodiscard]] std::uint64_t text_bytes() const { return text_bytes_; }
  [[nodiscard]] std::uint64_t file_bytes() const;

 private:
  class Encoder;
  TextSink();

  std::unique_ptr<Encoder> encoder_;
  std::filesystem::path path_;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace tilesim::traces
