// The question "how far are predictions off": recorded kernels simulated and held against what was measured.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/gpu_spec.h"
#include "model/result.h"
#include "tools/lib/counters.h"
#include "tools/lib/kernel_run.h"
#include "tools/lib/prepared_kernel.h"
#include "traces/recorded/recording.h"

namespace tilesim::app {

/// What a prediction is made from.
enum class CodeKind {
  kEstimated,  ///< generated for the tile configuration, as `tilesim run` does
  kCompiled,   ///< the recorded machine code, as `tilesim replay` does
};
[[nodiscard]] const char* to_string(CodeKind kind);
[[nodiscard]] const char* to_string(traces::Part part);

using Shape = std::array<std::int64_t, 3>;  ///< M, N, K

/// Which runs are simulated, and how.
struct ValidationRequest {
  std::vector<CodeKind> codes{CodeKind::kEstimated, CodeKind::kCompiled};
  std::vector<Shape> shapes;          ///< empty = all
  std::vector<std::string> families;  ///< empty = all
  std::vector<std::string> dtypes;    ///< empty = all
  std::optional<traces::Part> part;   ///< none = both
  /// Names with * and ?; whoever asks for kernels by name sees the development part alone. Empty = all.
  std::string only;
  /// Names of the locked kernels, where the recordings are not a set of their own; none = as traces::split() says.
  std::optional<std::set<std::string>> locked;
  std::optional<double> clock_mhz;  ///< none = each run's own
  Effort effort;                    ///< `threads` runs are simulated at a time, one thread each
  /// Told after each simulation how many are done of how many; from one thread at a time. May be empty.
  std::function<void(std::size_t, std::size_t)> progress;
};

/// One run of one recording, predicted from one kind of code.
struct ValidationRow {
  std::string name;
  std::string family;
  std::string dtype;
  std::string form;  ///< as traces::form_of() says
  Shape shape{};
  std::int64_t split_k = 1;
  traces::Part part = traces::Part::kDevelopment;
  CodeKind code = CodeKind::kCompiled;
  double clock_mhz = 0.0;
  Counters measured;
  Counters spread;               ///< of the measured ones, relative
  Counters predicted;            ///< empty if it could not be simulated
  std::optional<Error> failure;  ///< why not
};

/// Name of the event median with flushed caches among the counters, in ns.
inline constexpr const char* kEventFlushed = "tilesim__event_median_flushed.ns";

/// A recorded run as it is simulated from one kind of code. Errors: no generator or no code for it, code that is
/// missing or not the one that was measured, prepare_tile()'s and prepare_replay()'s.
[[nodiscard]] Result<PreparedKernel> prepare_run(const model::GpuSpec& gpu, const traces::Recording& recording,
                                                 const traces::RecordedRun& run, CodeKind code);

/// Simulates what was asked, in the order of the recordings; the result does not depend on the number of threads. The
/// parts are those of the whole of `recordings`, whatever is chosen of it. A run that cannot be simulated is a row with
/// `failure`. Errors (kUsage): nothing is left to simulate.
[[nodiscard]] Result<std::vector<ValidationRow>> validate(const model::GpuSpec& gpu,
                                                          const std::vector<traces::Recording>& recordings,
                                                          const ValidationRequest& request);

}  // namespace tilesim::app
