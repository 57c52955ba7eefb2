// What this build is.
#pragma once

#include <string>

namespace tilesim::cli {

struct Version {
  std::string version;
  std::string git;
  bool dirty = false;
  std::string build_type;
  std::string compiler;
};

[[nodiscard]] Version version();
[[nodiscard]] std::string version_text();
[[nodiscard]] std::string version_json();

}  // namespace tilesim::cli
