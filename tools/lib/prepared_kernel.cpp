#include "tools/lib/prepared_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/counted.h"
#include "tools/lib/compiled_tile.h"
#include "tools/lib/sass_source.h"
#include "tools/lib/simulate_kernel.h"
#include "tools/lib/tile_check.h"
#include "tools/lib/tile_source.h"
#include "tools/lib/trace_open.h"
#include "tools/lib/trace_source.h"
#include "traces/sass/listing_reader.h"

namespace tilesim::app {

namespace {

/// What ptxas allocates beyond the highest register, on all calibration kernels.
constexpr int kRegistersBeyondHighest = 3;

/// Code for another architecture is refused, or noted if it is asked for.
Result<void> note_architecture(const model::GpuSpec& gpu, int architecture, const ReplayRequest& request,
                               std::vector<std::string>& notes) {
  if (const auto same = check_architecture(gpu, architecture); !same) {
    if (!request.other_architecture) {
      Error error = same.error();
      error.remedy += ", or pass --arch-mismatch allow to time it all the same";
      return tl::unexpected<Error>(std::move(error));
    }
    notes.push_back(fmt::format("code for sm_{} timed as if it ran on {}", architecture, gpu.id));
  }
  return {};
}

/// Instructions that were taken as NOP.
void note_unknown(const traces::DecodedKernel& kernel, std::vector<std::string>& notes) {
  constexpr std::size_t kNamed = 4;
  if (kernel.unknown.empty()) {
    return;
  }
  std::string places;
  for (std::size_t i = 0; i < std::min(kNamed, kernel.unknown.size()); ++i) {
    places += fmt::format("{}0x{:x}", i == 0 ? "" : ", ", kernel.instructions[kernel.unknown[i]].address);
  }
  notes.push_back(fmt::format("{} unknown instruction{} taken as NOP, at {}{}: time and addresses may be wrong",
                              kernel.unknown.size(), kernel.unknown.size() == 1 ? " was" : "s were", places,
                              kernel.unknown.size() > kNamed ? " ..." : ""));
}

std::string note_of(const DisassemblyCheck& check) {
  return check.different == 0
             ? fmt::format("{} prints all {} instructions as they were decoded", check.program, check.instructions)
             : fmt::format("{} prints {} of {} instructions otherwise than they were decoded, first {}", check.program,
                           check.different, check.instructions, check.first);
}

/// Code and launch must go together.
Result<void> check_fits(const model::GpuSpec& gpu, const CodeFile& code, const ReplayRequest& request,
                        const traces::KernelArguments& arguments) {
  const auto threads = static_cast<std::int64_t>(request.block.count());
  if (code.facts && code.facts->maximum_threads != 0 && threads > code.facts->maximum_threads) {
    return fail(ErrorKind::kUsage,
                fmt::format("a block of {} threads is larger than the {} that the kernel was compiled for", threads,
                            code.facts->maximum_threads),
                "use a smaller --block, or compile with other __launch_bounds__");
  }
  if (code.facts && request.registers) {
    return fail(ErrorKind::kUsage,
                fmt::format("--regs {} does not go with a cubin, which says that it needs {}", *request.registers,
                            code.facts->registers),
                "leave --regs out");
  }
  std::uint64_t bytes = 0;
  for (const traces::Allocation& allocation : arguments.allocations) {
    bytes += allocation.bytes;
  }
  if (bytes > static_cast<std::uint64_t>(gpu.dram.capacity_bytes)) {
    return fail(
        ErrorKind::kUsage,
        fmt::format("the pointers' allocations take {} bytes, {} has {}", bytes, gpu.id, gpu.dram.capacity_bytes),
        "use smaller ptr: sizes");
  }
  return {};
}

/// What the code and the request say about the launch; `referenced` is the number of registers that the code uses.
KernelLaunch launch_of(const ReplayRequest& request, const std::optional<CubinFacts>& facts, int referenced) {
  KernelLaunch launch;
  launch.shared_bytes = request.shared_bytes + (facts ? facts->static_shared : 0);
  launch.barriers = facts ? facts->barriers : 1;
  launch.registers_assumed = !facts && !request.registers;
  launch.registers =
      facts ? facts->registers : request.registers.value_or(std::min(255, referenced - 1 + kRegistersBeyondHighest));
  launch.carveout_kb = request.carveout_kb;
  launch.arguments = request.arguments;
  return launch;
}

Result<PreparedKernel> prepare_trace(const model::GpuSpec& gpu, const ReplayRequest& request) {
  auto opened = open_trace(request.file);
  if (!opened) {
    return tl::unexpected<Error>(opened.error());
  }
  const traces::LaunchRecord& record = (*opened)->launch();
  PreparedKernel prepared;
  const int architecture = (*opened)->program().architecture;
  if (record.code != "estimated") {
    if (const auto done = note_architecture(gpu, architecture, request, prepared.notes); !done) {
      return tl::unexpected<Error>(done.error());
    }
  }
  if ((*opened)->ctas().empty()) {
    return fail(ErrorKind::kUsage, "the trace holds no CTA", "record at least one", request.file);
  }
  prepared.launch.shared_bytes = record.shared_bytes;
  prepared.launch.registers = record.registers;
  prepared.launch.registers_assumed = record.registers_assumed;
  prepared.launch.barriers = record.barriers;
  prepared.launch.carveout_kb = request.carveout_kb ? request.carveout_kb : record.carveout_kb;
  prepared.launch.arguments = record.arguments;
  prepared.kernel = record.kernel;
  prepared.code = record.code;
  prepared.origin = record.origin;
  prepared.origin_kind = record.origin_kind;
  prepared.notes.insert(prepared.notes.begin(), record.notes.begin(), record.notes.end());
  if (!(*opened)->whole_grid()) {
    prepared.notes.push_back(
        fmt::format("the trace holds {} of the launch's {}: they are simulated as a launch of their own",
                    (*opened)->ctas().size(), counted(static_cast<std::int64_t>(record.grid.count()), "CTA")));
  }
  prepared.source = std::make_unique<TraceSource>(std::move(*opened));
  return prepared;
}

}  // namespace

Result<PreparedKernel> prepare_replay(const model::GpuSpec& gpu, const ReplayRequest& request) {
  if (request.format == CodeFormat::kTrace) {
    return prepare_trace(gpu, request);
  }
  auto code =
      load_code(request.file, request.format, request.kernel, architecture_of(gpu),
                request.unknown_is_nop ? traces::Unknown::kDoesNothing : traces::Unknown::kIsRefused, request.nvdisasm);
  if (!code) {
    return tl::unexpected<Error>(code.error());
  }
  auto arguments = arguments_for(*code, request.arguments);
  if (!arguments) {
    return tl::unexpected<Error>(arguments.error());
  }
  if (const auto fits = check_fits(gpu, *code, request, *arguments); !fits) {
    return tl::unexpected<Error>(fits.error());
  }
  PreparedKernel prepared;
  if (const auto done = note_architecture(gpu, code->kernel.architecture, request, prepared.notes); !done) {
    return tl::unexpected<Error>(done.error());
  }
  note_unknown(code->kernel, prepared.notes);
  if (code->checked) {
    prepared.notes.push_back(note_of(*code->checked));
  }
  prepared.kernel = traces::demangle(code->kernel.name);
  prepared.code = "compiled";
  prepared.origin = request.file;
  prepared.origin_kind = request.format == CodeFormat::kCubin ? "cubin" : "listing";
  const std::int64_t shared = request.shared_bytes + (code->facts ? code->facts->static_shared : 0);
  auto source = SassSource::create(
      std::move(code->kernel),
      traces::LaunchParameters{request.grid, request.block, static_cast<std::uint64_t>(shared), std::move(*arguments)});
  if (!source) {
    return tl::unexpected<Error>(source.error());
  }
  const int referenced = (*source)->program().registers_referenced;
  if (request.registers && *request.registers < referenced) {
    return fail(
        ErrorKind::kUsage,
        fmt::format("--regs {} is less than the {} registers that the code uses", *request.registers, referenced),
        "leave --regs out, or give what ptxas reported");
  }
  prepared.launch = launch_of(request, code->facts, referenced);
  prepared.source = std::move(*source);
  if (prepared.launch.registers_assumed) {
    prepared.notes.push_back(
        fmt::format("registers per thread not given: {} assumed (highest register in the code + {}); pass --regs",
                    prepared.launch.registers, kRegistersBeyondHighest));
  }
  return prepared;
}

Result<PreparedKernel> prepare_tile(const model::GpuSpec& gpu, const RunRequest& request) {
  if (const auto legal = check_tile(request.config, request.problem, gpu, request.clock_mhz, request.carveout_kb);
      !legal) {
    return tl::unexpected<Error>(legal.error());
  }
  PreparedKernel prepared;
  prepared.kernel = tile_name(request.config);
  prepared.origin_kind = "listing";
  prepared.launch.carveout_kb = request.carveout_kb;
  if (request.compile) {
    auto compiled = compile_tile(request.config, request.problem);
    if (!compiled) {
      return tl::unexpected<Error>(compiled.error());
    }
    prepared.code = "compiled";
    prepared.launch.registers = static_cast<int>(compiled->registers);
    prepared.launch.shared_bytes = compiled->shared_bytes;
    prepared.source = std::move(compiled->source);
    return prepared;
  }
  auto source = TileSource::create(request.config, request.problem);
  if (!source) {
    return tl::unexpected<Error>(source.error());
  }
  prepared.code = "estimated";
  prepared.launch.registers = (*source)->estimate().registers;
  prepared.launch.shared_bytes = (*source)->estimate().shared_bytes;
  prepared.notes.emplace_back("estimated code: generated for a tile configuration, not compiled");
  prepared.source = std::move(*source);
  return prepared;
}

Result<KernelResult> simulate_prepared(const model::GpuSpec& gpu, const PreparedKernel& prepared,
                                       std::optional<double> clock_mhz, const Effort& effort) {
  auto result = simulate_kernel(gpu, *prepared.source, prepared.launch, clock_mhz, effort);
  if (result) {
    result->kernel = prepared.kernel;
    result->code = prepared.code;
    result->origin = prepared.origin;
    result->origin_kind = prepared.origin_kind;
    result->notes.insert(result->notes.end(), prepared.notes.begin(), prepared.notes.end());
  }
  return result;
}

traces::LaunchRecord record_of(const PreparedKernel& prepared) {
  traces::LaunchRecord record;
  record.kernel = prepared.kernel;
  record.code = prepared.code;
  record.origin = prepared.origin;
  record.origin_kind = prepared.origin_kind;
  record.arguments = prepared.launch.arguments;
  record.shared_bytes = prepared.launch.shared_bytes;
  record.registers = prepared.launch.registers;
  record.registers_assumed = prepared.launch.registers_assumed;
  record.barriers = prepared.launch.barriers;
  record.carveout_kb = prepared.launch.carveout_kb;
  record.notes = prepared.notes;
  return record;
}

}  // namespace tilesim::app
