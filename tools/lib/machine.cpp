#include "tools/lib/machine.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "tools/lib/run_program.h"

namespace tilesim::app {

bool has_nvcc() {
  const char* named = std::getenv("NVCC");
  return (named != nullptr && *named != '\0' ? find_program(named) : find_cuda_program("nvcc")).has_value();
}

bool has_gpu() {
  std::error_code ignored;
  return std::filesystem::exists("/dev/nvidiactl", ignored);
}

}  // namespace tilesim::app
