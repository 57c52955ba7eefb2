// Errors as values. Every library function that can fail on user input returns Result<T>; only tools/ turns an Error
// into text and an exit code (exit 2 for kUsage, 1 for kFailed, 4 for kAbsent).
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace tilesim {

enum class ErrorKind {
  kUsage,   ///< the user's input is wrong: bad flag, illegal tile, malformed file
  kFailed,  ///< the run failed: I/O, internal limit
  kAbsent,  ///< something needed is not there: no GPU, no tool
};

/// A failure with context. `message` names the offending value, `remedy` says what to do; both are full sentences
/// without a trailing newline. `where` is empty or "FILE:LINE[:COLUMN]".
struct Error {
  ErrorKind kind = ErrorKind::kUsage;
  std::string message;
  std::string remedy;
  std::string where;
};

template <class T>
using Result = tl::expected<T, Error>;

/// Shorthand for returning a failure: `return fail(ErrorKind::kUsage, "K = 0 ...", "pass --k of at least 1");`
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string remedy = {},
                                                std::string where = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(message), std::move(remedy), std::move(where)});
}

}  // namespace tilesim
