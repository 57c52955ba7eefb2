#include "tools/lib/validation.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <mutex>
#include <thread>

namespace tilesim::app {

namespace {

constexpr double kNsPerUs = 1000.0;

/// One simulation to do.
struct Task {
  const traces::Recording* recording = nullptr;
  const traces::RecordedRun* run = nullptr;
};

template <class T>
bool wanted(const std::vector<T>& chosen, const T& value) {
  return chosen.empty() || std::find(chosen.begin(), chosen.end(), value) != chosen.end();
}

/// True if the pattern, where there is one, lets the recording in.
bool named(const std::string& pattern, const std::string& name, traces::Part part) {
  return pattern.empty() || (part == traces::Part::kDevelopment && ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0);
}

/// Error (kUsage): a shape of which nothing was recorded, with those that were.
Result<void> check_shapes(const std::vector<traces::Recording>& recordings, const std::vector<Shape>& shapes) {
  std::set<Shape> known;
  for (const traces::Recording& recording : recordings) {
    for (const traces::RecordedRun& run : recording.runs) {
      known.insert(Shape{run.problem.m, run.problem.n, run.problem.k});
    }
  }
  const auto text = [](const Shape& shape) { return fmt::format("{}x{}x{}", shape[0], shape[1], shape[2]); };
  for (const Shape& shape : shapes) {
    if (!known.contains(shape)) {
      std::vector<std::string> names;
      std::transform(known.begin(), known.end(), std::back_inserter(names), text);
      return fail(ErrorKind::kUsage, fmt::format("nothing was recorded at {}", text(shape)),
                  fmt::format("recorded are {}", fmt::join(names, ", ")));
    }
  }
  return {};
}

/// Error (kUsage): no kernel of the development part has such a name, with some that begin like it.
Result<void> check_names(const std::vector<traces::Recording>& recordings, const std::vector<traces::Part>& parts,
                         const std::string& pattern) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    if (pattern.empty() || named(pattern, recordings[i].name, parts[i])) {
      return {};
    }
    if (parts[i] == traces::Part::kDevelopment) {
      known.push_back(recordings[i].name);
    }
  }
  std::string head = pattern.substr(0, pattern.find_first_of("*?["));
  const auto unlike = [&head](const std::string& name) { return !name.starts_with(head); };
  while (!head.empty() && std::all_of(known.begin(), known.end(), unlike)) {
    head.pop_back();
  }
  std::erase_if(known, unlike);
  constexpr std::size_t kListed = 6;
  const std::size_t more = known.size() - std::min(kListed, known.size());
  known.resize(known.size() - more);
  return fail(ErrorKind::kUsage, fmt::format("no kernel of the development part is called '{}'", pattern),
              known.empty() ? "the development part is empty"
                            : fmt::format("there {} {}{}", known.size() == 1 ? "is" : "are", fmt::join(known, ", "),
                                          more > 0 ? fmt::format(" and {} more like them", more) : ""));
}

std::vector<traces::Part> parts_of(const std::vector<traces::Recording>& recordings,
                                   const std::optional<std::set<std::string>>& locked) {
  if (!locked) {
    return traces::split(recordings);
  }
  std::vector<traces::Part> parts;
  parts.reserve(recordings.size());
  for (const traces::Recording& recording : recordings) {
    parts.push_back(locked->contains(recording.name) ? traces::Part::kLocked : traces::Part::kDevelopment);
  }
  return parts;
}

ValidationRow row_of(const traces::Recording& recording, const traces::RecordedRun& run, traces::Part part,
                     CodeKind code) {
  ValidationRow row;
  row.name = recording.name;
  row.family = recording.family;
  row.dtype = recording.dtype;
  row.form = traces::form_of(recording);
  row.shape = {run.problem.m, run.problem.n, run.problem.k};
  row.split_k = run.problem.split_k;
  row.part = part;
  row.code = code;
  for (const auto& [name, metric] : run.metrics) {
    row.measured[name] = metric.value;
    row.spread[name] = metric.spread;
  }
  if (run.flushed_us) {
    row.measured[kEventFlushed] = kNsPerUs * *run.flushed_us;
  }
  return row;
}

/// A listing by its name, compressed or not; else machine code.
CodeFormat format_of(std::filesystem::path file) {
  if (const std::string end = file.extension().string(); end == ".zst" || end == ".gz" || end == ".xz") {
    file.replace_extension();
  }
  return file.extension() == ".sass" ? CodeFormat::kListing : CodeFormat::kCubin;
}

Result<PreparedKernel> prepare_estimated(const model::GpuSpec& gpu, const traces::Recording& recording,
                                         const traces::RecordedRun& run) {
  if (!recording.configuration) {
    return fail(ErrorKind::kUsage, fmt::format("no code is generated for family {}", recording.family),
                "replay its recorded code");
  }
  RunRequest request;
  request.config = *recording.configuration;
  request.problem = run.problem;
  return prepare_tile(gpu, request);
}

/// The carve-out in KB: the driver chose it when the kernel was launched; nobody knows it before there is code.
Result<std::optional<int>> carveout_of(const traces::RecordedRun& run) {
  constexpr const char* kKey = "launch__shared_mem_config_size";
  const auto metric = run.metrics.find(kKey);
  if (metric == run.metrics.end()) {
    return std::nullopt;
  }
  const double bytes = metric->second.value;
  if (!(bytes >= 0.0 && bytes <= static_cast<double>(kMaxSharedBytes))) {
    return fail(ErrorKind::kUsage, fmt::format("{} is {:g} bytes, not within 0 and {}", kKey, bytes, kMaxSharedBytes),
                "correct the recording, or record the kernel again");
  }
  constexpr double kBytesPerKb = 1024.0;
  return static_cast<int>(bytes / kBytesPerKb);
}

