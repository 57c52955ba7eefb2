#include "tools/tilesim/gpu_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "tools/cli/numbers.h"
#include "tools/cli/parser.h"
#include "tools/reports/gpus_text.h"

namespace tilesim::cli {

namespace {

constexpr double kLowestClock = 1.0;
constexpr double kHighestClock = 10000.0;

Result<ColourMode> colour_mode(const Invocation& invocation) {
  const std::string mode = invocation.text("color").value_or("auto");
  if (mode == "always") {
    return ColourMode::kAlways;
  }
  if (mode == "never") {
    return ColourMode::kNever;
  }
  if (mode == "auto") {
    return ColourMode::kAuto;
  }
  return fail(ErrorKind::kUsage, fmt::format("--color {} is unknown", in_quotes(mode)), "use auto, always or never");
}

}  // namespace

std::vector<Flag> gpu_flags() {
  const std::string group = "GPU";
  return {{"gpu", "NAME|FILE", "shipped spec or spec file; 'help' lists them (default h200)", group, {}, false},
          {"clock", "MHZ", "SM clock (default: the spec's for the pipe that the kernel uses)", group, {}, false},
          {"set", "gpu.KEY=VALUE", "override one number of the spec; may be repeated", group, {}, true}};
}

std::vector<Flag> output_flags() {
  const std::string group = "Output";
  return {{"json", "FILE", "write the result as JSON; '-' is stdout, instead of the text", group, {}, false},
          {"color", "WHEN", "auto, always or never", group, {}, false}};
}

bool asks_for_gpus(const Invocation& invocation) { return invocation.text("gpu") == "help"; }

Result<ExitCode> print_gpus(const Invocation& invocation) {
  const auto outputs = outputs_from(invocation);
  if (!outputs) {
    return tl::unexpected<Error>(outputs.error());
  }
  if (const auto written = Output::standard().write(reports::gpu_list(outputs->palette)); !written) {
    return tl::unexpected<Error>(written.error());
  }
  return ExitCode::kFine;
}

Result<model::GpuSpec> gpu_named(const std::string& name) {
  const std::vector<std::string> shipped = model::shipped_gpu_specs();
  const bool known = std::find(shipped.begin(), shipped.end(), name) != shipped.end();
  std::error_code ignored;
  if (!known && !std::filesystem::exists(name, ignored)) {
    return fail(
        ErrorKind::kUsage,
        fmt::format("GPU {} is neither a shipped spec nor a file{}", in_quotes(name), did_you_mean(name, shipped)),
        fmt::format("use {} or the path of a spec file; 'tilesim gpus' lists them", fmt::join(shipped, ", ")));
  }
  return model::find_gpu_spec(name);
}

Result<model::GpuSpec> gpu_from(const Invocation& invocation) {
  auto spec = gpu_named(invocation.text("gpu").value_or("h200"));
  if (!spec) {
    return spec;
  }
  for (const std::string& setting : invocation.all("set")) {
    const std::size_t equals = setting.find('=');
    if (!setting.starts_with("gpu.") || equals == std::string::npos) {
      return fail(ErrorKind::kUsage, fmt::format("--set {} is not of the form gpu.KEY=VALUE", in_quotes(setting)),
                  "for example --set gpu.device.sm_count=132; 'tilesim gpus show h200' lists the keys");
    }
    const std::string key = setting.substr(4, equals - 4);
    if (const auto done = model::override_gpu_spec(*spec, key, setting.substr(equals + 1)); !done) {
      Error error = done.error();
      error.message = fmt::format("--set {}: {}", in_quotes(setting), error.message);
      return tl::unexpected<Error>(std::move(error));
    }
  }
  return spec;
}

Result<std::optional<double>> clock_from(const Invocation& invocation) {
  return invocation.real("clock", kLowestClock, kHighestClock);
}

Result<Outputs> outputs_from(const Invocation& invocation) {
  const auto mode = colour_mode(invocation);
  if (!mode) {
    return tl::unexpected<Error>(mode.error());
  }
  Outputs outputs;
  outputs.palette = Palette(use_colour(*mode, colour_environment(STDOUT_FILENO)));
  if (const auto path = invocation.text("json")) {
    auto output = Output::open("--json", *path);
    if (!output) {
      return tl::unexpected<Error>(output.error());
    }
    outputs.json = std::move(*output);
  }
  return outputs;
}

Result<std::optional<Output>> output_for(const Invocation& invocation, const std::string& flag) {
  const auto path = invocation.text(flag);
  if (!path) {
    return std::nullopt;
  }
  auto output = Output::open("--" + flag, *path);
  if (!output) {
    return tl::unexpected<Error>(output.error());
  }
  return std::move(*output);
}

Result<void> check_standard(std::initializer_list<const std::optional<Output>*> outputs) {
  const auto standard = [](const std::optional<Output>* output) { return *output && (*output)->is_standard(); };
  if (std::count_if(outputs.begin(), outputs.end(), standard) > 1) {
    return fail(ErrorKind::kUsage, "two outputs cannot both go to stdout", "give one of them a file name");
  }
  return {};
}

Result<ExitCode> deliver(const Outputs& outputs, const std::string& text, const std::string& json) {
  if (outputs.json) {
    if (const auto written = outputs.json->write(json); !written) {
      return tl::unexpected<Error>(written.error());
    }
  }
  if (outputs.wants_text()) {
    if (const auto written = Output::standard().write(text); !written) {
      return tl::unexpected<Error>(written.error());
    }
  }
  return ExitCode::kFine;
}

Result<ExitCode> with_setting(const Invocation& invocation,
                              const std::function<Result<ExitCode>(const Setting&)>& answer) {
  if (asks_for_gpus(invocation)) {
    return print_gpus(invocation);
  }
  auto outputs = outputs_from(invocation);
  if (!outputs) {
    return tl::unexpected<Error>(outputs.error());
  }
  auto gpu = gpu_from(invocation);
  if (!gpu) {
    return tl::unexpected<Error>(gpu.error());
  }
  return answer(Setting{std::move(*outputs), std::move(*gpu)});
}

}  // namespace tilesim::cli
