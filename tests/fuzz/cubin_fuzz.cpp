// libFuzzer entry: a cubin's whole way from bytes to a running stream. Nothing may crash, hang or report an error
// without a message.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "traces/cubin/cubin_reader.h"
#include "traces/emulator/sass_kernel.h"

namespace {

using namespace tilesim;
using namespace tilesim::traces;

constexpr std::uint64_t kSteps = 20000;

void expect_message(const Error& error) {
  if (error.message.empty()) {
    std::abort();
  }
}

void run(DecodedKernel decoded, std::uint64_t shared_bytes) {
  LaunchParameters launch;
  launch.block = {64, 1, 1};
  launch.shared_bytes = shared_bytes;
  launch.arguments = parse_arguments("i32:64,i32:64,i32:64,ptr:16KiB,ptr:16KiB,ptr:16KiB").value();
  const auto kernel = SassKernel::create(std::move(decoded), std::move(launch));
  if (!kernel) {
    expect_message(kernel.error());
    return;
  }
  const auto cta = (*kernel)->open(0, nullptr);
  isa::DynamicInstruction instruction;
  for (std::uint64_t i = 0; i < kSteps && !cta->warp(0).exited(); ++i) {
    if (!cta->warp(0).step(instruction)) {
      expect_message(cta->warp(0).error());
      return;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto cubin = parse_cubin(std::as_bytes(std::span(data, size)), "fuzz");
  if (!cubin) {
    expect_message(cubin.error());
    return 0;
  }
  for (const CubinKernel& kernel : cubin->kernels) {
    auto decoded = decode_kernel(kernel);
    if (!decoded) {
      expect_message(decoded.error());
      continue;
    }
    run(std::move(*decoded), kernel.static_shared_bytes);
  }
  return 0;
}
