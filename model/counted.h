// Numbers of things in sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilesim {

/// "1 CTA", "5 CTAs".
[[nodiscard]] inline std::string counted(std::int64_t number, std::string_view thing) {
  return std::to_string(number).append(" ").append(thing).append(number == 1 ? "" : "s");
}

}  // namespace tilesim
