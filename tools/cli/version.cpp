#include "tools/cli/version.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tilesim_version.h"

namespace tilesim::cli {

Version version() { return {TILESIM_VERSION, TILESIM_GIT, TILESIM_GIT_DIRTY, TILESIM_BUILD_TYPE, TILESIM_COMPILER}; }

std::string version_text() {
  const Version v = version();
  return fmt::format("tilesim {}\ncommit: {}{}\nbuild type: {}\ncompiler: {}\n", v.version, v.git,
                     v.dirty ? " (modified)" : "", v.build_type, v.compiler);
}

std::string version_json() {
  const Version v = version();
  nlohmann::ordered_json json;
  json["version"] = v.version;
  json["git"] = v.git;
  json["dirty"] = v.dirty;
  json["build_type"] = v.build_type;
  json["compiler"] = v.compiler;
  return json.dump(2) + "\n";
}

}  // namespace tilesim::cli
