// libFuzzer entry: a listing's whole way from text to a running stream. Nothing may crash, hang or report an error
// without a message.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "traces/emulator/main_loop.h"
#include "traces/emulator/sass_kernel.h"
#include "traces/sass/decoder.h"
#include "traces/sass/disassembler.h"

namespace {

using namespace tilesim;
using namespace tilesim::traces;

constexpr std::uint64_t kSteps = 20000;

void expect_message(const Error& error) {
  if (error.message.empty()) {
    std::abort();
  }
}

void run(DecodedKernel decoded) {
  LaunchParameters launch;
  launch.block = {64, 1, 1};
  launch.shared_bytes = 4096;
  launch.arguments = parse_arguments("i32:64,i32:64,i32:64,ptr:16KiB,ptr:16KiB,ptr:16KiB").value();
  const auto kernel = SassKernel::create(std::move(decoded), std::move(launch));
  if (!kernel) {
    expect_message(kernel.error());
    return;
  }
  static_cast<void>(find_main_loop(**kernel, kSteps));
  const auto cta = (*kernel)->open(0, nullptr);
  isa::DynamicInstruction instruction;
  for (std::uint64_t i = 0; i < kSteps && !cta->warp(1).exited(); ++i) {
    if (!cta->warp(1).step(instruction)) {
      expect_message(cta->warp(1).error());
      return;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto listing = parse_listing({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!listing) {
    expect_message(listing.error());
    return 0;
  }
  for (const ListedKernel& kernel : listing->kernels) {
    auto decoded = decode_kernel(kernel);
    if (!decoded) {
      expect_message(decoded.error());
      continue;
    }
    for (const SassInstruction& instruction : decoded->instructions) {
      static_cast<void>(disassemble(instruction));
    }
    run(std::move(*decoded));
  }
  return 0;
}