Result<PreparedKernel> prepare_compiled(const model::GpuSpec& gpu, const traces::Recording& recording,
                                        const traces::RecordedRun& run) {
  const traces::RecordedCode& code = recording.codes.at(run.code);
  if (const auto same = traces::check_code(code); !same) {
    return tl::unexpected<Error>(same.error());
  }
  ReplayRequest request;
  request.file = code.file.string();
  request.format = format_of(code.file);
  request.kernel = recording.symbol;
  request.grid = run.grid;
  request.block = run.block;
  request.arguments = run.arguments;
  request.shared_bytes = run.shared_bytes;
  if (request.format == CodeFormat::kCubin) {
    request.shared_bytes -= code.static_shared_bytes;
  } else {
    request.registers = code.registers;
  }
  const auto carveout = carveout_of(run);
  if (!carveout) {
    return tl::unexpected<Error>(carveout.error());
  }
  request.carveout_kb = *carveout;
  return prepare_replay(gpu, request);
}

void simulate(const model::GpuSpec& gpu, const Task& task, const ValidationRequest& request, ValidationRow& row) {
  row.clock_mhz = request.clock_mhz.value_or(task.recording->clock_mhz(*task.run));
  const auto prepared = prepare_run(gpu, *task.recording, *task.run, row.code);
  if (!prepared) {
    row.failure = prepared.error();
    return;
  }
  Effort effort = request.effort;
  effort.threads = 1;
  const auto result = simulate_prepared(gpu, *prepared, row.clock_mhz, effort);
  if (!result) {
    row.failure = result.error();
    return;
  }
  row.predicted = predicted_counters(*result);
  // An event pair sees the kernel as the GPU's own timer does, but for the launch overheads of the stream.
  row.predicted[kEventFlushed] = row.predicted["gpu__time_duration.sum"];
}

/// Takes tasks from the front until none is left.
class Pool {
 public:
  Pool(const model::GpuSpec& gpu, const std::vector<Task>& tasks, const ValidationRequest& request,
       std::vector<ValidationRow>& rows)
      : gpu_(gpu), tasks_(tasks), request_(request), rows_(rows) {}

  void run() {
    const auto threads =
        std::min<std::size_t>(static_cast<std::size_t>(std::max(1, request_.effort.threads)), tasks_.size());
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) {
      others.emplace_back([this] { work(); });
    }
    work();
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < tasks_.size(); i = next_++) {
      try {
        simulate(gpu_, tasks_[i], request_, rows_[i]);
      } catch (const std::exception& error) {  // out of memory: the other runs go on
        rows_[i].failure = Error{ErrorKind::kFailed, error.what(), "use fewer threads", ""};
      }
      const std::lock_guard lock(mutex_);
      ++done_;
      if (request_.progress) {
        request_.progress(done_, tasks_.size());
      }
    }
  }

  const model::GpuSpec& gpu_;
  const std::vector<Task>& tasks_;
  const ValidationRequest& request_;
  std::vector<ValidationRow>& rows_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::size_t done_ = 0;
};

}  // namespace

const char* to_string(CodeKind kind) { return kind == CodeKind::kEstimated ? "estimated" : "compiled"; }

const char* to_string(traces::Part part) { return part == traces::Part::kDevelopment ? "development" : "locked"; }

Result<PreparedKernel> prepare_run(const model::GpuSpec& gpu, const traces::Recording& recording,
                                   const traces::RecordedRun& run, CodeKind code) {
  return code == CodeKind::kEstimated ? prepare_estimated(gpu, recording, run) : prepare_compiled(gpu, recording, run);
}

Result<std::vector<ValidationRow>> validate(const model::GpuSpec& gpu, const std::vector<traces::Recording>& recordings,
                                            const ValidationRequest& request) {
  const std::vector<traces::Part> parts = parts_of(recordings, request.locked);
  for (const Result<void>& done :
       {check_shapes(recordings, request.shapes), check_names(recordings, parts, request.only)}) {
    if (!done) {
      return tl::unexpected<Error>(done.error());
    }
  }
  std::vector<Task> tasks;
  std::vector<ValidationRow> rows;
  for (const CodeKind code : request.codes) {
    for (std::size_t i = 0; i < recordings.size(); ++i) {
      const traces::Recording& recording = recordings[i];
      if (!wanted(request.families, recording.family) || !wanted(request.dtypes, recording.dtype) ||
          (request.part && *request.part != parts[i]) || !named(request.only, recording.name, parts[i])) {
        continue;
      }
      for (const traces::RecordedRun& run : recording.runs) {
        if (wanted(request.shapes, Shape{run.problem.m, run.problem.n, run.problem.k})) {
          tasks.push_back({&recording, &run});
          rows.push_back(row_of(recording, run, parts[i], code));
        }
      }
    }
  }
  if (tasks.empty()) {
    return fail(ErrorKind::kUsage, "no recorded run has the family, type, shape, part and name that were asked for",
                "ask for others, or leave the choice out");
  }
  Pool(gpu, tasks, request, rows).run();
  return rows;
}

}  // namespace tilesim::app
