// Kernel arguments against the parameters that a C++ signature names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace tilesim::traces {

/// Parameter types of a demangled function, in order; not known if the name has no parameter list, as that of an
/// extern "C" kernel.
struct Signature {
  bool known = false;
  std::vector<std::string> parameters;
};
[[nodiscard]] Signature signature_of(std::string_view demangled);

/// Compares the arguments (as parse_arguments() takes them) with the signature: their number, and for int, long, float,
/// double and pointers also their kind; `raw:` fits everything. Errors (kUsage) name the argument and the parameter.
[[nodiscard]] Result<void> check_signature(std::string_view demangled, std::string_view arguments);

}  // namespace tilesim::traces
