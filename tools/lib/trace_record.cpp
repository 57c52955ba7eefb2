#include "tools/lib/trace_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <limits>
#include <numeric>

#include "traces/trace/recorder.h"
#include "traces/trace/trace_kernel.h"
#include "traces/trace/trace_writer.h"

namespace tilesim::app {

namespace {

/// CTAs that are recorded before the size is estimated.
constexpr std::size_t kMeasuredCtas = 4;

Result<std::uint64_t> one_number(std::string_view text, const std::string& what, std::uint64_t limit,
                                 const std::string& of) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return fail(ErrorKind::kUsage, what + " is no list of numbers", "for example 0-15,100");
  }
  if (value >= limit) {
    return fail(ErrorKind::kUsage, fmt::format("{}: {} is not among {}", what, value, of),
                fmt::format("they are 0 to {}", limit - 1));
  }
  return value;
}

std::uint64_t free_bytes(const std::string& file) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(file, error).parent_path();
  const auto space = std::filesystem::space(folder, error);
  return error ? std::numeric_limits<std::uint64_t>::max() : space.available;
}

/// What is measured on the first CTAs holds for all: they have the same code, at other addresses.
RecordingEstimate estimate_of(const traces::TraceWriter& writer, std::uint64_t measured, std::uint64_t ctas,
                              double seconds) {
  const auto scaled = [&](std::uint64_t value) {
    return static_cast<std::uint64_t>(static_cast<double>(value) * static_cast<double>(ctas) /
                                      static_cast<double>(measured));
  };
  RecordingEstimate estimate;
  estimate.ctas = ctas;
  estimate.instructions = scaled(writer.instructions());
  estimate.bytes = scaled(writer.bytes());
  estimate.seconds = seconds * static_cast<double>(ctas) / static_cast<double>(measured);
  return estimate;
}

}  // namespace

Result<void> check_room(const RecordingEstimate& estimate, const std::string& file) {
  const std::uint64_t room = free_bytes(file);
  if (estimate.bytes <= room) {
    return {};
  }
  return fail(ErrorKind::kFailed,
              fmt::format("the trace needs about {} bytes, its disk has {} left", estimate.bytes, room),
              "choose another place, or fewer CTAs with --ctas");
}

Result<std::vector<std::uint64_t>> parse_numbers(const std::string& flag, const std::string& text, std::uint64_t limit,
                                                 const std::string& of) {
  const std::string what = fmt::format("--{} {}", flag, text);
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view item = std::string_view(text).substr(at, comma - at);
    const std::size_t dash = item.find('-');
    const auto first = one_number(item.substr(0, dash), what, limit, of);
    const auto last = dash == std::string_view::npos ? first : one_number(item.substr(dash + 1), what, limit, of);
    if (!first || !last) {
      return tl::unexpected<Error>(first ? last.error() : first.error());
    }
    if (*last < *first || (!numbers.empty() && *first <= numbers.back())) {
      return fail(ErrorKind::kUsage, what + ": the numbers do not grow", "name each once, in rising order");
    }
    for (std::uint64_t number = *first; number <= *last; ++number) {
      numbers.push_back(number);
    }
    at = comma + 1;
  }
  return numbers;
}

Result<std::vector<std::uint64_t>> parse_ctas(const std::string& text, std::uint64_t ctas) {
  if (!text.empty()) {
    return parse_numbers("ctas", text, ctas, "the CTAs");
  }
  std::vector<std::uint64_t> all(static_cast<std::size_t>(ctas));
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

namespace {

struct Task {
  const isa::KernelStream& kernel;
  const std::vector<std::uint64_t>& opened;  ///< as the stream numbers them
  const std::vector<std::uint64_t>& ids;     ///< as the trace numbers them
  const traces::LaunchRecord& launch;
  const std::string& file;
  const std::function<Result<void>(const RecordingEstimate&)>& announce;
};

Result<void> record_in_turn(const Task& task, traces::TraceWriter& writer,
                            const std::function<Result<void>(std::size_t)>& after) {
  for (std::size_t i = 0; i < task.opened.size(); ++i) {
    auto done = traces::record_cta(task.kernel, task.opened[i], task.ids[i], writer);
    done = done ? after(i + 1) : done;
    if (!done) {
      return done;
    }
  }
  return {};
}

Result<Recording> write_ctas(const Task& task) {
  auto writer = traces::TraceWriter::create(task.file);
  if (!writer) {
    return tl::unexpected<Error>(writer.error());
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::function<Result<void>(std::size_t)> announce = [&](std::size_t ended) -> Result<void> {
    if (ended != kMeasuredCtas || ended == task.opened.size()) {
      return {};
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    RecordingEstimate estimate = estimate_of(*writer, ended, task.opened.size(), passed.count());
    estimate.grid_ctas = task.launch.grid.count();
    const auto room = check_room(estimate, task.file);
    return room ? task.announce(estimate) : room;
  };
  const auto done = task.kernel.ordered()
                        ? traces::record_together(task.kernel, task.opened, task.ids, *writer, announce)
                        : record_in_turn(task, *writer, announce);
  if (!done) {
    return tl::unexpected<Error>(done.error());
  }
  Recording recording{task.file, task.opened.size(), writer->instructions(), 0};
  traces::LaunchRecord launch = task.launch;
  if (task.kernel.ordered()) {
    launch.notes.push_back(fmt::format(
        "what warps do depends on what others store: "
        "the trace holds what they did when CTAs ran one after the other, or side by side while they waited "
        "({} instructions of waiting loops left out); a replay of it does not wait",
        writer->left_out()));
  }
  if (const auto finished = writer->finish(task.kernel.program(), launch); !finished) {
    return tl::unexpected<Error>(finished.error());
  }
  recording.bytes = writer->bytes();
  return recording;
}

}  // namespace

Result<Recording> record_trace(const KernelSource& source, traces::LaunchRecord launch,
                               const std::vector<std::uint64_t>& ctas, const std::string& file,
                               const std::function<Result<void>(const RecordingEstimate&)>& announce) {
  const auto kernel = source.open(0);
  if (!kernel) {
    return tl::unexpected<Error>(kernel.error());
  }
  launch.grid = source.grid();
  launch.block = source.block();
  launch.math = source.math();
  launch.loop_branch = source.loop_branch();
  launch.loop_trips = launch.loop_branch ? source.loop_trips() : 0;
  return write_ctas({**kernel, ctas, ctas, launch, file, announce});
}

Result<Recording> copy_trace(const std::shared_ptr<const traces::TraceFile>& trace,
                             const std::vector<std::uint64_t>& positions, const std::string& file,
                             const std::function<Result<void>(const RecordingEstimate&)>& announce) {
  const traces::TraceKernel kernel(trace);
  std::vector<std::uint64_t> ids;
  ids.reserve(positions.size());
  for (const std::uint64_t position : positions) {
    ids.push_back(trace->ctas()[static_cast<std::size_t>(position)].id);
  }
  return write_ctas({kernel, positions, ids, trace->launch(), file, announce});
}

}  // namespace tilesim::app
