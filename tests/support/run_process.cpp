#include "tests/support/run_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tilesim::test {

namespace {

/// In the child: standard streams to files, environment, program.
[[noreturn]] void become(const std::vector<char*>& argv, const std::string& out, const std::string& err,
                         const std::vector<std::pair<std::string, std::string>>& environment, unsigned limit_seconds) {
  const int null = ::open("/dev/null", O_RDONLY);
  const int to_out = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int to_err = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(null, STDIN_FILENO);
  ::dup2(to_out, STDOUT_FILENO);
  ::dup2(to_err, STDERR_FILENO);
  for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR"}) {
    ::unsetenv(name);
  }
  for (const auto& [name, value] : environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  ::alarm(limit_seconds);
  ::execv(argv.front(), argv.data());
  ::_exit(127);
}

}  // namespace

ProcessResult run_process(const std::string& program, const std::vector<std::string>& arguments,
                          const std::vector<std::pair<std::string, std::string>>& environment, unsigned limit_seconds) {
  const ScratchFolder scratch;
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  const std::string out = scratch.file("out");
  const std::string err = scratch.file("err");
  const pid_t child = ::fork();
  if (child == 0) {
    become(argv, out, err, environment, limit_seconds);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) {
    throw std::runtime_error("cannot run " + program);
  }
  ProcessResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  result.out = read_file(out);
  result.err = read_file(err);
  return result;
}

ScratchFolder::ScratchFolder() {
  path_ = (std::filesystem::temp_directory_path() / "tilesim-test-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::runtime_error("cannot make a folder like " + path_);
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchFolder::write(const std::string& name, const std::string& content) const {
  std::ofstream(file(name), std::ios::binary) << content;
  return file(name);
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace tilesim::test
