// Device code inside other files: fat binaries (nvcc -fatbin), objects, libraries and programs that hold some.
//
// A fat binary is a header of 16 bytes (magic number, version, size of the header, size of what follows) and entries,
// each with a header of its own (kind, sizes, architecture, flags) and contents. Objects and programs have fat binaries
// in section .nv_fatbin; they are found by the magic number wherever they stand, so that the file around them may be of
// any kind. Layout read off what fatbinary 11.8, 12.4 and 13.0 write.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "model/result.h"

namespace tilesim::traces {

/// True if fat binaries may be inside: the magic number occurs.
[[nodiscard]] bool holds_fat_binary(std::span<const std::byte> bytes);

/// The cubins of all fat binaries in `bytes`, in their order, decompressed. Errors (kUsage) name `file` and a remedy: a
/// fat binary that is cut or broken, nothing but PTX, contents compressed in a way that is not understood (zstd).
[[nodiscard]] Result<std::vector<std::vector<std::byte>>> extract_cubins(std::span<const std::byte> bytes,
                                                                         const std::string& file);

}  // namespace tilesim::traces
