// Runs a program and keeps what it said.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tilesim::test {

struct ProcessResult {
  int exit_code = -1;  ///< minus the signal's number if one ended the program (SIGALRM: it hung)
  std::string out;
  std::string err;
};

/// Runs `program` with `arguments`, stdin empty, stdout and stderr into files (so they are no terminals), with
/// `environment` added to this process's. NO_COLOR and the like are unset first. A program that takes longer than
/// `limit_seconds` is ended.
[[nodiscard]] ProcessResult run_process(const std::string& program, const std::vector<std::string>& arguments,
                                        const std::vector<std::pair<std::string, std::string>>& environment = {},
                                        unsigned limit_seconds = 300);

/// A fresh folder that goes away with this object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

/// The content of a file; empty if it is not there.
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace tilesim::test
