#include "tools/lib/trace_convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "sim/isa/barrier_call.h"
#include "tools/lib/trace_open.h"
#include "tools/lib/trace_source.h"
#include "traces/trace/accelsim_export.h"
#include "traces/trace/accelsim_import.h"

namespace tilesim::app {

namespace {

bool is_accelsim_name(std::filesystem::path path) {
  const std::string suffix = path.extension().string();
  if (suffix == ".gz" || suffix == ".xz" || suffix == ".zst") {
    path = path.stem();
  }
  return path.extension() == ".traceg";
}

isa::Dim3 place_in(const isa::Dim3& grid, std::uint64_t id) {
  return {static_cast<std::uint32_t>(id % grid.x), static_cast<std::uint32_t>(id / grid.x % grid.y),
          static_cast<std::uint32_t>(id / grid.x / grid.y)};
}

Result<Recording> write_text(const std::shared_ptr<const traces::TraceFile>& trace, const std::string& to,
                             const std::vector<std::uint64_t>& ctas,
                             const std::function<Result<void>(const RecordingEstimate&)>& announce) {
  if (trace->launch().code == "estimated") {
    return fail(ErrorKind::kUsage, "the trace is of generated code, whose instructions name no registers",
                "convert the trace of a compiled kernel", trace->file().name());
  }
  const auto& code = trace->program().instructions;
  if (std::any_of(code.begin(), code.end(), isa::is_partial_barrier)) {
    return fail(ErrorKind::kUsage, "the kernel has barriers of a part of the CTA; Accel-Sim's text cannot name them",
                "keep the trace in TileSim's own format", trace->file().name());
  }
  Recording recording{to, ctas.size(), 0, 0};
  for (const std::uint64_t cta : ctas) {
    recording.instructions += trace->ctas()[static_cast<std::size_t>(cta)].instructions;
  }
  RecordingEstimate estimate;
  estimate.ctas = ctas.size();
  estimate.grid_ctas = trace->launch().grid.count();
  estimate.instructions = recording.instructions;
  estimate.bytes = static_cast<std::uint64_t>(kTextBytesPerInstruction * static_cast<double>(recording.instructions));
  const bool plain = std::filesystem::path(to).extension() == ".traceg";
  if (plain) {
    if (auto room = check_room(estimate, to); !room) {
      return tl::unexpected<Error>(room.error());
    }
  }
  if (auto done = announce(estimate); !done) {
    return tl::unexpected<Error>(done.error());
  }
  const auto sink = traces::TextSink::create(to);
  if (!sink) {
    return tl::unexpected<Error>(sink.error());
  }
  if (auto done = (*sink)->write(traces::accelsim_header(trace->program(), trace->launch())); !done) {
    return tl::unexpected<Error>(done.error());
  }
  const traces::TraceKernel kernel(trace);
  for (const std::uint64_t cta : ctas) {
    const std::uint64_t id = trace->ctas()[static_cast<std::size_t>(cta)].id;
    if (auto done = traces::export_cta(kernel, cta, place_in(trace->launch().grid, id), **sink); !done) {
      return tl::unexpected<Error>(done.error());
    }
  }
  if (auto done = (*sink)->finish(); !done) {
    return tl::unexpected<Error>(done.error());
  }
  recording.bytes = (*sink)->file_bytes();
  return recording;
}

}  // namespace

bool is_command_list(const std::string& path) { return std::filesystem::path(path).extension() == ".g"; }

namespace {

/// The file of a name in the list; empty if there is none.
std::filesystem::path existing(const std::filesystem::path& path) {
  for (const char* suffix : {"", ".xz", ".gz", ".zst"}) {
    std::filesystem::path candidate = path.string() + suffix;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(candidate, ignored)) {
      return candidate;
    }
  }
  return {};
}

/// Nothing if the trace is empty.
Result<std::optional<Recording>> import_one(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::string_view line;
  const auto probe = traces::TextSource::open(from);
  if (probe && !(*probe)->line(line) && (*probe)->error().message.empty()) {
    return std::optional<Recording>();
  }
  const auto text = traces::TextSource::open(from);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  const auto imported = traces::import_accelsim(**text, to);
  if (!imported) {
    return tl::unexpected<Error>(imported.error());
  }
  std::error_code ignored;
  return std::optional(
      Recording{to.string(), imported->ctas, imported->instructions, std::filesystem::file_size(to, ignored)});
}

}  // namespace

Result<std::vector<Recording>> convert_list(const std::string& list, const std::string& folder,
                                            const std::function<void(const std::string&)>& warn) {
  const auto lines = traces::TextSource::open(list);
  if (!lines) {
    return tl::unexpected<Error>(lines.error());
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return fail(ErrorKind::kUsage, fmt::format("cannot make the folder {}: {}", folder, error.message()),
                "name a folder that can be written");
  }
  std::vector<Recording> recordings;
  std::string_view line;
  while ((*lines)->line(line)) {
    if (!line.starts_with("kernel")) {
      continue;
    }
    const std::filesystem::path named = std::filesystem::path(list).parent_path() / std::string(line);
    const std::filesystem::path from = existing(named);
    if (from.empty()) {
      return tl::unexpected<Error>((*lines)->wrong(fmt::format("the trace {} does not exist", named.string()),
                                                   "Copy it beside the list, or remove its line."));
    }
    const auto imported = import_one(from, std::filesystem::path(folder) / (named.stem().string() + ".tst"));
    if (!imported) {
      return tl::unexpected<Error>(imported.error());
    }
    if (*imported) {
      recordings.push_back(**imported);
    } else {
      warn(fmt::format("warning: {} is empty: left out\n", from.string()));
    }
  }
  if (!(*lines)->error().message.empty()) {
    return tl::unexpected<Error>((*lines)->error());
  }
  if (recordings.empty()) {
    return fail(ErrorKind::kUsage, "the list names no kernel with a trace", "pass Accel-Sim's kernelslist.g", list);
  }
  return recordings;
}

Result<Recording> convert_trace(const std::string& from, const std::string& to, const std::string& ctas,
                                const std::function<Result<void>(const RecordingEstimate&)>& announce) {
  const auto trace = open_trace(from);
  if (!trace) {
    return tl::unexpected<Error>(trace.error());
  }
  const auto chosen = parse_ctas(ctas, (*trace)->ctas().size());
  if (!chosen) {
    return tl::unexpected<Error>(chosen.error());
  }
  if (is_accelsim_name(to)) {
    return write_text(*trace, to, *chosen, announce);
  }
  return copy_trace(*trace, *chosen, to, announce);
}

}  // namespace tilesim::app
