// The shipped spec files as text, compiled in. Generated from model/specs/*.toml by the build.
#pragma once

#include <span>
#include <string_view>

namespace tilesim::model {

struct EmbeddedSpec {
  std::string_view id;
  std::string_view text;
};

[[nodiscard]] std::span<const EmbeddedSpec> embedded_specs();

}  // namespace tilesim::model
