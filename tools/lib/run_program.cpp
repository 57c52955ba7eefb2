#include "tools/lib/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tools/lib/interrupt.h"

extern char** environ;

namespace tilesim::app {

Result<ProgramResult> run_program(const std::string& program, const std::vector<std::string>& arguments,
                                  const std::function<void(std::string_view)>& on_line) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorKind::kFailed, fmt::format("cannot start {}: {}", program, std::strerror(errno)),
                "close other programs and try again");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  const bool held = interrupts_held();
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (held) {
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  }
  pid_t child = 0;
  const int error = ::posix_spawn(&child, program.c_str(), &actions, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return fail(ErrorKind::kFailed, fmt::format("cannot start {}: {}", program, std::strerror(error)),
                "check that the file is there and executable");
  }
  end_on_interrupt(held ? child : 0);
  ProgramResult result;
  std::array<char, 4096> buffer{};
  std::size_t told = 0;
  for (ssize_t n = 0; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    result.output.append(buffer.data(), static_cast<std::size_t>(n));
    for (std::size_t end = 0; on_line && (end = result.output.find('\n', told)) != std::string::npos; told = end + 1) {
      on_line(std::string_view(result.output).substr(told, end - told));
    }
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  end_on_interrupt(0);
  if (const int number = interrupted_by(); held && number != 0) {
    return fail(ErrorKind::kFailed, fmt::format("{} was interrupted ({})", program, ::strsignal(number)),
                "start it again");
  }
  constexpr int kSignalled = 128;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  return result;
}

bool is_program(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return is_program(name) ? std::optional(name) : std::nullopt;
  }
  const char* search = std::getenv("PATH");
  for (std::string_view rest = search != nullptr ? search : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (const auto path = std::filesystem::path(rest.substr(0, end)) / name; end > 0 && is_program(path)) {
      return path.string();
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

std::optional<std::string> find_cuda_program(const std::string& name) {
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0') {
    if (const auto path = std::filesystem::path(home) / "bin" / name; is_program(path)) {
      return path.string();
    }
  }
  return find_program(name);
}

}  // namespace tilesim::app
