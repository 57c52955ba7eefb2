// tilesim gpus: list, show and check GPU specs.
#include <fmt/format.h>

#include "tools/cli/numbers.h"
#include "tools/cli/output.h"
#include "tools/cli/parser.h"
#include "tools/reports/gpus_text.h"
#include "tools/reports/json_document.h"
#include "tools/tilesim/application.h"
#include "tools/tilesim/gpu_flags.h"

namespace tilesim::cli {

namespace {

Result<std::string> show(const std::string& name, const Outputs& outputs) {
  const auto spec = gpu_named(name);
  if (!spec) {
    return tl::unexpected<Error>(spec.error());
  }
  if (outputs.json) {
    const auto document = reports::json_text(reports::json_document("gpus show", *spec));
    if (const auto written = outputs.json->write(document); !written) {
      return tl::unexpected<Error>(written.error());
    }
  }
  return outputs.wants_text() ? reports::gpu_table(*spec, outputs.palette) : std::string();
}

Result<std::string> check(const std::string& file) {
  const auto spec = model::load_gpu_spec(file);
  if (!spec) {
    return tl::unexpected<Error>(spec.error());
  }
  return fmt::format("{}: a valid spec of '{}' ({} numbers: {})\n", file, spec->id, spec->provenance.size(),
                     reports::confidence_counts(*spec));
}

Result<std::string> answer(const Invocation& invocation, const Outputs& outputs) {
  const auto& words = invocation.positionals();
  const std::string verb = words.empty() ? "list" : words[0];
  if (verb != "list" && verb != "show" && verb != "check") {
    return fail(ErrorKind::kUsage,
                fmt::format("unknown action {}{}", in_quotes(verb), did_you_mean(verb, {"list", "show", "check"})),
                "use list, show NAME or check FILE");
  }
  if (outputs.json && verb != "show") {
    return fail(ErrorKind::kUsage, fmt::format("'gpus {}' writes no JSON", verb), "use --json with 'gpus show NAME'");
  }
  if (verb == "list") {
    if (words.size() > 1) {
      return fail(ErrorKind::kUsage, fmt::format("unexpected argument {}", in_quotes(words[1])),
                  "usage: tilesim gpus list; 'gpus show NAME' prints one spec");
    }
    return reports::gpu_list(outputs.palette);
  }
  if (words.size() < 2) {
    return fail(ErrorKind::kUsage, fmt::format("'gpus {}' needs a {}", verb, verb == "show" ? "name" : "file"),
                fmt::format("for example: tilesim gpus {}", verb == "show" ? "show h200" : "check my-gpu.toml"));
  }
  return verb == "show" ? show(words[1], outputs) : check(words[1]);
}

Result<ExitCode> run(const Invocation& invocation) {
  const auto outputs = outputs_from(invocation);
  if (!outputs) {
    return tl::unexpected<Error>(outputs.error());
  }
  const auto text = answer(invocation, *outputs);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  if (const auto written = Output::standard().write(*text); !written) {
    return tl::unexpected<Error>(written.error());
  }
  return ExitCode::kFine;
}

}  // namespace

Subcommand gpus_subcommand() {
  Subcommand s;
  s.name = "gpus";
  s.summary = "list GPU specs, show their numbers with sources, check a spec file";
  s.usage = "[list | show NAME|FILE | check FILE]";
  s.description =
      "A spec is a TOML file with every number that the simulator uses, each with unit, source and confidence.\n"
      "Copy a shipped one (model/specs/), edit it, check it, and pass it to --gpu.";
  s.examples = {"tilesim gpus show h200", "tilesim gpus check my-gpu.toml"};
  s.flags = output_flags();
  s.maximum_positionals = 2;
  s.run = run;
  return s;
}

}  // namespace tilesim::cli
