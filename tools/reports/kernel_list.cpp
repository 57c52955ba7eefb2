#include "tools/reports/kernel_list.h"

#include <fmt/format.h>

#include "tools/reports/json_document.h"
#include "tools/reports/text.h"

namespace tilesim::reports {

namespace {

constexpr std::size_t kNameWidth = 60;

std::string parameters_text(const app::CubinFacts& facts) {
  std::string text;
  for (const traces::CubinParameter& parameter : facts.parameters) {
    text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", parameter.bytes, parameter.offset);
  }
  return text.empty() ? "none" : text;
}

std::vector<std::string> row_of(const app::ListedKernel& kernel) {
  const auto fact = [&kernel](auto app::CubinFacts::*member) {
    return kernel.facts ? fmt::format("{}", (*kernel.facts).*member) : std::string("-");
  };
  const bool bounded = kernel.facts && kernel.facts->maximum_threads != 0;
  return {shorten(kernel.demangled, kNameWidth), fmt::format("sm_{}", kernel.architecture),
          fact(&app::CubinFacts::registers),     fact(&app::CubinFacts::static_shared),
          fact(&app::CubinFacts::local_bytes),   bounded ? fact(&app::CubinFacts::maximum_threads) : std::string("-"),
          fmt::format("{}", kernel.instructions)};
}

Json json_of(const app::ListedKernel& kernel) {
  Json json{{"name", kernel.name},
            {"demangled", kernel.demangled},
            {"architecture", kernel.architecture},
            {"instructions", kernel.instructions},
            {"registers_per_thread", nullptr},
            {"static_shared_bytes", nullptr},
            {"local_bytes", nullptr},
            {"barriers", nullptr},
            {"maximum_threads", nullptr},
            {"parameters", nullptr}};
  if (kernel.facts) {
    const app::CubinFacts& facts = *kernel.facts;
    json["registers_per_thread"] = facts.registers;
    json["static_shared_bytes"] = facts.static_shared;
    json["local_bytes"] = facts.local_bytes;
    json["barriers"] = facts.barriers;
    json["maximum_threads"] = facts.maximum_threads != 0 ? Json(facts.maximum_threads) : Json(nullptr);
    json["parameters"] = Json::array();
    for (const traces::CubinParameter& parameter : facts.parameters) {
      json["parameters"].push_back(Json{{"offset", parameter.offset}, {"bytes", parameter.bytes}});
    }
  }
  return json;
}

}  // namespace

std::string kernel_list_text(const app::KernelList& list, const cli::Palette& palette) {
  std::string text = palette.bold(fmt::format("{} ({}) holds {} kernel{}.", list.file, list.format, list.kernels.size(),
                                              list.kernels.size() == 1 ? "" : "s")) +
                     "\n\n";
  Table table({false, false, true, true, true, true, true});
  table.add({"kernel", "code", "registers", "shared B", "local B", "max threads", "instructions"});
  for (const app::ListedKernel& kernel : list.kernels) {
    table.add(row_of(kernel));
  }
  text += table.text(palette);
  if (list.format != "cubin") {
    return text + "\nA listing does not tell registers, memory and parameters.\n";
  }
  text += "\n" + palette.bold("Parameters") + " (bytes at offset)\n";
  for (const app::ListedKernel& kernel : list.kernels) {
    text +=
        paragraph("  ", fmt::format("{}: {}", shorten(kernel.demangled, kNameWidth), parameters_text(*kernel.facts)));
  }
  return text;
}

std::string kernel_list_json(const app::KernelList& list) {
  Json json = json_envelope("trace kernels");
  json["file"] = list.file;
  json["format"] = list.format;
  json["kernels"] = Json::array();
  for (const app::ListedKernel& kernel : list.kernels) {
    json["kernels"].push_back(json_of(kernel));
  }
  return json_text(json);
}

}  // namespace tilesim::reports
