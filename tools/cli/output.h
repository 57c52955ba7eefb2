// Where results go. Paths are opened before any work is done, so that a typing error costs no simulation.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "model/result.h"

namespace tilesim::cli {

/// An output file, or stdout for "-".
class Output {
 public:
  /// Checks that `path` can be written, without changing a file that is there. Error (kUsage) names flag and path.
  [[nodiscard]] static Result<Output> open(const std::string& flag, const std::string& path);
  [[nodiscard]] static Output standard() { return Output("-"); }

  [[nodiscard]] bool is_standard() const { return path_ == "-"; }
  /// Replaces the content of the file, or appends to stdout. A reader that went away (EPIPE) is no error. Error
  /// (kFailed): the disk is full, or the like.
  [[nodiscard]] Result<void> write(std::string_view text) const;

 private:
  explicit Output(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace tilesim::cli
