// What a file with machine code holds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/result.h"
#include "tools/lib/code_file.h"

namespace tilesim::app {

struct ListedKernel {
  std::string name;       ///< mangled
  std::string demangled;  ///< the C++ name
  int architecture = 0;   ///< 90 for sm_90
  std::size_t instructions = 0;
  std::optional<CubinFacts> facts;  ///< a listing has none
};

struct KernelList {
  std::string file;
  std::string format;  ///< "cubin" (also files that hold some) or "listing"
  std::vector<ListedKernel> kernels;
};

/// The kernels of a cubin, a fat binary, object or program, or of a listing, told apart by the file's first bytes.
/// Nothing is decoded. Errors: the readers'.
[[nodiscard]] Result<KernelList> list_kernels(const std::string& path);

}  // namespace tilesim::app
