// The flags that several subcommands share: the GPU, its overrides, the clock, output and colour.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/gpu_spec.h"
#include "model/result.h"
#include "tools/cli/colour.h"
#include "tools/cli/invocation.h"
#include "tools/cli/output.h"
#include "tools/cli/subcommand.h"

namespace tilesim::cli {

/// --gpu, --clock, --set.
[[nodiscard]] std::vector<Flag> gpu_flags();
/// --json, --color.
[[nodiscard]] std::vector<Flag> output_flags();

/// True for `--gpu help`: the command prints gpu_list() and ends.
[[nodiscard]] bool asks_for_gpus(const Invocation& invocation);
[[nodiscard]] Result<ExitCode> print_gpus(const Invocation& invocation);

/// A spec by name or file; an unknown name gets the nearest one and the list.
[[nodiscard]] Result<model::GpuSpec> gpu_named(const std::string& name);

/// --gpu (default h200) with every --set applied, in order.
[[nodiscard]] Result<model::GpuSpec> gpu_from(const Invocation& invocation);

/// --clock in MHz.
[[nodiscard]] Result<std::optional<double>> clock_from(const Invocation& invocation);

/// Where results go: --json checked for writing, and the palette of stdout.
struct Outputs {
  std::optional<Output> json;
  Palette palette;
  /// With JSON on stdout the text report stays away.
  [[nodiscard]] bool wants_text() const { return !json || !json->is_standard(); }
};
[[nodiscard]] Result<Outputs> outputs_from(const Invocation& invocation);

/// A further file that a flag names, opened before anything is done.
[[nodiscard]] Result<std::optional<Output>> output_for(const Invocation& invocation, const std::string& flag);

/// Errors (kUsage): more than one of them is stdout.
[[nodiscard]] Result<void> check_standard(std::initializer_list<const std::optional<Output>*> outputs);

/// What every subcommand that answers for a GPU starts with.
struct Setting {
  Outputs outputs;
  model::GpuSpec gpu;
};
/// Prints the list for `--gpu help`; else checks the outputs, reads the GPU and lets `answer` go on.
[[nodiscard]] Result<ExitCode> with_setting(const Invocation& invocation,
                                            const std::function<Result<ExitCode>(const Setting&)>& answer);

/// Text and JSON to where they go. Errors: a file or stdout that cannot be written.
[[nodiscard]] Result<ExitCode> deliver(const Outputs& outputs, const std::string& text, const std::string& json);

}  // namespace tilesim::cli
