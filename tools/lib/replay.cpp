#include "tools/lib/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/lib/sass_source.h"
#include "tools/lib/simulate_kernel.h"
#include "traces/emulator/signature.h"
#include "traces/sass/decoder.h"
#include "traces/sass/listing_reader.h"

namespace tilesim::app {

namespace {

/// What ptxas allocates beyond the highest register, on all calibration kernels.
constexpr int kRegistersBeyondHighest = 3;

Result<traces::DecodedKernel> load(const ReplayRequest& request) {
  const auto listing = traces::read_listing(request.listing);
  if (!listing) {
    return tl::unexpected<Error>(listing.error());
  }
  const auto chosen = traces::choose_kernel(*listing, request.kernel);
  if (!chosen) {
    return tl::unexpected<Error>(chosen.error());
  }
  return traces::decode_kernel(**chosen);
}

/// Code, arguments and GPU must go together.
Result<void> check_fits(const model::GpuSpec& gpu, const traces::DecodedKernel& kernel, const std::string& name,
                        const ReplayRequest& request, const traces::KernelArguments& arguments) {
  const std::int64_t capability = 10 * gpu.device.compute_capability_major + gpu.device.compute_capability_minor;
  if (kernel.architecture != capability) {
    return fail(ErrorKind::kUsage,
                fmt::format("the code is for sm_{}, {} has compute capability {}.{}", kernel.architecture, gpu.id,
                            gpu.device.compute_capability_major, gpu.device.compute_capability_minor),
                "choose a GPU that the code was compiled for");
  }
  if (auto fits = traces::check_signature(name, request.arguments); !fits) {
    return fits;
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

}  // namespace

Result<KernelResult> replay(const model::GpuSpec& gpu, const ReplayRequest& request) {
  auto decoded = load(request);
  if (!decoded) {
    return tl::unexpected<Error>(decoded.error());
  }
  const std::string name = traces::demangle(decoded->name);
  traces::LaunchParameters parameters;
  parameters.grid = request.grid;
  parameters.block = request.block;
  parameters.shared_bytes = static_cast<std::uint64_t>(request.shared_bytes);
  auto arguments = traces::parse_arguments(request.arguments);
  if (!arguments) {
    return tl::unexpected<Error>(arguments.error());
  }
  if (const auto fits = check_fits(gpu, *decoded, name, request, *arguments); !fits) {
    return tl::unexpected<Error>(fits.error());
  }
  parameters.arguments = std::move(*arguments);
  const auto source = SassSource::create(std::move(*decoded), std::move(parameters));
  if (!source) {
    return tl::unexpected<Error>(source.error());
  }
  if (request.registers && *request.registers < (*source)->program().registers_referenced) {
    return fail(ErrorKind::kUsage,
                fmt::format("--regs {} is less than the {} registers that the code uses", *request.registers,
                            (*source)->program().registers_referenced),
                "leave --regs out, or give what ptxas reported");
  }
  KernelLaunch launch;
  launch.shared_bytes = request.shared_bytes;
  launch.registers_assumed = !request.registers;
  launch.registers = request.registers.value_or(
      std::min(255, (*source)->program().registers_referenced - 1 + kRegistersBeyondHighest));
  launch.carveout_kb = request.carveout_kb;
  launch.arguments = request.arguments;
  auto result =
      simulate_kernel(gpu, **source, launch, request.clock_mhz, Effort{request.detailed, false, request.threads});
  if (!result) {
    return result;
  }
  result->kernel = name;
  result->code = "compiled";
  result->origin = request.listing;
  if (launch.registers_assumed) {
    result->notes.push_back(
        fmt::format("registers per thread not given: {} assumed (highest register in the code + {}); pass --regs",
                    launch.registers, kRegistersBeyondHighest));
  }
  return result;
}

}  // namespace tilesim::app
