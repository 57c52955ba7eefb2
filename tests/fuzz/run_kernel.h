// What fuzzers do with a kernel that decodes: run it for a while. Nothing may crash, hang or report an error without a
// message.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "traces/emulator/main_loop.h"
#include "traces/emulator/sass_kernel.h"

namespace tilesim::traces::fuzz {

/// Ends the fuzzer, which keeps the input: something was refused that must not be.
[[noreturn]] inline void refused(const char* what, const Error& error) {
  std::fprintf(stderr, "%s: %s %s\n", what, error.message.c_str(), error.where.c_str());
  std::abort();
}

inline void expect_message(const Error& error) {
  if (error.message.empty()) {
    std::abort();
  }
}

/// The first steps of both warps of a CTA of 64 threads, and the search for the main loop.
inline void run(DecodedKernel decoded, std::uint64_t shared_bytes) {
  constexpr std::uint64_t kSteps = 20000;
  LaunchParameters launch;
  launch.block = {64, 1, 1};
  launch.shared_bytes = shared_bytes;
  launch.arguments = parse_arguments("i32:64,i32:64,i32:64,ptr:16KiB,ptr:16KiB,ptr:16KiB").value();
  const auto kernel = SassKernel::create(std::move(decoded), std::move(launch));
  if (!kernel) {
    expect_message(kernel.error());
    return;
  }
  static_cast<void>(find_main_loop(**kernel, kSteps));
  const auto cta = (*kernel)->open(0, nullptr);
  isa::DynamicInstruction instruction;
  for (const int warp : {0, 1}) {
    for (std::uint64_t i = 0; i < kSteps && !cta->warp(warp).exited(); ++i) {
      if (!cta->warp(warp).step(instruction)) {
        expect_message(cta->warp(warp).error());
        break;
      }
    }
  }
}

}  // namespace tilesim::traces::fuzz
