// libFuzzer entry: GPU specs. Nothing may crash, hang or report an error without a message.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/gpu_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto spec = tilesim::model::parse_gpu_spec({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!spec && spec.error().message.empty()) {
    std::abort();
  }
  return 0;
}
