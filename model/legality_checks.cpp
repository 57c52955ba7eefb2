#include "model/legality_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "model/occupancy.h"
#include "model/register_plan.h"
#include "model/roofline.h"
#include "model/tile_layout.h"
#include "model/waves.h"

namespace tilesim::model::detail {
namespace {

constexpr std::int64_t kMaxPad = 1024;
constexpr std::int64_t kMaxSwizzleBits = 3;
constexpr std::int64_t kMatrixRowBytes = 16;  // LDSM row, widest access of a lane
constexpr std::int64_t kLeastRegisterCap = 16;
/// Loads and multiply-adds of a main loop without shared memory, and steps of K in it: the code has no other bound, and
/// compilers and simulators take minutes for more. 128 KB are as much as the instruction caches of an SM hold.
constexpr std::int64_t kMostUnrolled = 8192;
constexpr std::int64_t kMostUnrolledSteps = 256;

class Checker {
 public:
  Checker(const TileConfig& config, const Problem* problem, const LegalityLimits& limits, bool illegal_only)
      : config_(config), problem_(problem), limits_(limits), illegal_only_(illegal_only) {}

  std::vector<Finding> run() {
    ranges();
    if (!findings_.empty()) return std::move(findings_);  // later rules divide and multiply
    using Rule = void (Checker::*)();
    constexpr std::array<Rule, 9> kRules{&Checker::types,  &Checker::shape,   &Checker::threads,
                                         &Checker::copies, &Checker::layout,  &Checker::shared,
                                         &Checker::async,  &Checker::problem, &Checker::registers};
    for (const Rule rule : kRules) {
      (this->*rule)();
      if (illegal_only_ && !findings_.empty()) break;
    }
    return std::move(findings_);
  }

 private:
  void illegal(std::string rule, std::string message, std::string remedy) {
    findings_.push_back({Severity::kIllegal, std::move(rule), std::move(message), std::move(remedy)});
  }
  void warn(std::string rule, std::string message, std::string remedy) {
    if (illegal_only_) return;
    findings_.push_back({Severity::kWarning, std::move(rule), std::move(message), std::move(remedy)});
  }
  void range(std::string_view option, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value >= least && value <= most) return;
    illegal("range", fmt::format("{} {} is outside {} to {}.", option, value, least, most),
            fmt::format("Pass {} from {} to {}.", option, least, most));
  }
  void divides(std::string_view rule, std::string_view whole, std::int64_t value, std::string_view part,
               std::int64_t divisor) {
    multiple(rule, whole, value, part, divisor, fmt::format(", or a {} that divides {}", part, value));
  }
  /// Of a size that nobody chooses; `instead` is what else can be done.
  void multiple(std::string_view rule, std::string_view whole, std::int64_t value, std::string_view part,
                std::int64_t divisor, std::string_view instead = "") {
    if (value % divisor == 0) return;
    illegal(std::string(rule), fmt::format("{} = {} is not a multiple of {} = {}.", whole, value, part, divisor),
            fmt::format("Use {} = {}{}.", whole, ceil_div(value, divisor) * divisor, instead));
  }

  void ranges();
  void types();
  void shape();
  void warp_tile();
  void direct();
  void threads();
  void copies();
  void layout();
  void shared();
  void async();
  void problem();
  void registers();
  void planned(std::int64_t threads);
  void tile_layout(std::string_view name, const SharedTile& tile, bool wide_store);
  void alignment(std::string_view matrix, std::string_view extent, std::int64_t leading);

  [[nodiscard]] bool simt() const { return config_.family == Family::kSimt; }
  [[nodiscard]] bool shape_divides() const {
    return simt() ? config_.bm % config_.tm == 0 && config_.bn % config_.tn == 0
                  : config_.bm % config_.wm == 0 && config_.bn % config_.wn == 0;
  }

