// libFuzzer entry: a cubin's whole way from bytes to a running stream. Nothing may crash, hang or report an error
// without a message.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/fuzz/run_kernel.h"
#include "traces/cubin/cubin_reader.h"

using namespace tilesim::traces;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto cubin = parse_cubin(std::as_bytes(std::span(data, size)), "fuzz");
  if (!cubin) {
    fuzz::expect_message(cubin.error());
    return 0;
  }
  for (const CubinKernel& kernel : cubin->kernels) {
    auto decoded = decode_kernel(kernel);
    if (!decoded) {
      fuzz::expect_message(decoded.error());
      continue;
    }
    fuzz::run(std::move(*decoded), kernel.static_shared_bytes);
  }
  return 0;
}
