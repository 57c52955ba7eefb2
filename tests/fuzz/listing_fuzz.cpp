// libFuzzer entry: a listing's whole way from text to a running stream. Nothing may crash, hang or report an error
// without a message.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/run_kernel.h"
#include "traces/sass/decoder.h"
#include "traces/sass/disassembler.h"

using namespace tilesim::traces;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto listing = parse_listing({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!listing) {
    fuzz::expect_message(listing.error());
    return 0;
  }
  for (const ListedKernel& kernel : listing->kernels) {
    auto decoded = decode_kernel(kernel);
    if (!decoded) {
      fuzz::expect_message(decoded.error());
      continue;
    }
    for (const SassInstruction& instruction : decoded->instructions) {
      static_cast<void>(disassemble(instruction));
    }
    fuzz::run(std::move(*decoded), 4096);
  }
  return 0;
}
