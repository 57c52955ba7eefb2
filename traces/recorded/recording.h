// Recordings: what one kernel of kernels/ did on a GPU, with its machine code beside it. README.md has the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/result.h"
#include "model/tile_config.h"
#include "sim/isa/stream.h"

namespace tilesim::traces {

/// A counter: the median of its repeats in Nsight Compute's base unit.
struct RecordedMetric {
  double value = 0.0;
  std::string unit;
  double spread = 0.0;  ///< (largest - smallest) / median of the repeats
  int repeats = 1;
};

/// One compiled form of the kernel.
struct RecordedCode {
  std::filesystem::path file;  ///< cubin, maybe compressed, or listing
  std::string sha256;          ///< of the file without its compression, lower case
  int registers = 0;           ///< per thread
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
};

struct RecordedRun {
  model::Problem problem;  ///< with the types that the kernel stores
  std::string code;        ///< key into Recording::codes
  isa::Dim3 grid;
  isa::Dim3 block;
  std::int64_t shared_bytes = 0;  ///< static plus dynamic
  std::string arguments;          ///< as parse_arguments() takes them
  std::map<std::string, RecordedMetric> metrics;
  std::optional<double> flushed_us;  ///< event medians
  std::optional<double> warm_us;
};

struct Recording {
  std::filesystem::path path;
  std::string gpu;
  double sm_mhz = 0.0;  ///< clock that the card was found at
  std::string name;
  std::string symbol;
  std::string family;  ///< as the kernels call it; may be one that no tile configuration has
  std::string dtype;
  std::optional<model::TileConfig> configuration;  ///< none for families that `run` does not know
  std::map<std::string, RecordedCode> codes;
  std::vector<RecordedRun> runs;

  /// SM clock of a run in MHz: cycles over time where both were counted, else the card's.
  [[nodiscard]] double clock_mhz(const RecordedRun& run) const;
};

/// Reads one file. Errors (kUsage) name file and key: not JSON, of another kind or version, a key that is missing, of
/// the wrong type or out of range, a run whose code is not there.
[[nodiscard]] Result<Recording> read_recording(const std::filesystem::path& path);

/// The same from text; `path` is for messages and for where code files lie.
[[nodiscard]] Result<Recording> parse_recording(const std::string& text, const std::filesystem::path& path);

/// All *.json of a folder in the order of their names. Errors: a file's, two recordings of one name, no recording, a
/// folder that cannot be read.
[[nodiscard]] Result<std::vector<Recording>> read_recordings(const std::filesystem::path& folder);

/// Errors (kUsage): a code file that is missing or not the one that was measured.
[[nodiscard]] Result<void> check_code(const RecordedCode& code);

/// Development is studied kernel by kernel; locked is only scored as a whole.
enum class Part { kDevelopment, kLocked };

inline constexpr const char* kDirectForm = "direct";
/// What a kernel of the SIMT family does otherwise than the first that were recorded: kDirectForm (no shared memory),
/// "warp tiles", else empty. Other families have one form.
[[nodiscard]] std::string form_of(const Recording& recording);

/// The part of each recording: of every family, data type and form, in the order of the SHA-256 of the names, each
/// third one is locked. Kernels of a form of their own leave the parts of the others as they are.
[[nodiscard]] std::vector<Part> split(const std::vector<Recording>& recordings);

}  // namespace tilesim::traces
