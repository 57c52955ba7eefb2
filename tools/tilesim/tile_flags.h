// The flags that describe a tile configuration and a problem.
#pragma once

#include <optional>
#include <vector>

#include "model/result.h"
#include "model/tile_config.h"
#include "tools/cli/invocation.h"
#include "tools/cli/subcommand.h"
#include "tools/lib/run.h"

namespace tilesim::cli {

[[nodiscard]] std::vector<Flag> problem_flags();
[[nodiscard]] std::vector<Flag> tile_flags();

/// True if any flag of tile_flags() was given.
[[nodiscard]] bool has_tile(const Invocation& invocation);

/// The configuration; what is not given has the defaults of model::TileConfig, but `vec` fills 16 bytes, and mma
/// kernels are bf16 with K-steps of 32. Legality is another matter. Errors name flag and value.
[[nodiscard]] Result<model::TileConfig> tile_from(const Invocation& invocation);

struct ProblemChoice {
  model::Problem problem;
  bool assumed = false;  ///< no size was given: 4096 x 4096 x 4096
};
/// The problem; sizes of 1 to 2^31-1, all three or none of them.
[[nodiscard]] Result<ProblemChoice> problem_from(const Invocation& invocation, model::DataType dtype);

/// What is asked about a tile configuration.
struct TileQuestion {
  model::TileConfig config;
  ProblemChoice problem;
  std::optional<double> clock_mhz;
  std::optional<int> carveout_kb;
};
/// tile_flags(), problem_flags(), --clock and --carveout together.
[[nodiscard]] Result<TileQuestion> tile_question_from(const Invocation& invocation);

/// The question as run_tile() and prepare_tile() take it; --compile included.
[[nodiscard]] app::RunRequest run_request_of(const TileQuestion& question, const Invocation& invocation);

}  // namespace tilesim::cli
