#include "tools/lib/recorded_set.h"

#include <cstdlib>
#include <system_error>

namespace tilesim::app {

namespace {

bool holds_recordings(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".json") {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<std::filesystem::path> shipped_recordings() {
  if (const char* named = std::getenv("TILESIM_RECORDED"); named != nullptr) {
    return std::filesystem::path(named);
  }
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const std::filesystem::path& folder :
       {program.parent_path().parent_path() / TILESIM_DATA_FOLDER / "tilesim" / "recorded" / "h200",
        std::filesystem::path(TILESIM_SOURCE_RECORDED_FOLDER)}) {
    if (holds_recordings(folder)) {
      return folder;
    }
  }
  return fail(ErrorKind::kAbsent, "the recorded set is not there, neither installed nor in the source tree",
              "pass --recorded DIR, or set TILESIM_RECORDED to traces/recorded/h200 of a source tree");
}

}  // namespace tilesim::app
