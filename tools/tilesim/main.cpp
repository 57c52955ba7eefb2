// The tilesim command.
#include <csignal>
#include <string>
#include <vector>

#include "tools/tilesim/application.h"

int main(int argc, char** argv) {
  // A reader that goes away shows as EPIPE at the next write, which ends the command quietly.
  std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return static_cast<int>(tilesim::cli::run_application(arguments));
}
