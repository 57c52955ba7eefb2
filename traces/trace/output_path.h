// Where a trace may be written: it is written beside its place and put there when it is whole, which must not replace
// a device, a pipe or a folder.
#pragma once

#include <fmt/format.h>

#include <filesystem>

#include "model/result.h"

namespace tilesim::traces {

/// Errors (kUsage): something is there that is no regular file.
[[nodiscard]] inline Result<void> check_output_path(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return fail(ErrorKind::kUsage, fmt::format("{} is no regular file", path.string()),
                "Name a file to create or to replace.");
  }
  return {};
}

}  // namespace tilesim::traces
