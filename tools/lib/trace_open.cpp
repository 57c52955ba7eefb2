#include "tools/lib/trace_open.h"

#include "tools/lib/scratch_folder.h"
#include "traces/trace/accelsim_import.h"

namespace tilesim::app {

Result<std::shared_ptr<const traces::TraceFile>> open_trace(const std::string& path) {
  if (traces::is_trace_file(path)) {
    return traces::TraceFile::open(path);
  }
  const auto text = traces::TextSource::open(path);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  const auto scratch = ScratchFolder::make();
  if (!scratch) {
    return tl::unexpected<Error>(scratch.error());
  }
  const std::filesystem::path imported = scratch->path() / "imported.tst";
  if (const auto done = traces::import_accelsim(**text, imported); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return traces::TraceFile::open(imported);  // stays readable when the folder goes
}

TraceOnDisk trace_on_disk(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return {path, error ? 0 : bytes, !traces::is_trace_file(path)};
}

}  // namespace tilesim::app
