// Reads machine code listings: `cuobjdump -sass`, and `nvdisasm -hex` of a cubin or of a raw .text section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "traces/sass/encoding.h"

namespace tilesim::traces {

struct ListedInstruction {
  std::uint64_t address = 0;  ///< byte offset in the function
  std::string text;           ///< as printed, without the semicolon, spaces trimmed
  Encoding encoding;
  std::uint32_t line = 0;  ///< 1-based line of the file; 0 for code from a cubin
};

struct ListedKernel {
  std::string file;
  std::string name;  ///< mangled; the file's stem for a raw listing, which names no function
  int architecture = 90;
  std::vector<ListedInstruction> instructions;
};

struct Listing {
  std::string file;
  std::vector<ListedKernel> kernels;  ///< at least one, each with at least one instruction
};

/// Largest listing accepted, in bytes.
inline constexpr std::uintmax_t kMaximumListingBytes = std::uintmax_t{512} << 20;

/// Reads `path`. Errors (kUsage) name the file, the line where there is one, and a remedy: missing, not a regular file,
/// empty, too large, binary, cut in the middle of an instruction, addresses that do not follow each other, no
/// encodings, no function.
[[nodiscard]] Result<Listing> read_listing(const std::filesystem::path& path);

/// As read_listing() on text in memory; `file` is used in messages only.
[[nodiscard]] Result<Listing> parse_listing(std::string_view text, const std::string& file);

/// C++ name of a mangled symbol, or the name itself.
[[nodiscard]] std::string demangle(const std::string& name);

/// Position of the kernel that `choice` names among the mangled `names` of `file`, by the rules of choose_kernel().
[[nodiscard]] Result<std::size_t> choose_name(std::span<const std::string> names, const std::string& file,
                                              std::string_view choice);

/// The kernel that `choice` names: mangled name, demangled name, or a substring of either that fits one kernel. An
/// empty choice fits a listing with one kernel. Errors (kUsage) list the kernels that there are, or the ones that fit.
[[nodiscard]] Result<const ListedKernel*> choose_kernel(const Listing& listing, std::string_view choice);

}  // namespace tilesim::traces