  const TileConfig& config_;
  const Problem* problem_;
  const LegalityLimits& limits_;
  bool illegal_only_;
  std::vector<Finding> findings_;
};

void Checker::ranges() {
  range("--bm", config_.bm, 1, kMaxTileExtent);
  range("--bn", config_.bn, 1, kMaxTileExtent);
  range("--bk", config_.bk, 1, kMaxTileExtent);
  if (simt()) {
    range("--tm", config_.tm, 1, kMaxTileExtent);
    range("--tn", config_.tn, 1, kMaxTileExtent);
    if (config_.wm != 0 || config_.wn != 0) {
      range("--wm", config_.wm, 1, kMaxTileExtent);
      range("--wn", config_.wn, 1, kMaxTileExtent);
    }
  } else {
    range("--wm", config_.wm, 1, kMaxTileExtent);
    range("--wn", config_.wn, 1, kMaxTileExtent);
  }
  range("--stages", config_.stages, 1, kMaxStages);
  range("--pad-a", config_.pad_a, 0, kMaxPad);
  range("--pad-b", config_.pad_b, 0, kMaxPad);
  range("--swizzle", config_.swizzle, 0, kMaxSwizzleBits);
  if (config_.register_cap != 0) range("--regs", config_.register_cap, kLeastRegisterCap, kMaxRegistersPerThread);
  if (config_.min_ctas != 0) range("--min-ctas", config_.min_ctas, 1, limits_.ctas_per_sm);
  if (config_.min_ctas != 0 && config_.register_cap != 0) {
    illegal("registers", "--regs and --min-ctas both say how many registers a thread may have.",
            "Pass one of them; nvcc ignores a cap where the launch bounds say it.");
  }
  if (config_.registers != 0) range("registers per thread", config_.registers, 1, kMaxRegistersPerThread);
  if (config_.raster.kind == RasterKind::kGroup) range("--raster group:", config_.raster.group, 1, kMaxProblemExtent);
  const std::int64_t widest = kMatrixRowBytes / element_bytes(config_.dtype);
  if (config_.vec < 1 || config_.vec > widest || !std::has_single_bit(static_cast<std::uint64_t>(config_.vec))) {
    illegal("range", fmt::format("--vec {} is not a vector of {} elements.", config_.vec, to_string(config_.dtype)),
            fmt::format("Pass --vec 1, 2, 4 or 8 of at most {} elements (16 bytes).", widest));
  }
}

void Checker::types() {
  if (problem_ != nullptr && problem_->dtype != config_.dtype) {
    illegal("dtype",
            fmt::format("The kernel computes {} but the problem is {}.", to_string(config_.dtype),
                        to_string(problem_->dtype)),
            fmt::format("Use --dtype {} for both.", to_string(problem_->dtype)));
  }
  if (simt() && config_.dtype != DataType::kF32) {
    illegal("dtype", fmt::format("The simt family multiplies f32 with FMAs, not {}.", to_string(config_.dtype)),
            "Use --dtype f32, or --family mma.");
  }
  if (!simt() && config_.dtype == DataType::kF32) {
    illegal("dtype", "Tensor cores do not multiply f32.",
            "Use --dtype tf32 (4-byte elements, 10 mantissa bits), or --family simt.");
  }
}

void Checker::shape() {
  if (simt()) {
    divides("shape", "BM", config_.bm, "TM", config_.tm);
    divides("shape", "BN", config_.bn, "TN", config_.tn);
    if (has_warp_tiles(config_)) warp_tile();
    return;
  }
  divides("shape", "BM", config_.bm, "WM", config_.wm);
  divides("shape", "BN", config_.bn, "WN", config_.wn);
  multiple("shape", "WM", config_.wm, "the rows of an mma", kMmaRows);
  multiple("shape", "WN", config_.wn, "the columns of an mma", kMmaColumns);
  multiple("shape", "BK", config_.bk, "the depth of an mma", mma_depth(config_.dtype));
}

void Checker::warp_tile() {
  constexpr std::int64_t kLanes = 32;
  divides("shape", "BM", config_.bm, "WM", config_.wm);
  divides("shape", "BN", config_.bn, "WN", config_.wn);
  divides("shape", "WM", config_.wm, "TM", config_.tm);
  divides("shape", "WN", config_.wn, "TN", config_.tn);
  const std::int64_t lanes = config_.wm / config_.tm * (config_.wn / config_.tn);
  if (config_.wm % config_.tm != 0 || config_.wn % config_.tn != 0 || lanes == kLanes) return;
  illegal(
      "shape",
      fmt::format("A warp tile of {}x{} holds {} thread tiles of {}x{}; a warp has {} lanes.", config_.wm, config_.wn,
                  lanes, config_.tm, config_.tn, kLanes),
      fmt::format("Use --warp-tile {}x{}, or {}x{}.", 4 * config_.tm, 8 * config_.tn, 8 * config_.tm, 4 * config_.tn));
}

void Checker::threads() {
  if (!shape_divides()) return;
  const std::int64_t threads = threads_per_cta(config_);
  const std::string_view tile = simt() ? "TM x TN" : "WM x WN";
  if (threads > kMaxThreadsPerCta) {
    illegal("threads", fmt::format("The CTA has {} threads; {} is the most.", threads, kMaxThreadsPerCta),
            fmt::format("Choose a {} at least {} times as large, or a smaller BM x BN.", tile,
                        ceil_div(threads, kMaxThreadsPerCta)));
  } else if (threads % 32 != 0) {
    illegal("threads",
            fmt::format("The CTA has {} threads, not a multiple of 32: its last warp is partly empty.", threads),
            fmt::format("Choose BM, BN and {} so that (BM/TM)*(BN/TN) is a multiple of 32, {} for example.", tile,
                        ceil_div(threads, 32) * 32));
  }
}

/// What is not copied to shared memory has nothing that says how.
void Checker::direct() {
  if (!simt()) {
    illegal("copy", "The mma family reads its fragments from shared memory; --copy direct has none.",
            "Use --copy cpasync or reg, or --family simt.");
  }
  if (config_.stages != 1) {
    illegal("stages",
            fmt::format("--copy direct has no buffers in shared memory, so there are not {}.", config_.stages),
            "Use --stages 1, or --copy reg or cpasync.");
  }
  const std::int64_t step = config_.tm * config_.tn + config_.tm + config_.tn;
  const std::int64_t most = std::min(kMostUnrolledSteps, std::max<std::int64_t>(1, kMostUnrolled / step));
  if (config_.bk > most) {
    illegal(
        "unroll",
        fmt::format("With --copy direct the main loop is unrolled by BK = {}, {} loads and multiply-adds each: {} is "
                    "the most.",
                    config_.bk, step, most),
        fmt::format("Use --bk {} or less, or --copy reg or cpasync.", most));
  }
  if (config_.vec != 1) {
    illegal("copy", fmt::format("--copy direct loads element by element, not {} at a time.", config_.vec),
            "Use --vec 1, or --copy reg or cpasync.");
  }
  if (config_.pad_a != 0 || config_.pad_b != 0) {
    illegal("padding",
            fmt::format("--pad-a {} and --pad-b {} pad rows in shared memory, of which --copy direct has none.",
                        config_.pad_a, config_.pad_b),
            "Use --pad-a 0 and --pad-b 0, or --copy reg or cpasync.");
  }
  if (config_.swizzle != 0) {
    illegal("swizzle",
            fmt::format("A swizzle of {} bits permutes rows in shared memory, of which --copy direct has none.",
                        config_.swizzle),
            "Use --swizzle 0, or --copy reg or cpasync.");
  }
}

void Checker::copies() {
  if (!uses_shared_memory(config_)) {
    direct();
    return;
  }
  const std::int64_t vec = config_.vec;
  const bool a_t = a_transposed(config_.layout);
  const bool b_t = b_transposed(config_.layout);
  divides("copy", a_t ? "BM" : "BK", a_t ? config_.bm : config_.bk, "--vec", vec);
  divides("copy", b_t ? "BK" : "BN", b_t ? config_.bk : config_.bn, "--vec", vec);
  if (!shape_divides()) return;
  const std::int64_t per_round = threads_per_cta(config_) * vec;
  const std::array<std::pair<std::string_view, std::int64_t>, 2> tiles{
      {{"A", config_.bm * config_.bk}, {"B", config_.bk * config_.bn}}};
  for (const auto& [name, elements] : tiles) {
    if (elements % per_round == 0) continue;
    illegal("copy",
            fmt::format("The {} tile has {} elements; {} threads with {} each load {} at a time, so the loads per "
                        "thread are not whole.",
                        name, elements, threads_per_cta(config_), vec, per_round),
            fmt::format("Choose BK, --vec or the thread count so that the tile is a multiple of {}.", per_round));
  }
}

void Checker::tile_layout(std::string_view name, const SharedTile& tile, bool wide_store) {
  const std::int64_t row_bytes = tile.columns * tile.element_bytes;
  const std::string option = name == "A" ? "--pad-a" : "--pad-b";
  const std::int64_t unit =
      simt() ? (wide_store ? config_.vec * tile.element_bytes : tile.element_bytes) : kMatrixRowBytes;
  if (tile.pitch_bytes() % unit != 0) {
    illegal("padding",
            fmt::format("Rows of the {} tile in shared memory are {} bytes apart, but are accessed {} bytes wide.",
                        name, tile.pitch_bytes(), unit),
            fmt::format("Pass {} as a multiple of {} elements.", option, unit / tile.element_bytes));
  }
  if (config_.swizzle == 0) return;
  const std::int64_t block = kMatrixRowBytes << config_.swizzle;
  if (tile.pad != 0 || row_bytes % block != 0) {
    illegal("swizzle",
            fmt::format("A swizzle of {} bits permutes blocks of {} bytes, but rows of the {} tile are {} + {} bytes.",
                        config_.swizzle, block, name, row_bytes, tile.pad * tile.element_bytes),
            fmt::format("Use {} 0 and rows of a multiple of {} bytes, or fewer bits.", option, block));
  }
}

void Checker::layout() {
  if (!uses_shared_memory(config_)) return;
  tile_layout("A", shared_tile_a(config_), a_transposed(config_.layout));
  tile_layout("B", shared_tile_b(config_), !b_transposed(config_.layout));
}

void Checker::shared() {
  if (!uses_shared_memory(config_)) return;
  const SharedFit fit = shared_fit(config_, limits_);
  if (fit.fits()) return;
  std::string remedy = "No stage count or BK fits: choose a smaller BM x BN.";
  if (fit.largest_stages > 0) {
    remedy = fmt::format("Use --stages {}", fit.largest_stages);
    if (fit.largest_bk > 0) remedy += fmt::format(", or --bk {} with {} stages", fit.largest_bk, config_.stages);
    remedy += ".";
  } else if (fit.largest_bk > 0) {
    remedy = fmt::format("Use --bk {}.", fit.largest_bk);
  }
  illegal("shared-memory",
          fmt::format("The tile needs {} bytes of shared memory ({} buffers of {}); a CTA of {} may have {} bytes: {} "
                      "bytes too many.",
                      fit.needed, config_.stages, shared_bytes_per_stage(config_), limits_.gpu, fit.available,
                      fit.needed - fit.available),
          remedy);
}

void Checker::async() {
  if (!uses_shared_memory(config_)) return;
  if (config_.copy == CopyPath::kRegister) {
    if (config_.stages <= 2) return;
    illegal("stages",
            fmt::format("{} buffers need asynchronous copies; a copy through registers fills one buffer ahead.",
                        config_.stages),
            "Use --stages 2, or --copy cpasync.");
    return;
  }
  if (!limits_.has_async_copy) {
    illegal("cp.async", fmt::format("{} has no cp.async (compute capability 8.0 and later).", limits_.gpu),
            "Use --copy reg.");
  }
  // A transposing SIMT copy scatters single elements.
  const bool scattered = simt() && (!a_transposed(config_.layout) || b_transposed(config_.layout));
  const std::int64_t bytes = element_bytes(config_.dtype) * config_.vec;
  if (!async_copy_forms(bytes).any()) {
    illegal("cp.async", fmt::format("cp.async moves 4, 8 or 16 bytes per lane (cg: 16 only), not {}.", bytes),
            fmt::format("Use --vec {} or more, or --copy reg.", 4 / element_bytes(config_.dtype)));
  } else if (scattered && config_.vec > 1) {
    warn("cp.async", "A tile that is transposed on its way is copied element by element (cp.async.ca, 4 bytes).",
         "Store that operand transposed (--layout tn), or use --copy reg.");
  }
  if (config_.stages == 1) {
    warn("stages", "With one buffer every cp.async is waited for before the math starts.", "Use --stages 2 or more.");
  }
}

void Checker::alignment(std::string_view matrix, std::string_view extent, std::int64_t leading) {
  const std::int64_t bytes = element_bytes(config_.dtype);
  const std::int64_t have = row_alignment(leading, bytes);
  const std::int64_t want = config_.vec * bytes;
  if (have >= want) return;
  illegal("alignment",
          fmt::format("Rows of {} start at multiples of {} = {} elements, aligned to {} bytes; {}-byte accesses trap.",
                      matrix, extent, leading, have, want),
          fmt::format("Use --vec {}, or pad {} to {}.", have / bytes, extent,
                      ceil_div(leading, config_.vec) * config_.vec));
}

void Checker::problem() {
  if (problem_ == nullptr) return;
  const LeadingDimensions leading = leading_dimensions(*problem_, config_.layout);
  alignment("A", a_transposed(config_.layout) ? "M" : "K", leading.a);
  alignment("B", b_transposed(config_.layout) ? "K" : "N", leading.b);
  if (const auto waves = count_waves(*problem_, extents(config_), 1, 1); !waves) {
    illegal("grid", waves.error().message, waves.error().remedy);
  }
  // gridDim is (tiles along N, tiles along M, parts of K times batches). Source: CUDA C++ Programming Guide, technical
  // specifications per compute capability: at most 2^31 - 1, 65535 and 65535.
  constexpr std::int64_t kMostGridYZ = 65535;
  if (const std::int64_t tiles = ceil_div(problem_->m, config_.bm); tiles > kMostGridYZ) {
    illegal("grid",
            fmt::format("M = {} makes {} tiles of {} rows; gridDim.y ends at {}.", problem_->m, tiles, config_.bm,
                        kMostGridYZ),
            fmt::format("Use --bm {} or more, or split M into several launches.", ceil_div(problem_->m, kMostGridYZ)));
  }
  if (const std::int64_t parts = problem_->split_k * problem_->batch; parts > kMostGridYZ) {
    illegal("grid",
            fmt::format("--split-k {} and --batch {} make {} products; gridDim.z ends at {}.", problem_->split_k,
                        problem_->batch, parts, kMostGridYZ),
            fmt::format("Use --split-k {} or less, or several launches.",
                        std::max<std::int64_t>(1, kMostGridYZ / problem_->batch)));
  }
  if (problem_->split_k > 1 && problem_->beta != 0.0) {
    illegal("split-k", "Every part of K stores a product of its own; beta C belongs to the kernel that adds them up.",
            "Use --beta 0, or --split-k 1.");
  }
  const std::int64_t steps = ceil_div(problem_->k, config_.bk);
  if (problem_->split_k > steps) {
    warn("split-k", fmt::format("split_k = {} exceeds the {} K-steps: some CTAs do nothing.", problem_->split_k, steps),
         fmt::format("Use --split-k {} or less.", steps));
  }
}

/// Launch bounds that ask for more CTAs than fit are ignored by ptxas.
void Checker::planned(std::int64_t threads) {
  const std::int64_t by_warps = limits_.warps_per_sm / ceil_div(threads, 32);
  const std::int64_t by_shared =
      limits_.shared_bytes_per_sm / (shared_bytes(config_) + limits_.shared_reserved_per_cta);
  const std::int64_t most = std::min({by_warps, by_shared, limits_.ctas_per_sm});
  if (config_.min_ctas > most) {
    illegal("registers",
            fmt::format("--min-ctas {} asks for more CTAs of {} threads and {} bytes of shared memory than fit an SM.",
                        config_.min_ctas, threads, shared_bytes(config_)),
            fmt::format("Use --min-ctas {} or less.", std::max<std::int64_t>(1, most)));
  }
}

void Checker::registers() {
  if (!shape_divides()) return;
  const std::int64_t threads = threads_per_cta(config_);
  if (threads < 1 || threads > kMaxThreadsPerCta) return;
  if (config_.min_ctas > 0) planned(threads);
  const Spill spill = spill_of(config_);
  const std::int64_t allocated = ceil_div(config_.registers, 8) * 8;
  const std::int64_t warps = ceil_div(threads, 32);
  if (allocated * 32 * warps > limits_.registers_per_sm) {
    illegal("registers",
            fmt::format("{} threads with {} registers ({} allocated) need {} registers; an SM has {}.", threads,
                        config_.registers, allocated, allocated * 32 * warps, limits_.registers_per_sm),
            fmt::format("Use at most {} threads, or cap the registers with --regs {}.",
                        largest_cta_for_registers(config_.registers), register_limit(config_)));
  } else if (spill.spills()) {
    warn("registers",
         fmt::format(
             "A thread needs about {} registers ({} accumulators) but gets {}: about {} spill, {} bytes of local "
             "memory per CTA and, if each is stored and loaded once, {} bytes of traffic per K-step.",
             spill.demand, accumulators_per_thread(config_), spill.limit, spill.registers, spill.bytes_per_cta,
             spill.bytes_per_k_step),
         simt() ? "Choose a smaller TM x TN, fewer threads, or a higher --regs."
                : "Choose a smaller WM x WN, fewer warps, or a higher --regs.");
  }
}

}  // namespace

std::vector<Finding> find_problems(const TileConfig& config, const Problem* problem, const LegalityLimits& limits,
                                   bool illegal_only) {
  return Checker(config, problem, limits, illegal_only).run();
}

bool is_legal(const TileConfig& config, const Problem* problem, const LegalityLimits& limits) {
  return find_problems(config, problem, limits, true).empty();
}

SharedFit shared_fit(const TileConfig& config, const LegalityLimits& limits) {
  SharedFit fit;
  fit.needed = shared_bytes(config);
  fit.available = limits.shared_bytes_per_cta;
  if (!uses_shared_memory(config)) {
    fit.largest_stages = 1;
    fit.largest_bk = config.bk;
    return fit;
  }
  fit.largest_stages = std::min(kMaxStages, fit.available / shared_bytes_per_stage(config));
  TileConfig smaller = config;
  for (smaller.bk = config.bk / 8 * 8; smaller.bk >= 8; smaller.bk -= 8) {
    if (shared_bytes(smaller) > fit.available) continue;
    fit.largest_bk = smaller.bk;
    break;
  }
  return fit;
}

}  // namespace tilesim::model::detail
