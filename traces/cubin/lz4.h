// LZ4 blocks: what fatbinary compresses device code with (--compress-all, --compress-mode=speed).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tilesim::traces {

/// The `size` bytes that a block holds, by the public description of the block format: sequences of a token, literals,
/// and a match in what is there already. Nullopt if the block is broken or holds more or fewer bytes.
[[nodiscard]] std::optional<std::vector<std::byte>> decompress_lz4(std::span<const std::byte> block, std::size_t size);

}  // namespace tilesim::traces
