#include "tools/tilesim/tile_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "model/legality.h"
#include "model/roofline.h"
#include "tools/cli/numbers.h"
#include "tools/tilesim/gpu_flags.h"
#include "tools/tilesim/launch_flags.h"

namespace tilesim::cli {

namespace {

constexpr std::int64_t kAssumedExtent = 4096;
constexpr std::int64_t kMaxSplits = 65535;
constexpr std::int64_t kVectorBytes = 16;
constexpr std::int64_t kMmaDepth = 32;
constexpr double kLargestFactor = std::numeric_limits<float>::max();

/// An integer flag and the field it goes to.
struct IntegerFlag {
  const char* name;
  std::int64_t minimum;
  std::int64_t maximum;
  std::int64_t* field;
};

template <class Flags>
Result<void> read_integers(const Invocation& invocation, const Flags& flags) {
  for (const IntegerFlag& flag : flags) {
    const auto value = invocation.integer(flag.name, flag.minimum, flag.maximum);
    if (!value) {
      return tl::unexpected<Error>(value.error());
    }
    *flag.field = value->value_or(*flag.field);
  }
  return {};
}

/// A named choice, e.g. --dtype, through the model's parser; the Error says which flag it was.
template <class T>
Result<void> read_name(const Invocation& invocation, const std::string& flag, Result<T> (*parser)(std::string_view),
                       T& field) {
  const auto text = invocation.text(flag);
  if (!text) {
    return {};
  }
  const auto value = parser(*text);
  if (!value) {
    Error error = value.error();
    error.message = fmt::format("--{}: {}", flag, error.message);
    return tl::unexpected<Error>(std::move(error));
  }
  field = *value;
  return {};
}

/// "128x128x8" into several fields; `parts` are the flags that say the same one by one.
Result<void> read_product(const Invocation& invocation, const std::string& flag,
                          const std::vector<std::pair<std::string, std::int64_t*>>& parts) {
  const auto text = invocation.text(flag);
  if (!text) {
    return {};
  }
  const auto values = parse_integers("--" + flag, *text, 'x', parts.size(), parts.size(), 1, model::kMaxTileExtent);
  if (!values) {
    return tl::unexpected<Error>(values.error());
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (invocation.has(parts[i].first)) {
      return fail(ErrorKind::kUsage, fmt::format("--{} and --{} say the same", flag, parts[i].first),
                  "give one of them");
    }
    *parts[i].second = (*values)[i];
  }
  return {};
}

Result<void> read_names(const Invocation& invocation, model::TileConfig& c) {
  for (const Result<void>& done : {read_name(invocation, "family", model::parse_family, c.family),
                                   read_name(invocation, "copy", model::parse_copy_path, c.copy),
                                   read_name(invocation, "dtype", model::parse_data_type, c.dtype),
                                   read_name(invocation, "layout", model::parse_layout, c.layout),
                                   read_name(invocation, "raster", model::parse_raster, c.raster)}) {
    if (!done) {
      return done;
    }
  }
  return {};
}

/// The tile of a thread means nothing to tensor cores.
Result<void> refuse_other_family(const Invocation& invocation, model::Family family) {
  for (const char* flag : {"thread-tile", "tm", "tn"}) {
    if (family == model::Family::kMma && invocation.has(flag)) {
      return fail(ErrorKind::kUsage, fmt::format("--{} does not go with --family {}", flag, to_string(family)),
                  "use --warp-tile");
    }
  }
  return {};
}

/// What is taken where nothing is said.
void set_defaults(const Invocation& invocation, model::TileConfig& c) {
  if (c.family == model::Family::kMma && !invocation.has("dtype")) {
    c.dtype = model::DataType::kBf16;
  }
  c.vec = c.copy == model::CopyPath::kDirect ? 1 : kVectorBytes / model::element_bytes(c.dtype);
  if (c.family == model::Family::kMma) {
    c.wm = model::kUsualMmaWarpRows;
    c.wn = model::kUsualMmaWarpColumns;
    c.bk = kMmaDepth;
  }
}

}  // namespace

std::vector<Flag> problem_flags() {
  const std::string group = "Problem: C (M x N) = alpha * A (M x K) * B (K x N) + beta * C";
  return {{"m", "N", "rows of C (default: 4096 for all three)", group, {}, false},
          {"n", "N", "columns of C", group, {}, false},
          {"k", "N", "depth of the product", group, {}, false},
          {"dtype", "TYPE", "f32, tf32, f16 or bf16 (default f32; --family mma: bf16)", group, {}, false},
          {"layout", "AB", "nn, nt, tn or tt: n = stored as written, row-major (default nn)", group, {}, false},
          {"alpha", "X", "factor of the product (default 1)", group, {}, false},
          {"beta", "X", "not 0: C is read as well as written (default 0)", group, {}, false},
          {"split-k",
           "N",
           "parts of K that different CTAs compute, each stored by itself",
           group,
           {"split_k_slices"},
           false},
          {"batch", "N", "independent products", group, {"batch_count"}, false}};
}

std::vector<Flag> tile_flags() {
  const std::string group = "Tile";
  const std::string more = "Kernel";
  return {{"tile",
           "BMxBNxBK",
           "tile of a CTA and depth of a K-step (default 128x128x8; mma: 128x128x32)",
           group,
           {},
           false},
          {"thread-tile", "TMxTN", "tile of a thread, SIMT (default 8x8)", group, {}, false},
          {"warp-tile",
           "WMxWN",
           "tile of a warp (mma: default 64x32; SIMT: default none, threads lie along N over the CTA's tile)",
           group,
           {},
           false},
          {"bm", "N", "the same one by one", group, {"cta_m"}, false},
          {"bn", "N", "", group, {"cta_n"}, false},
          {"bk", "N", "", group, {"cta_k"}, false},
          {"tm", "N", "", group, {}, false},
          {"tn", "N", "", group, {}, false},
          {"wm", "N", "", group, {}, false},
          {"wn", "N", "", group, {}, false},
          {"family", "NAME", "simt or mma (default simt)", more, {}, false},
          {"stages", "N", "buffers in shared memory (default 1)", more, {}, false},
          {"copy",
           "PATH",
           "to shared memory: reg (through registers, default) or cpasync; direct: no shared memory, operands straight "
           "from global memory, BK is what the loop is unrolled by. With --thread-tile 1x1 that is a coalesced kernel "
           "(--warp-tile 1x32, lanes along N) or a naive one (--warp-tile 32x1, lanes along M)",
           more,
           {},
           false},
          {"vec", "N", "elements per global load (default: 16 bytes' worth; direct: 1)", more, {}, false},
          {"pad-a", "N", "elements added to each row of A in shared memory", more, {}, false},
          {"pad-b", "N", "the same for B", more, {}, false},
          {"swizzle", "BITS", "0 to 3: bits of the row XORed into the 16-byte chunk", more, {}, false},
          {"raster", "ORDER", "order of CTAs: n, m or group:G (default n)", more, {}, false},
          {"min-ctas",
           "N",
           "CTAs per SM in __launch_bounds__ (default: as many as the estimate plans for)",
           more,
           {},
           false}};
}

bool has_tile(const Invocation& invocation) {
  const auto flags = tile_flags();
  return std::any_of(flags.begin(), flags.end(), [&](const Flag& flag) { return invocation.has(flag.name); });
}

Result<model::TileConfig> tile_from(const Invocation& invocation) {
  model::TileConfig c;
  if (const auto done = read_names(invocation, c); !done) {
    return tl::unexpected<Error>(done.error());
  }
  if (const auto done = refuse_other_family(invocation, c.family); !done) {
    return tl::unexpected<Error>(done.error());
  }
  set_defaults(invocation, c);
  const std::int64_t most = model::kMaxTileExtent;
  const std::array<IntegerFlag, 14> integers{{{"bm", 1, most, &c.bm},
                                              {"bn", 1, most, &c.bn},
                                              {"bk", 1, most, &c.bk},
                                              {"tm", 1, most, &c.tm},
                                              {"tn", 1, most, &c.tn},
                                              {"wm", 1, most, &c.wm},
                                              {"wn", 1, most, &c.wn},
                                              {"stages", 1, model::kMaxStages, &c.stages},
                                              {"vec", 1, kVectorBytes, &c.vec},
                                              {"pad-a", 0, most, &c.pad_a},
                                              {"pad-b", 0, most, &c.pad_b},
                                              {"swizzle", 0, 3, &c.swizzle},
                                              {"min-ctas", 1, 32, &c.min_ctas},
                                              {"regs", 1, model::kMaxRegistersPerThread, &c.register_cap}}};
  for (const Result<void>& done : {read_integers(invocation, integers),
                                   read_product(invocation, "tile", {{"bm", &c.bm}, {"bn", &c.bn}, {"bk", &c.bk}}),
                                   read_product(invocation, "thread-tile", {{"tm", &c.tm}, {"tn", &c.tn}}),
                                   read_product(invocation, "warp-tile", {{"wm", &c.wm}, {"wn", &c.wn}})}) {
    if (!done) {
      return tl::unexpected<Error>(done.error());
    }
  }
  return c;
}

Result<ProblemChoice> problem_from(const Invocation& invocation, model::DataType dtype) {
  ProblemChoice choice;
  model::Problem& p = choice.problem;
  p.dtype = dtype;
  const std::array<IntegerFlag, 5> integers{{{"m", 1, model::kMaxProblemExtent, &p.m},
                                             {"n", 1, model::kMaxProblemExtent, &p.n},
                                             {"k", 1, model::kMaxProblemExtent, &p.k},
                                             {"split-k", 1, kMaxSplits, &p.split_k},
                                             {"batch", 1, kMaxSplits, &p.batch}}};
  if (const auto done = read_integers(invocation, integers); !done) {
    return tl::unexpected<Error>(done.error());
  }
  for (const auto& [flag, field] : {std::pair{"alpha", &p.alpha}, std::pair{"beta", &p.beta}}) {
    const auto value = invocation.real(flag, -kLargestFactor, kLargestFactor);
    if (!value) {
      return tl::unexpected<Error>(value.error());
    }
    *field = value->value_or(*field);
  }
  const int given = (p.m != 0 ? 1 : 0) + (p.n != 0 ? 1 : 0) + (p.k != 0 ? 1 : 0);
  if (given == 0) {
    p.m = p.n = p.k = kAssumedExtent;
    choice.assumed = true;
  } else if (given != 3) {
    const char* missing = p.m == 0 ? "--m" : (p.n == 0 ? "--n" : "--k");
    return fail(ErrorKind::kUsage, fmt::format("{} is missing", missing), "give all of --m, --n and --k, or none");
  }
  if (const auto valid = model::validate_problem(p); !valid) {
    return tl::unexpected<Error>(valid.error());
  }
  return choice;
}

Result<TileQuestion> tile_question_from(const Invocation& invocation) {
  TileQuestion question;
  const auto config = tile_from(invocation);
  if (!config) {
    return tl::unexpected<Error>(config.error());
  }
  const auto problem = problem_from(invocation, config->dtype);
  if (!problem) {
    return tl::unexpected<Error>(problem.error());
  }
  const auto clock = clock_from(invocation);
  if (!clock) {
    return tl::unexpected<Error>(clock.error());
  }
  if (const auto done = read_carveout(invocation, question.carveout_kb); !done) {
    return tl::unexpected<Error>(done.error());
  }
  question.config = *config;
  question.problem = *problem;
  constexpr std::int64_t kSumBytes = 4;
  question.problem.problem.c_bytes = config->family == model::Family::kMma ? kSumBytes : 0;  // kernels/mma: FP32
  question.clock_mhz = *clock;
  return question;
}

app::RunRequest run_request_of(const TileQuestion& question, const Invocation& invocation) {
  app::RunRequest request;
  request.config = question.config;
  request.problem = question.problem.problem;
  request.carveout_kb = question.carveout_kb;
  request.clock_mhz = question.clock_mhz;
  request.compile = invocation.has("compile");
  return request;
}

}  // namespace tilesim::cli
