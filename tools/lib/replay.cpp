#include "tools/lib/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/lib/sass_source.h"
#include "tools/lib/simulate_kernel.h"
#include "traces/sass/listing_reader.h"

namespace tilesim::app {

namespace {

/// What ptxas allocates beyond the highest register, on all calibration kernels.
constexpr int kRegistersBeyondHighest = 3;

/// Code, launch and GPU must go together.
Result<void> check_fits(const model::GpuSpec& gpu, const CodeFile& code, const ReplayRequest& request,
                        const traces::KernelArguments& arguments) {
  if (auto same = check_architecture(gpu, code.kernel.architecture); !same) {
    return same;
  }
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

}  // namespace

Result<KernelResult> replay(const model::GpuSpec& gpu, const ReplayRequest& request) {
  auto code = load_code(request.file, request.format, request.kernel);
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
  const std::string name = traces::demangle(code->kernel.name);
  const std::int64_t shared = request.shared_bytes + (code->facts ? code->facts->static_shared : 0);
  const auto source = SassSource::create(
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
  const KernelLaunch launch = launch_of(request, code->facts, referenced);
  auto result =
      simulate_kernel(gpu, **source, launch, request.clock_mhz, Effort{request.detailed, false, request.threads});
  if (!result) {
    return result;
  }
  result->kernel = name;
  result->code = "compiled";
  result->origin = request.file;
  result->origin_kind = request.format == CodeFormat::kCubin ? "cubin" : "listing";
  if (launch.registers_assumed) {
    result->notes.push_back(
        fmt::format("registers per thread not given: {} assumed (highest register in the code + {}); pass --regs",
                    launch.registers, kRegistersBeyondHighest));
  }
  return result;
}

}  // namespace tilesim::app
