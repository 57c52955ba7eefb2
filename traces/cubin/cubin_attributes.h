// The attribute sections of a cubin: .nv.info for all kernels, .nv.info.F for kernel F.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "traces/cubin/elf_file.h"

namespace tilesim::traces {

inline constexpr std::string_view kMakeCubin = "Make it anew: nvcc -arch=sm_90 -cubin -o FILE SOURCE.";

/// EIATTR_..., read off nvcc 13.0 output.
enum class Attribute : std::uint8_t {
  kMaximumThreads = 0x05,
  kParameterBank = 0x0a,
  kRequiredThreads = 0x10,
  kFrameSize = 0x11,
  kParameter = 0x17,
  kExits = 0x1c,          ///< offsets of EXIT instructions, 4 bytes each
  kRegisterCount = 0x2f,  ///< number of the kernel's symbol, registers per thread
  kBarrierCount = 0x4c,   ///< in the low byte of the value
};

struct AttributeEntry {
  Attribute id{};
  std::uint16_t value = 0;           ///< of the short forms
  std::span<const std::byte> bytes;  ///< of the long form
  std::uint64_t offset = 0;          ///< of the entry in its section; `value` stands 2 bytes behind
};

/// The entries of a section: format byte, attribute byte, then 2 bytes of value, or of length with the value behind
/// them (format 4). Errors (kUsage, `where` = `file`): an unknown format, an entry that is cut.
[[nodiscard]] Result<std::vector<AttributeEntry>> read_attributes(const ElfSection& section, const std::string& file);

}  // namespace tilesim::traces
