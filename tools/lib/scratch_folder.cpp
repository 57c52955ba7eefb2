#include "tools/lib/scratch_folder.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

namespace tilesim::app {

Result<ScratchFolder> ScratchFolder::make() {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "tilesim-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    const char* folder = std::getenv("TMPDIR");
    return fail(ErrorKind::kUsage,
                fmt::format("no folder for temporary files can be made{}",
                            folder != nullptr ? fmt::format(" in TMPDIR={}", folder) : std::string()),
                "set TMPDIR to a folder that can be written");
  }
  return ScratchFolder(pattern);
}

}  // namespace tilesim::app
