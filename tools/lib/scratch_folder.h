// A place for temporary files.
#pragma once

#include <filesystem>
#include <system_error>
#include <utility>

#include "model/result.h"

namespace tilesim::app {

/// A folder that is removed with all that is in it.
class ScratchFolder {
 public:
  /// In $TMPDIR, else /tmp. Errors (kUsage): none can be made there.
  [[nodiscard]] static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) {
      std::filesystem::remove_all(path_, ignored);
    }
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace tilesim::app
