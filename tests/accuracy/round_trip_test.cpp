// What rebuilding the code from Accel-Sim's text costs: the calibration kernels with their own control codes against
// the same launches with those that an import puts in their place. Prints one line per kernel.
#include <unistd.h>

#include <filesystem>

#include "model/gpu_spec.h"
#include "tests/accuracy/calibration_kernels.h"
#include "tests/accuracy/comparison.h"
#include "tools/lib/sass_source.h"
#include "traces/sass/decoder.h"
#include "traces/trace/accelsim_export.h"
#include "traces/trace/accelsim_import.h"
#include "traces/trace/trace_file.h"

using namespace tilesim;
using namespace tilesim::test;

namespace {

constexpr int kSize = 1024;

/// A launch that executes what `streams` does under the code of `program`.
class Replaced final : public isa::KernelStream {
 public:
  Replaced(std::unique_ptr<isa::KernelStream> streams, const isa::Program& program)
      : streams_(std::move(streams)), program_(program) {}
  [[nodiscard]] const isa::Program& program() const override { return program_; }
  [[nodiscard]] isa::Dim3 grid() const override { return streams_->grid(); }
  [[nodiscard]] isa::Dim3 block() const override { return streams_->block(); }
  [[nodiscard]] std::unique_ptr<isa::CtaStream> open(std::uint64_t id,
                                                     std::unique_ptr<isa::CtaStream> recycled) const override {
    return streams_->open(id, std::move(recycled));
  }

 private:
  std::unique_ptr<isa::KernelStream> streams_;
  const isa::Program& program_;
};

class ReplacedSource final : public app::KernelSource {
 public:
  ReplacedSource(const app::KernelSource& source, const isa::Program& program) : source_(source), program_(program) {}
  [[nodiscard]] const isa::Program& program() const override { return program_; }
  [[nodiscard]] isa::Dim3 grid() const override { return source_.grid(); }
  [[nodiscard]] isa::Dim3 block() const override { return source_.block(); }
  [[nodiscard]] model::DataType math() const override { return source_.math(); }
  [[nodiscard]] std::uint64_t loop_trips() const override { return source_.loop_trips(); }
  [[nodiscard]] std::optional<std::uint32_t> loop_branch() const override { return source_.loop_branch(); }
  [[nodiscard]] Result<std::unique_ptr<isa::KernelStream>> open(std::uint64_t length) const override {
    auto streams = source_.open(length);
    if (!streams) {
      return streams;
    }
    return std::unique_ptr<isa::KernelStream>(std::make_unique<Replaced>(std::move(*streams), program_));
  }

 private:
  const app::KernelSource& source_;
  const isa::Program& program_;
};

std::unique_ptr<app::SassSource> source_of(const CalibrationKernel& kernel) {
  const auto listing = traces::read_listing(fmt::format("{}/{}.sass", TILESIM_CALIBRATION_FOLDER, kernel.name));
  REQUIRE(listing.has_value());
  auto decoded = traces::decode_kernel(listing->kernels.front());
  REQUIRE(decoded.has_value());
  traces::LaunchParameters launch;
  launch.grid = {static_cast<std::uint32_t>(kSize / kernel.bn), static_cast<std::uint32_t>(kSize / kernel.bm), 1};
  launch.block = {static_cast<std::uint32_t>(kernel.threads), 1, 1};
  launch.shared_bytes = static_cast<std::uint64_t>(kernel.shared_bytes);
  launch.arguments =
      traces::parse_arguments(fmt::format("i32:{0},i32:{0},i32:{0},ptr:{1},ptr:{1},ptr:{2}", kSize,
                                          std::int64_t{kernel.element_bytes} * kSize * kSize, 4 * kSize * kSize))
          .value();
  auto source = app::SassSource::create(std::move(*decoded), std::move(launch));
  REQUIRE(source.has_value());
  return std::move(*source);
}

/// The code as an import of the text of the first CTA with some trips of its loop has it.
isa::Program through_text(const app::KernelSource& source) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("tilesim-round-trip-{}", getpid());
  std::filesystem::create_directories(folder);
  const std::string text = folder / "kernel-1.traceg";
  constexpr std::uint64_t kTrips = 8;
  const auto kernel = source.open(kTrips);
  REQUIRE(kernel.has_value());
  traces::LaunchRecord launch;
  launch.grid = source.grid();
  launch.block = source.block();
  auto sink = traces::TextSink::create(text);
  REQUIRE(sink.has_value());
  REQUIRE((*sink)->write(traces::accelsim_header(source.program(), launch)).has_value());
  REQUIRE(traces::export_cta(**kernel, 0, {0, 0, 0}, **sink).has_value());
  REQUIRE((*sink)->finish().has_value());
  auto lines = traces::TextSource::open(text);
  REQUIRE(lines.has_value());
  const auto imported = traces::import_accelsim(**lines, folder / "kernel.tst");
  INFO((imported ? "" : imported.error().message + " " + imported.error().where));
  REQUIRE(imported.has_value());
  const auto trace = traces::TraceFile::open(folder / "kernel.tst");
  REQUIRE(trace.has_value());
  std::filesystem::remove_all(folder);
  isa::Program program = (*trace)->program();
  program.instructions.resize(source.program().instructions.size());  // padding behind the last one executed
  program.text.resize(program.instructions.size());
  return program;
}

}  // namespace

TEST_CASE("kernels keep their cycles through Accel-Sim's text") {
  const auto gpu = model::find_gpu_spec("h200");
  REQUIRE(gpu.has_value());
  Errors errors;
  const auto compare = [&](const CalibrationKernel& kernel) {
    const auto source = source_of(kernel);
    const isa::Program rebuilt = through_text(*source);
    const double own = brief_cycles(*gpu, *source, kernel.registers, kernel.shared_bytes);
    const double cycles = brief_cycles(*gpu, ReplacedSource(*source, rebuilt), kernel.registers, kernel.shared_bytes);
    fmt::print("{:28} {:9.0f} cycles, through Accel-Sim's text {:9.0f}  {:+6.1f} %\n", kernel.name, own, cycles,
               errors.add(cycles, own));
  };
  std::for_each(std::begin(kCalibrationKernels), std::end(kCalibrationKernels), compare);
  std::for_each(std::begin(kTensorKernels), std::end(kTensorKernels), compare);
  errors.print("through Accel-Sim's text");
  CHECK(errors.mape() < 0.03);
  CHECK(errors.worst < 0.10);  // one yield flag can move what warps of a tensor kernel do to each other by 5 %
}
