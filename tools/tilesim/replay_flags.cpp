#include "tools/tilesim/replay_flags.h"

#include <fmt/format.h>

#include <limits>

#include "model/legality.h"
#include "tools/cli/numbers.h"
#include "tools/tilesim/gpu_flags.h"
#include "tools/tilesim/launch_flags.h"

namespace tilesim::cli {

namespace {

constexpr std::int64_t kMaxGrid = std::numeric_limits<std::int32_t>::max();  // CUDA's, for X
constexpr std::int64_t kMaxCtas = std::int64_t{1} << 24;                     // ours: 131,072 x 131,072 in 32 x 32 tiles

Result<isa::Dim3> extents(const Invocation& invocation, const std::string& flag, const std::string& example,
                          const std::optional<isa::Dim3>& known) {
  const auto text = invocation.text(flag);
  if (!text && known) {
    return *known;
  }
  if (!text) {
    return fail(ErrorKind::kUsage, fmt::format("--{} is missing", flag),
                fmt::format("for example --{} {}", flag, example));
  }
  const auto values = parse_integers("--" + flag, *text, ',', 1, 3, 1, kMaxGrid);
  if (!values) {
    return tl::unexpected<Error>(values.error());
  }
  const auto at = [&values](std::size_t i) {
    return i < values->size() ? static_cast<std::uint32_t>((*values)[i]) : 1U;
  };
  return isa::Dim3{at(0), at(1), at(2)};
}

Result<void> check_grid(const isa::Dim3& grid) {
  constexpr std::uint32_t kMaxYZ = 65535;
  const std::string what = fmt::format("--grid {},{},{}", grid.x, grid.y, grid.z);
  if (grid.y > kMaxYZ || grid.z > kMaxYZ) {
    return fail(ErrorKind::kUsage, what + " is too large", fmt::format("Y and Z are at most {}", kMaxYZ));
  }
  if (grid.count() > static_cast<std::uint64_t>(kMaxCtas)) {
    return fail(ErrorKind::kUsage, fmt::format("{} has {} CTAs, which is too many", what, grid.count()),
                fmt::format("at most {} CTAs are simulated", kMaxCtas));
  }
  return {};
}

Result<void> check_block(const isa::Dim3& block) {
  constexpr std::uint32_t kMaxZ = 64;
  const std::string what = fmt::format("--block {},{},{}", block.x, block.y, block.z);
  const std::int64_t most = model::kMaxThreadsPerCta;
  if (block.x > most || block.y > most || block.z > kMaxZ || static_cast<std::int64_t>(block.count()) > most) {
    return fail(ErrorKind::kUsage, fmt::format("{} has more than {} threads or a Z over {}", what, most, kMaxZ),
                fmt::format("use at most {} threads per CTA", most));
  }
  const auto threads = static_cast<std::int64_t>(block.count());
  if (threads % kWarpThreads != 0) {
    return fail(ErrorKind::kUsage, fmt::format("{} has {} threads, not a multiple of {}", what, threads, kWarpThreads),
                fmt::format("use {} threads", (threads / kWarpThreads + 1) * kWarpThreads));
  }
  return {};
}

/// The flags that are numbers.
Result<void> read_numbers(const Invocation& invocation, const KnownLaunch& known, app::ReplayRequest& request) {
  const bool listing = request.format == app::CodeFormat::kListing;
  std::optional<std::int64_t> shared = known.dynamic_shared_bytes + (listing ? known.static_shared_bytes : 0);
  request.registers = listing ? known.registers : std::nullopt;
  request.carveout_kb = known.carveout_kb;
  for (const Result<void>& done :
       {check_grid(request.grid), check_block(request.block),
        read_integer(invocation, "smem", 0, kMaxSharedBytes, shared),
        read_integer(invocation, "regs", 1, model::kMaxRegistersPerThread, request.registers),
        read_carveout(invocation, request.carveout_kb)}) {
    if (!done) {
      return done;
    }
  }
  request.shared_bytes = shared.value_or(0);
  return {};
}

/// Where the code is: one of --sass and --cubin.
Result<void> read_code(const Invocation& invocation, app::ReplayRequest& request) {
  const auto listing = invocation.text("sass");
  const auto cubin = invocation.text("cubin");
  if (listing && cubin) {
    return fail(ErrorKind::kUsage, "--sass and --cubin do not go together", "give one of them");
  }
  request.format = cubin ? app::CodeFormat::kCubin : app::CodeFormat::kListing;
  request.file = cubin ? *cubin : listing.value_or("");
  if (request.file.empty()) {
    return fail(ErrorKind::kUsage, cubin ? "--cubin is empty" : "--sass or --cubin is missing",
                "build with 'nvcc -cubin -arch=sm_90 -o kernel.cubin kernel.cu' and pass --cubin kernel.cubin");
  }
  return {};
}

}  // namespace

std::vector<Flag> code_flags(const std::string& group) {
  return {
      {"sass", "FILE", "listing from 'cuobjdump -sass' or 'nvdisasm -hex' (encodings are needed)", group, {}, false},
      {"cubin", "FILE", "what 'nvcc -cubin' wrote, instead of a listing", group, {}, false},
      {"nvdisasm",
       "PATH",
       "compare the decoder with nvdisasm and show its text; auto: from CUDA_HOME, PATH",
       group,
       {},
       false},
      {"kernel", "NAME", "mangled or demangled name, or a part that fits one kernel", group, {}, false},
      {"grid", "X[,Y[,Z]]", "CTAs", group, {}, false},
      {"block", "X[,Y[,Z]]", "threads of a CTA", group, {}, false},
      {"smem",
       "BYTES",
       "shared memory of a CTA: dynamic for a cubin, static plus dynamic for a listing (default 0)",
       group,
       {},
       false},
      {"args",
       "LIST",
       "arguments in parameter order: i32:4096, f32:0.5, ptr:64MiB, raw:FILE (bytes of the argument), mem:FILE (a "
       "pointer to what the file holds), ptrs:8x4MiB (a pointer to 8 pointers); no blanks",
       group,
       {},
       false},
      {"unknown", "nop", "go on where an instruction is not known, as if it did nothing", group, {}, false},
      {"arch-mismatch", "allow", "time code for another architecture than the GPU's all the same", group, {}, false}};
}

Result<bool> other_architecture_from(const Invocation& invocation) {
  const auto mismatch = invocation.text("arch-mismatch");
  if (mismatch && *mismatch != "allow") {
    return fail(ErrorKind::kUsage, fmt::format("--arch-mismatch '{}' is not 'allow'", *mismatch),
                "write --arch-mismatch allow, or leave it out");
  }
  return mismatch.has_value();
}

Result<app::ReplayRequest> code_request_from(const Invocation& invocation, const KnownLaunch& known) {
  app::ReplayRequest request;
  if (const auto done = read_code(invocation, request); !done) {
    return tl::unexpected<Error>(done.error());
  }
  request.nvdisasm = invocation.text("nvdisasm").value_or("");
  if (invocation.has("nvdisasm") && (request.format != app::CodeFormat::kCubin || request.nvdisasm.empty())) {
    return fail(ErrorKind::kUsage, "--nvdisasm needs --cubin and a path", "a listing holds nvdisasm's text already");
  }
  request.kernel = invocation.text("kernel").value_or("");
  request.arguments = invocation.text("args").value_or("");
  if (const auto unknown = invocation.text("unknown"); unknown && *unknown != "nop") {
    return fail(ErrorKind::kUsage, fmt::format("--unknown '{}' is not 'nop'", *unknown),
                "write --unknown nop, or leave it out");
  }
  request.unknown_is_nop = invocation.has("unknown");
  const auto other = other_architecture_from(invocation);
  if (!other) {
    return tl::unexpected<Error>(other.error());
  }
  request.other_architecture = *other;
  const auto grid = extents(invocation, "grid", "32,32", known.grid);
  if (!grid) {
    return tl::unexpected<Error>(grid.error());
  }
  const auto block = extents(invocation, "block", "256", known.block);
  if (!block) {
    return tl::unexpected<Error>(block.error());
  }
  request.grid = *grid;
  request.block = *block;
  if (const auto done = read_numbers(invocation, known, request); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return request;
}

}  // namespace tilesim::cli
