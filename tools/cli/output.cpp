#include "tools/cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/cli/numbers.h"

namespace tilesim::cli {

namespace {

/// Writes everything; 0 or the errno of the failure.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return errno;
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Result<Output> Output::open(const std::string& flag, const std::string& path) {
  if (path == "-") {
    return standard();
  }
  struct stat status {};
  const bool existed = ::stat(path.c_str(), &status) == 0;
  const int descriptor = path.empty() ? -1 : ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0) {
    const std::string reason = path.empty() ? "no file name" : std::strerror(errno);
    return fail(ErrorKind::kUsage, fmt::format("{} {} cannot be written: {}", flag, in_quotes(path), reason),
                "give a file in a directory that exists and that you may write to, or '-' for stdout");
  }
  ::close(descriptor);
  if (!existed) {
    ::unlink(path.c_str());  // it comes back with its content; a failed run leaves nothing behind
  }
  return Output(path);
}

Result<void> Output::write(std::string_view text) const {
  const int descriptor =
      is_standard() ? STDOUT_FILENO : ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int error = descriptor < 0 ? errno : write_all(descriptor, text);
  if (!is_standard() && descriptor >= 0 && ::close(descriptor) != 0 && error == 0) {
    error = errno;
  }
  if (error != 0 && error != EPIPE) {
    return fail(
        ErrorKind::kFailed,
        fmt::format("{} cannot be written: {}", is_standard() ? "stdout" : in_quotes(path_), std::strerror(error)),
        "check the space on the device and the permissions");
  }
  return {};
}

}  // namespace tilesim::cli
