// SHA-256 of FIPS 180-4: the order that the recorded set is split by, and the proof that a code file is the one
// measured.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tilesim::traces {

/// The digest in lower-case hexadecimal digits.
[[nodiscard]] std::string sha256(std::span<const std::byte> bytes);

}  // namespace tilesim::traces
