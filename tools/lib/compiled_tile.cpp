#include "tools/lib/compiled_tile.h"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

#include "model/register_plan.h"
#include "tools/lib/run_program.h"
#include "tools/lib/scratch_folder.h"
#include "traces/cubin/cubin_reader.h"

namespace tilesim::app {

namespace {

constexpr int kExitAbsent = 4;
constexpr const char* kKernelName = "tile_gemm";

bool ragged(const model::TileConfig& config, const model::Problem& problem) {
  return problem.m % config.bm != 0 || problem.n % config.bn != 0 || problem.k % config.bk != 0;
}

/// EPILOGUE of the kernels' `compile`.
int epilogue_of(const model::Problem& problem) { return problem.beta != 0.0 ? 1 : problem.alpha != 1.0 ? 2 : 0; }

std::vector<std::string> keys_of(const model::TileConfig& c, const model::Problem& problem) {
  const bool mma = c.family == model::Family::kMma;
  std::vector<std::string> keys{fmt::format("BM={}", c.bm),
                                fmt::format("BN={}", c.bn),
                                fmt::format("BK={}", c.bk),
                                fmt::format("{}M={}", mma ? 'W' : 'T', mma ? c.wm : c.tm),
                                fmt::format("{}N={}", mma ? 'W' : 'T', mma ? c.wn : c.tn),
                                fmt::format("STAGES={}", c.stages),
                                fmt::format("VEC={}", c.vec),
                                fmt::format("PAD_A={}", c.pad_a),
                                fmt::format("PAD_B={}", c.pad_b),
                                fmt::format("SWIZZLE={}", c.swizzle),
                                fmt::format("COPY={}", to_string(c.copy)),
                                fmt::format("LAYOUT={}", to_string(c.layout)),
                                fmt::format("RASTER={}", to_string(c.raster)),
                                fmt::format("RAGGED={}", ragged(c, problem) ? 1 : 0),
                                fmt::format("EPILOGUE={}", epilogue_of(problem)),
                                fmt::format("REGS={}", c.register_cap),
                                fmt::format("MIN_CTAS={}", model::planned_ctas(c)),
                                fmt::format("SPLIT_K={}", problem.split_k)};
  if (mma) {
    keys.push_back(fmt::format("DTYPE={}", to_string(c.dtype)));
  } else {
    keys.push_back(fmt::format("WM={}", c.wm));
    keys.push_back(fmt::format("WN={}", c.wn));
  }
  return keys;
}

}  // namespace

std::filesystem::path kernels_folder() {
  if (const char* named = std::getenv("TILESIM_KERNELS"); named != nullptr) {
    return named;
  }
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed = program.parent_path().parent_path() / TILESIM_DATA_FOLDER / "tilesim/kernels";
  return std::filesystem::exists(installed, error) ? installed : TILESIM_SOURCE_KERNELS_FOLDER;
}

Result<CompiledTile> load_compiled_tile(const std::filesystem::path& path, const model::TileConfig& config,
                                        const model::Problem& problem) {
  const auto cubin = traces::read_cubin(path);
  if (!cubin) {
    return tl::unexpected<Error>(cubin.error());
  }
  const auto kernel = traces::choose_kernel(*cubin, kKernelName);
  if (!kernel) {
    return tl::unexpected<Error>(kernel.error());
  }
  auto decoded = traces::decode_kernel(**kernel);
  if (!decoded) {
    return tl::unexpected<Error>(decoded.error());
  }
  constexpr std::int64_t kOutputBytes = 4;  // C is FP32
  const std::int64_t bytes = model::element_bytes(config.dtype);
  std::string arguments = fmt::format("i32:{},i32:{},i32:{},ptr:{},ptr:{},ptr:{}", problem.m, problem.n, problem.k,
                                      bytes * problem.m * problem.k, bytes * problem.k * problem.n,
                                      kOutputBytes * problem.m * problem.n * model::stored_products(problem));
  if (epilogue_of(problem) != 0) {
    arguments += fmt::format(",f32:{},f32:{}", problem.alpha, problem.beta);
  }
  auto parsed = traces::parse_arguments(arguments);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  CompiledTile compiled;
  compiled.registers = (*kernel)->registers_per_thread;
  compiled.shared_bytes = model::shared_bytes(config);
  compiled.spilled_bytes = static_cast<std::int64_t>((*kernel)->local_bytes);
  traces::LaunchParameters launch;
  launch.grid = {static_cast<std::uint32_t>(model::ceil_div(problem.n, config.bn)),
                 static_cast<std::uint32_t>(model::ceil_div(problem.m, config.bm)),
                 static_cast<std::uint32_t>(problem.split_k)};
  launch.block = {static_cast<std::uint32_t>(model::threads_per_cta(config)), 1, 1};
  launch.shared_bytes = static_cast<std::uint64_t>(compiled.shared_bytes);
  launch.arguments = std::move(*parsed);
  auto source = SassSource::create(std::move(*decoded), std::move(launch));
  if (!source) {
    return tl::unexpected<Error>(source.error());
  }
  compiled.source = std::move(*source);
  return compiled;
}

Result<CompiledTile> compile_tile(const model::TileConfig& config, const model::Problem& problem) {
  if (problem.batch != 1) {
    return fail(ErrorKind::kUsage, "--compile covers no batches", "leave --compile out");
  }
  const bool whole = !ragged(config, problem) && problem.k % (problem.split_k * config.bk) == 0;
  if (problem.split_k != 1 && (!whole || epilogue_of(problem) != 0)) {
    return fail(ErrorKind::kUsage,
                fmt::format("--compile covers --split-k {0} only where M and N are multiples of the tile, K is one of "
                            "{0} x {1} = {2}, alpha is 1 and beta 0",
                            problem.split_k, config.bk, problem.split_k * config.bk),
                "use such a problem, or leave --compile out");
  }
  const std::filesystem::path script = kernels_folder() / std::string(to_string(config.family)) / "compile";
  std::error_code error;
  if (!std::filesystem::exists(script, error)) {
    return fail(ErrorKind::kAbsent, fmt::format("the kernels' sources are not in {}", kernels_folder().string()),
                "set TILESIM_KERNELS to the folder kernels/ of a source tree");
  }
  const auto scratch = ScratchFolder::make();
  if (!scratch) {
    return tl::unexpected<Error>(scratch.error());
  }
  const std::filesystem::path cubin = scratch->path() / "tile.cubin";
  std::vector<std::string> arguments = keys_of(config, problem);
  arguments.insert(arguments.begin(), cubin.string());
  const auto done = run_program(script.string(), arguments);
  if (!done) {
    return tl::unexpected<Error>(done.error());
  }
  if (done->exit_code == kExitAbsent) {
    const char* named = std::getenv("NVCC");
    return fail(ErrorKind::kAbsent,
                fmt::format("--compile needs nvcc, which is not there{}",
                            named != nullptr ? fmt::format(" (NVCC={})", named) : std::string()),
                "install the CUDA Toolkit and set NVCC, CUDA_HOME or PATH, or leave --compile out");
  }
  if (done->exit_code != 0) {
    return fail(ErrorKind::kFailed,
                fmt::format("nvcc does not compile the configuration (exit code {}){}{}", done->exit_code,
                            done->output.empty() ? "" : ": ", done->output),
                "leave --compile out, or check the nvcc that NVCC, CUDA_HOME or PATH names");
  }
  return load_compiled_tile(cubin, config, problem);
}

}  // namespace tilesim::app
